// embedded_queue.cc: see embedded_queue.h.
#include "queue/embedded_queue.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/range.h"
#include "base/time_text.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "model/tags.h"
#include "model/validate.h"

namespace eventq {
namespace {

// http checks JSON while it parses the request body. Here the caller passes it as text.
std::optional<Error> validate_json(const std::string& field, const std::string& text) {
  JsonParser parser;
  const auto parsed = parser.parse(text);
  if (parsed) return std::nullopt;
  return Error{ErrorCode::invalid_argument, field + ": " + parsed.error().message, field};
}

// validate(), and the check of JSON that it requires. A result that is null is none.
std::optional<Error> validate_report(Change& change) {
  if (auto fault = validate(change)) return fault;
  auto* const complete = std::get_if<Complete>(&change.what);
  if (complete == nullptr || complete->outcome.result.empty()) return std::nullopt;
  std::string& result = complete->outcome.result;
  if (auto fault = validate_json("result", result)) return fault;
  if (result == "null") result.clear();
  return std::nullopt;
}

// The three reports of a worker, as the lifecycle names them.
Complete change_of(const Outcome& outcome) { return {outcome}; }
Fail change_of(const Failure& failure) { return {failure}; }
Release change_of(const Return& how) { return {how.reason, how.delay}; }
decltype(Change::what) change_of(const decltype(Report::what)& what) {
  return std::visit([](const auto& it) -> decltype(Change::what) { return change_of(it); }, what);
}

// Validates the claim part of next().
Result<ClaimRequest> claim_of(const NextRequest& request, const std::string& worker_id) {
  if (auto fault = validate_claimed_queue(request.queue)) return *fault;
  if (auto fault = out_of_range("limit", request.limit, 0, limits::kClaim)) return *fault;
  if (auto fault = out_of_range("wait", request.wait, Millis(0), limits::kWait)) return *fault;
  ClaimRequest claim{{request.queue, {}}, worker_id, request.limit, request.wait};
  if (request.tags.empty()) return claim;
  auto tags = clean_tags(request.tags);
  if (!tags) return tags.error();
  claim.selector.tags = std::move(*tags);
  return claim;
}

}  // namespace

EmbeddedQueue::EmbeddedQueue(std::unique_ptr<Engine> engine, std::string worker_id, const Policy& defaults)
    : engine_(std::move(engine)), defaults_(defaults), polled_(std::move(worker_id)) {}

void EmbeddedQueue::keep_until_stopped(std::unique_ptr<AnswerSink> sink) {
  const std::scoped_lock lock(mutex_);
  kept_sinks_.push_back(std::move(sink));
}

Result<Event> EmbeddedQueue::publish(const NewEvent& event) {
  auto published = publish_batch({&event, 1});
  if (!published) return published.error();
  return std::move(published->front());
}

Result<std::vector<Event>> EmbeddedQueue::publish_batch(std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<Event>();
  if (events.size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, "A batch may hold 10000 events, this one has more.", "events"};
  }
  // One correlation id for all, unless the publisher chose ids: an event's own id is never replaced.
  const bool correlated =
      events.size() > 1 && std::all_of(events.begin(), events.end(),
                                       [](const NewEvent& event) { return event.correlation_id.empty(); });
  Publication publication{.events = {events.begin(), events.end()}, .key = {}, .correlated = correlated};
  for (NewEvent& event : publication.events) {  // copies, because validate() also normalizes the tags
    if (auto fault = validate(event)) return *fault;
    if (auto fault = validate_json("payload", event.payload)) return *fault;
  }
  Answer answer = engine_->call({.publication = std::move(publication)});
  if (answer.error) return *answer.error;
  if (!*answer.published) return answer.published->error();
  return std::move((*answer.published)->events);
}

Result<std::optional<Claim>> EmbeddedQueue::poll(const PollRequest& request) {
  auto claimed = claim_of({.limit = 1, .tags = request.tags, .queue = request.queue}, polled_.worker_id());
  if (!claimed) return claimed.error();
  Command command{.claim = std::move(*claimed)};
  if (request.clock) command.now = request.clock->now();
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  if (answer.claims.empty()) return std::optional<Claim>();
  Claim& claim = answer.claims.front();
  polled_.add(claim.event);  // finalize() names only the id, so the attempt is kept here
  return std::optional(std::move(claim));
}

Result<Changed> EmbeddedQueue::change(Change change) {
  if (auto fault = validate_report(change)) return *fault;
  Command command;
  command.changes.push_back(std::move(change));
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  return std::move(answer.changed.front());
}

Result<LogEntry> EmbeddedQueue::complete(const Lease& lease, const Outcome& outcome) {
  return report({lease, change_of(outcome)});
}

Result<LogEntry> EmbeddedQueue::fail(const Lease& lease, const Failure& failure) {
  return report({lease, change_of(failure)});
}

Result<LogEntry> EmbeddedQueue::give_back(const Lease& lease, const Return& how) {
  return report({lease, change_of(how)});
}

