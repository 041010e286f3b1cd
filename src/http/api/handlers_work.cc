// handlers_work.cc: routes for workers: claim events and report on them.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "http/api/render.h"
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

// A CloudEvent holds one event, so a list is sent as CloudEvents only to a client that accepts their batches.
ClaimFormat format_of(const ApiCall& call, bool many) {
  if (wants_cloud_events(call)) return ClaimFormat::cloud_events;
  if (wants_cloud_event(call) && !many) return ClaimFormat::cloud_event;
  return many ? ClaimFormat::many : ClaimFormat::one;
}

Response render_claims(Answer& answer, ClaimFormat format) {
  Response response;
  // A cache must not give the claim of one worker to another.
  response.headers.emplace_back("Cache-Control", "no-store");
  if (answer.claims.empty()) {
    response.status = 204;
    return response;
  }
  JsonWriter json(response.body);
  switch (format) {
    // A request for one event has the limit 1, so there is no second claim.
    case ClaimFormat::one: wire::write_claim(json, answer.claims.front()); break;
    case ClaimFormat::many:
      wire::write_claims(json.begin_object().key("events"), answer.claims);
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

HandlerResult subscribe(ApiCall& call, Parsed<wire::Subscription> subscription) {
  if (!subscription) return subscription.refusal();
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
  return wire::last_failure_problem(changed.entry.id, changed.entry.retry_count, changed.max_retries);
}

// A heartbeat has no log entry: its answer is the end of the lease.
HandlerResult render_heartbeat(const Result<Changed>& changed, const Lease& lease) {
  if (!changed) return changed.error();
  return json_response([&](JsonWriter& json) {
    wire::write_heartbeat(json, lease.id, lease.worker_id, changed->lease_until, std::nullopt);
  });
}

HandlerResult report(ApiCall& call, wire::ReportKind kind) {
  auto event = wire::parse_event_name(call.id);
  if (!event) return event.error();
  auto change =
      read_body(call, [&](const JsonValue& body) { return wire::parse_report(body, event->id, kind); });
  if (!change) return change.refusal();
  return with_event(std::move(*event), [kind, change = std::move(*change)](EventId id) mutable {
    change.lease.id = id;
    EngineWork work;
    work.render = render_change;
    if (kind == wire::ReportKind::heartbeat) {
      work.render = [lease = change.lease](Answer& answer) {
        return render_heartbeat(answer.changed.front(), lease);
      };
    }
    work.command.changes.push_back(std::move(change));
    return HandlerResult(std::move(work));
  });
}

// A report that is not sent to the engine, because its event_id has no number.
struct RefusedReport {
  std::string event_id;
  Error error;
};

// The events of a batch of reports, for its response. Heartbeats are last and have no log entry.
struct ReportedEvents {
  std::vector<EventId> ids;
  std::size_t entries = 0;
  std::string worker_id;
  std::map<std::size_t, RefusedReport> refused;  // by the index of the report
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

// Reports for the engine, and what their response needs.
struct KnownReports {
  std::vector<Change> changes;
  ReportedEvents reported;
};

// Sets the numbers that were found, and leaves out reports whose event was not.
KnownReports known_reports(wire::ParsedReports&& reports, const std::vector<Result<EventId>>& found) {
  KnownReports known{{}, reported_of(reports.changes)};
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& [index, event_id] = reports.names[i];
    if (found[i]) {
      reports.changes[index].lease.id = known.reported.ids[index] = *found[i];
    } else {
      known.reported.refused.emplace(index, RefusedReport{std::move(event_id), found[i].error()});
    }
  }
  for (std::size_t i = 0; i < reports.changes.size(); ++i) {
    if (!known.reported.refused.contains(i)) known.changes.push_back(std::move(reports.changes[i]));
  }
  return known;
}

// Calls `act` with the reports: at once if they have the numbers of their events.
template <typename Act>
HandlerResult with_reports(wire::ParsedReports&& reports, LookupThen then, Act act) {
  if (reports.names.empty()) {
    ReportedEvents reported = reported_of(reports.changes);
    return act(KnownReports{std::move(reports.changes), std::move(reported)});
  }
  std::vector<std::string> event_ids;
  for (const auto& name : reports.names) event_ids.push_back(name.event_id);
  auto act_on = [reports = std::move(reports),
                 act = std::move(act)](const std::vector<Result<EventId>>& found) mutable {
    return act(known_reports(std::move(reports), found));
  };
  return find_events(std::move(event_ids), std::move(act_on), then);
}

wire::Problem refusal_of(const RefusedReport& refused) {
  wire::Problem problem = problem_of(refused.error);
  problem.event_id = refused.event_id;
  return problem;
}

// "results": for each report the body that it would get alone, with its status as a member.
void write_results(JsonWriter& json, const std::vector<Result<Changed>>& results,
                   const ReportedEvents& reported) {
  json.key("results").begin_array();
  auto next = results.begin();
  for (std::size_t i = 0; i < reported.ids.size(); ++i) {
    if (const auto refused = reported.refused.find(i); refused != reported.refused.end()) {
      wire::write_problem(json, refusal_of(refused->second));
      continue;
    }
    const Result<Changed>& result = *next++;
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
  auto reports = read_body(call, [&](const JsonValue& body) { return wire::parse_reports(body, kind); });
  if (!reports) return reports.refusal();
  return with_reports(std::move(*reports), LookupThen::answers, [](KnownReports known) {
    EngineWork work;
    work.command.changes = std::move(known.changes);
    work.render = [reported = std::move(known.reported)](Answer& answer) {
      return json_response([&](JsonWriter& json) {
        write_results(json.begin_object(), answer.changed, reported);
        json.end_object();
      });
    };
    return HandlerResult(std::move(work));
  });
}

}  // namespace

HandlerResult render_change(const Answer& answer) {
  const Result<Changed>& changed = answer.changed.front();
  if (!changed) return changed.error();
  if (is_last_failure(changed->entry)) return respond_with(last_failure(*changed), "");
  return json_response(
      [&](JsonWriter& json) { wire::write_entry(json, changed->entry, changed->max_retries, std::nullopt); });
}

// GET /events/subscribe
HandlerResult subscribe_by_query(ApiCall& call) {
  return subscribe(call, wire::parse_subscription(call.query));
}

// POST /events/subscribe
HandlerResult subscribe_by_body(ApiCall& call) {
  return subscribe(call,
                   read_body(call, [](const JsonValue& body) { return wire::parse_subscription(body); }));
}

// POST /events/next
HandlerResult take_next(ApiCall& call) {
  auto next = read_body(call, wire::parse_next);
  if (!next) return next.refusal();
  std::optional<ClaimRequest> claim;
  if (next->subscription.limit > 0) claim = claim_request(std::move(next->subscription));
  const auto then = claim ? LookupThen::waits : LookupThen::answers;
  return with_reports(std::move(next->reports), then, [claim = std::move(claim)](KnownReports known) mutable {
    EngineWork work;
    work.command.changes = std::move(known.changes);
    work.command.claim = std::move(claim);
    work.render = [reported = std::move(known.reported)](Answer& answer) {
      return json_response([&](JsonWriter& json) {
        write_results(json.begin_object(), answer.changed, reported);
        wire::write_claims(json.key("events"), answer.claims);
        json.end_object();
      });
    };
    return HandlerResult(std::move(work));
  });
}

// POST /events/{id}/start, /heartbeat, /complete, /fail and /release
Handler report_on_one(wire::ReportKind kind) {
  return [kind](ApiCall& call) { return report(call, kind); };
}

// POST /events/complete and /events/fail
Handler report_on_many(wire::ReportKind kind) {
  return [kind](ApiCall& call) { return report_many(call, kind); };
}

}  // namespace eventq::http
