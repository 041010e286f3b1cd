// handlers_work.cc: routes for workers: claim events and report on them.
#include <cstdint>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "wire/answer_json.h"
#include "wire/cloud_events.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

ClaimRequest claim_request(wire::Subscription&& subscription) {
  return {std::move(subscription.selector), std::move(subscription.worker_id), subscription.limit,
          subscription.wait};
}

// The format of claimed events in a response.
enum class ClaimFormat : std::uint8_t { one, many, cloud_event, cloud_events };

ClaimFormat format_of(const ApiCall& call, bool many) {
  if (wants_cloud_events(call)) return ClaimFormat::cloud_events;
  if (wants_cloud_event(call) && !many) return ClaimFormat::cloud_event;
  return many ? ClaimFormat::many : ClaimFormat::one;
}

Response render_claims(Answer& answer, ClaimFormat format) {
  Response response;
  response.headers.emplace_back("Cache-Control", "no-store");
  if (answer.claims.empty()) {
    response.status = 204;
    return response;
  }
  JsonWriter json(response.body);
  switch (format) {
    case ClaimFormat::one: wire::write_claim(json, answer.claims.front()); break;
    case ClaimFormat::many:
      json.begin_object().key("events");
      wire::write_claims(json, answer.claims);
      json.end_object();
      break;
    case ClaimFormat::cloud_event:
      response.content_type = kCloudEvent;
      wire::write_cloud_event(json, answer.claims.front());
      break;
    case ClaimFormat::cloud_events:
      response.content_type = kCloudEvents;
      wire::write_cloud_events(json, answer.claims);
      break;
  }
  return response;
}

HandlerResult subscribe(ApiCall& call, Result<wire::Subscription> subscription) {
  if (!subscription) return refuse(call, subscription.error());
  EngineWork work;
  work.render = [format = format_of(call, subscription->many)](Answer& answer) {
    return render_claims(answer, format);
  };
  work.command.claim = claim_request(std::move(*subscription));
  return work;
}

// The report of a failure without a retry is answered 400, as the first description of the API says, although
// it was recorded.
bool is_last_failure(const LogEntry& entry) { return entry.action == Action::failed && !entry.next_retry_at; }

// Without a request id, so that a repeated report gets the same bytes.
wire::Problem last_failure(const Changed& changed) {
  return wire::max_retries_exceeded(changed.entry.id, changed.entry.retry_count, changed.max_retries);
}

Response render_report(const Result<Changed>& changed, const std::string& request_id) {
  if (!changed) return respond_with(problem_of(changed.error()), request_id);
  if (is_last_failure(changed->entry)) return respond_with(last_failure(*changed), "");
  Response response;
  JsonWriter json(response.body);
  wire::write_entry(json, changed->entry, changed->max_retries, std::nullopt);
  return response;
}

Response render_heartbeat(const Result<Changed>& changed, const Lease& lease, const std::string& request_id) {
  if (!changed) return respond_with(problem_of(changed.error()), request_id);
  Response response;
  JsonWriter json(response.body);
  wire::write_heartbeat(json, lease.id, lease.worker_id, changed->lease_until, std::nullopt);
  return response;
}

HandlerResult report(ApiCall& call, wire::ReportKind kind) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  const auto id = wire::parse_id(call.id);
  if (!id) return refuse(call, id.error());
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto change = wire::parse_report(std::get<JsonValue>(body), *id, kind);
  if (!change) return refuse(call, change.error());

  EngineWork work;
  if (kind == wire::ReportKind::heartbeat) {
    work.render = [lease = change->lease, request_id = call.request_id](Answer& answer) {
      return render_heartbeat(answer.changed.front(), lease, request_id);
    };
  } else {
    work.render = [request_id = call.request_id](Answer& answer) {
      return render_report(answer.changed.front(), request_id);
    };
  }
  work.command.changes.push_back(std::move(*change));
  return work;
}

// The events of a batch of reports, for its response. Heartbeats are last and have no log entry.
struct ReportedEvents {
  std::vector<EventId> ids;
  std::size_t entries = 0;
  std::string worker_id;
};

ReportedEvents reported_of(const std::vector<Change>& changes) {
  ReportedEvents reported;
  reported.ids.reserve(changes.size());
  for (const Change& change : changes) {
    reported.ids.push_back(change.lease.id);
    if (!std::holds_alternative<Heartbeat>(change.what)) ++reported.entries;
  }
  if (!changes.empty()) reported.worker_id = changes.front().lease.worker_id;
  return reported;
}

// "results": for each report the body that it would get alone, with its status as a member.
void write_results(JsonWriter& json, const std::vector<Result<Changed>>& results,
                   const ReportedEvents& reported) {
  json.key("results").begin_array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result<Changed>& result = results[i];
    const EventId id = reported.ids[i];
    if (result && i >= reported.entries) {
      wire::write_heartbeat(json, id, reported.worker_id, result->lease_until, 200);
    } else if (result && !is_last_failure(result->entry)) {
      wire::write_entry(json, result->entry, result->max_retries, 200);
    } else {
      wire::Problem problem = result ? last_failure(*result) : problem_of(result.error());
      problem.id = static_cast<std::int64_t>(id);
      wire::write_problem(json, problem);
    }
  }
  json.end_array();
}

HandlerResult report_many(ApiCall& call, wire::ReportKind kind) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto changes = wire::parse_reports(std::get<JsonValue>(body), kind);
  if (!changes) return refuse(call, changes.error());
  EngineWork work;
  work.render = [reported = reported_of(*changes)](Answer& answer) {
    Response response;
    JsonWriter json(response.body);
    json.begin_object();
    write_results(json, answer.changed, reported);
    json.end_object();
    return response;
  };
  work.command.changes = std::move(*changes);
  return work;
}

}  // namespace

// GET /events/subscribe
HandlerResult subscribe_by_query(ApiCall& call) {
  return subscribe(call, wire::parse_subscription(call.query));
}

// POST /events/subscribe
HandlerResult subscribe_by_body(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  return subscribe(call, wire::parse_subscription(std::get<JsonValue>(body)));
}

// POST /events/next
HandlerResult take_next(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto next = wire::parse_next(std::get<JsonValue>(body));
  if (!next) return refuse(call, next.error());
  EngineWork work;
  work.render = [reported = reported_of(next->changes)](Answer& answer) {
    Response response;
    JsonWriter json(response.body);
    json.begin_object();
    write_results(json, answer.changed, reported);
    json.key("events");
    wire::write_claims(json, answer.claims);
    json.end_object();
    return response;
  };
  work.command.changes = std::move(next->changes);
  if (next->subscription.limit > 0) work.command.claim = claim_request(std::move(next->subscription));
  return work;
}

// POST /events/{id}/start
HandlerResult start_event(ApiCall& call) { return report(call, wire::ReportKind::start); }

// POST /events/{id}/heartbeat
HandlerResult beat_event(ApiCall& call) { return report(call, wire::ReportKind::heartbeat); }

// POST /events/{id}/complete
HandlerResult complete_event(ApiCall& call) { return report(call, wire::ReportKind::complete); }

// POST /events/{id}/fail
HandlerResult fail_event(ApiCall& call) { return report(call, wire::ReportKind::fail); }

// POST /events/{id}/release
HandlerResult release_event(ApiCall& call) { return report(call, wire::ReportKind::release); }

// POST /events/complete
HandlerResult complete_events(ApiCall& call) { return report_many(call, wire::ReportKind::complete); }

// POST /events/fail
HandlerResult fail_events(ApiCall& call) { return report_many(call, wire::ReportKind::fail); }

}  // namespace eventq::http
