// request_writer.cc: see request_writer.h.
#include "wire/request_writer.h"

#include <chrono>

#include "base/json_writer.h"
#include "base/overloaded.h"
#include "wire/event_fields.h"

namespace eventq::wire {
namespace {

// The members that `Outcome` and `Failure` share.
template <typename Result>
void write_numbers(JsonWriter& json, const Result& result) {
  if (result.status_code) json.key("status_code").integer(*result.status_code);
  if (result.execution_time_ms) json.key("execution_time_ms").integer(*result.execution_time_ms);
}

void write_content(JsonWriter& json, const ReportContent& what) {
  std::visit(Overloaded{
                 [&](const Outcome& outcome) {
                   write_numbers(json, outcome);
                   if (!outcome.errors.empty()) json.key("errors").strings(outcome.errors);
                   if (!outcome.result.empty()) json.key("result").raw(outcome.result);
                 },
                 [&](const Failure& failure) {
                   write_numbers(json, failure);
                   write_set(json, "error_message", failure.message);
                   write_set(json, "error_detail", failure.detail);
                   if (failure.permanent) json.key("permanent").boolean(true);
                 },
                 [&](const Return& how) {
                   if (how.delay.count() != 0) json.key("delay").integer(whole_seconds(how.delay));
                   write_set(json, "reason", how.reason);
                 },
             },
             what);
}

// Without the id, which is in the path of the request.
void write_lease(JsonWriter& json, const Lease& lease) {
  json.key("worker_id").string(lease.worker_id);
  if (lease.attempt) json.key("attempt").integer(*lease.attempt);
}

template <typename Kind>
void write_reports(JsonWriter& json, std::string_view name, const std::vector<eventq::Report>& reports) {
  json.key(name).begin_array();
  for (const eventq::Report& report : reports) {
    if (!std::holds_alternative<Kind>(report.what)) continue;
    json.begin_object().key("id").integer(static_cast<std::int64_t>(report.id));
    json.key("attempt").integer(report.attempt);
    write_content(json, report.what);
    json.end_object();
  }
  json.end_array();
}

void write_alive(JsonWriter& json, const std::vector<Alive>& events) {
  json.key("alive").begin_array();
  for (const Alive& alive : events) {
    json.begin_object().key("id").integer(static_cast<std::int64_t>(alive.id));
    json.key("attempt").integer(alive.attempt).end_object();
  }
  json.end_array();
}

}  // namespace

// The last part of POST /events/{id}/complete, /fail or /release: each kind of report has its own route.
std::string_view path_of(const ReportContent& what) {
  if (std::holds_alternative<Outcome>(what)) return "complete";
  return std::holds_alternative<Failure>(what) ? "fail" : "release";
}

std::string write_report(const Lease& lease, const ReportContent& what) {
  return json_text([&](JsonWriter& json) {
    write_lease(json.begin_object(), lease);
    write_content(json, what);
    json.end_object();
  });
}

std::string write_heartbeat(const Lease& lease) {
  return json_text([&](JsonWriter& json) {
    write_lease(json.begin_object(), lease);
    json.end_object();
  });
}

std::string write_actor(const Actor& actor) {
  return json_text([&](JsonWriter& json) {
    json.begin_object().key("by").string(actor.by).key("reason").string(actor.reason).end_object();
  });
}

std::string write_next(const eventq::NextRequest& request, std::string_view worker_id) {
  std::string body;
  JsonWriter json(body);
  json.begin_object()
      .key("worker_id")
      .string(worker_id)
      .key("limit")
      .integer(static_cast<std::int64_t>(request.limit));
  // These describe the claim, so a request that claims nothing leaves them out.
  if (request.limit > 0) {
    if (!request.tags.empty()) json.key("tags").strings(request.tags);
    json.key("queue").string(request.queue).key("wait").integer(whole_seconds(request.wait));
  }
  if (!request.reports.empty()) {
    write_reports<Outcome>(json, "completed", request.reports);
    write_reports<Failure>(json, "failed", request.reports);
    write_reports<Return>(json, "released", request.reports);
  }
  if (!request.alive.empty()) write_alive(json, request.alive);
  json.end_object();
  return body;
}

std::int64_t whole_seconds(Millis duration) {
  using std::chrono::seconds;
  const seconds rounded =
      duration.count() < 0 ? std::chrono::floor<seconds>(duration) : std::chrono::ceil<seconds>(duration);
  return rounded.count();
}

}  // namespace eventq::wire