Result<NextResult> EmbeddedQueue::next(const NextRequest& request) {
  const std::string& worker_id = request.worker_id.empty() ? polled_.worker_id() : request.worker_id;
  if (auto fault = validate_worker_id(worker_id)) return *fault;
  if (request.reports.size() + request.alive.size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, "One request may report on 10000 events, this one reports on more.",
                 "reports"};
  }
  Command command;
  for (const Report& report : request.reports) {
    command.changes.push_back({Lease{report.id, worker_id, report.attempt}, change_of(report.what)});
    if (auto fault = validate_report(command.changes.back())) return *fault;
  }
  for (const Alive& alive : request.alive) {
    command.changes.push_back({Lease{alive.id, worker_id, alive.attempt}, Heartbeat{}});
    if (auto fault = validate(command.changes.back())) return *fault;
  }
  if (request.limit > 0) {
    auto claim = claim_of(request, worker_id);
    if (!claim) return claim.error();
    command.claim = std::move(*claim);
  }
  // An empty command would still wait for a commit.
  if (command.changes.empty() && !command.claim) return NextResult{};

  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  NextResult result{.claims = std::move(answer.claims)};
  // The results are in the order of the changes: the reports first, then the heartbeats.
  for (std::size_t i = 0; i < answer.changed.size(); ++i) {
    Result<Changed>& changed = answer.changed[i];
    if (i < request.reports.size()) {
      result.results.push_back(changed ? Result<LogEntry>(std::move(changed->entry)) : changed.error());
    } else {
      result.leases.push_back(changed ? Result<TimePoint>(changed->lease_until) : changed.error());
    }
  }
  return result;
}

// Forgets the lease also after lease_lost, because no later report can succeed with it. After any other
// error, such as unavailable, the caller may report again.
Result<LogEntry> EmbeddedQueue::report(Change change) {
  const Lease lease = change.lease;
  auto changed = this->change(std::move(change));
  if (changed || changed.error().code == ErrorCode::lease_lost) polled_.remove(lease);
  if (!changed) return changed.error();
  return std::move(changed->entry);
}

Result<void> EmbeddedQueue::sign_off(const std::string& worker_id) {
  const std::string& worker = worker_id.empty() ? polled_.worker_id() : worker_id;
  if (auto fault = validate_worker_id(worker)) return *fault;
  const Answer answer = engine_->call({.admin = SignOff{worker}});
  if (answer.error) return *answer.error;
  return {};
}

Result<TimePoint> EmbeddedQueue::heartbeat(const Lease& lease) {
  auto changed = change({lease, Heartbeat{}});
  if (!changed) return changed.error();
  return changed->lease_until;
}

Result<void> EmbeddedQueue::finalize(EventId id, const std::vector<std::string>& errors) {
  return finish(id, Complete{{.errors = errors}});
}

Result<void> EmbeddedQueue::finalize(EventId id, const Outcome& outcome) {
  return finish(id, Complete{outcome});
}

Result<void> EmbeddedQueue::finalize(EventId id, Verdict verdict) {
  if (verdict == Verdict::success) return finish(id, Complete{});
  return finish(id, Fail{{.permanent = true}});
}

Result<void> EmbeddedQueue::finish(EventId id, decltype(Change::what) what) {
  return polled_.finish(
      id,
      [&](const Lease& lease) {
        return report({lease, std::move(what)});
      },
      [&](EventId event) { return get(event); });
}

Result<Details> EmbeddedQueue::details(EventId id) {
  Answer answer = engine_->call({.get = id});
  if (answer.error) return *answer.error;
  return std::move(*answer.details);
}

Result<Event> EmbeddedQueue::wait(EventId id, Millis timeout) {
  // A wait longer than the longest delay means the same, and its deadline cannot overflow.
  const Answer answer = engine_->call({.wait = WaitRequest{id, std::min(timeout, Millis(limits::kDelay))}});
  if (answer.error) return *answer.error;
  if (!answer.waited) {
    return Error{ErrorCode::timeout,
                 "Event " + std::to_string(static_cast<std::int64_t>(id)) + " has not ended within " +
                     format_duration(timeout) + ".",
                 ""};
  }
  return get(id);
}

Result<QueueConfig> EmbeddedQueue::settings(const std::string& name) {
  if (auto fault = validate_queue_name(name)) return *fault;
  const Answer answer = engine_->call({.admin = QueueQuery{.id = name}});
  if (answer.error) return *answer.error;
  const auto& found = std::get<Result<QueueDocument>>(answer.admin);
  if (!found && found.error().code != ErrorCode::not_found) return found.error();
  // A queue is created by its first event. Until then the defaults are in force.
  if (!found) return in_force(resolve(name, {}, defaults_));
  const auto policy = policy_of(found->row, defaults_);
  if (!policy) return policy.error();
  return in_force(*policy);
}

Result<EventId> EmbeddedQueue::find(std::string_view event_id) {
  if (auto fault = validate_event_id(event_id)) return *fault;
  const Answer answer = engine_->call({.admin = EventIdsQuery{{std::string(event_id)}}});
  if (answer.error) return *answer.error;
  const auto& found = std::get<Result<FoundEvents>>(answer.admin);
  if (!found) return found.error();
  return only_event(found->events.front(), event_id);
}

Result<Event> EmbeddedQueue::get(EventId id) {
  auto found = details(id);
  if (!found) return found.error();
  return std::move(found->event);
}

Result<std::vector<LogEntry>> EmbeddedQueue::log(EventId id) {
  auto found = details(id);
  if (!found) return found.error();
  return std::move(found->log);
}

}  // namespace eventq
