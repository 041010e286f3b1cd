// queue_impl.cc: see queue_impl.h.
#include "queue/queue_impl.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/overloaded.h"
#include "base/range.h"
#include "base/time_text.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "model/tags.h"
#include "model/validate.h"

namespace eventq {
namespace {

// http checks the payload while it parses the request body. Here the caller passes it as text.
std::optional<Error> validate_payload(const std::string& payload) {
  JsonParser parser;
  const auto parsed = parser.parse(payload);
  if (parsed) return std::nullopt;
  return Error{ErrorCode::invalid_argument, "payload: " + parsed.error().message, "payload"};
}

Change change_of(const Report& report, const std::string& worker_id) {
  Change change{Lease{report.id, worker_id, report.attempt}, {}};
  std::visit(Overloaded{
                 [&](const Outcome& outcome) { change.what = Complete{outcome}; },
                 [&](const Failure& failure) { change.what = Fail{failure}; },
                 [&](const Return& how) {
                   change.what = Release{how.reason, how.delay};
                 },
             },
             report.what);
  return change;
}

// Validates the claim part of next().
Result<ClaimRequest> claim_of(const NextRequest& request, const std::string& worker_id) {
  if (auto fault = validate_queue_name(request.queue)) return *fault;
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

QueueImpl::QueueImpl(std::unique_ptr<Engine> engine, std::string worker_id, const Policy& defaults)
    : engine_(std::move(engine)), defaults_(defaults), polled_(std::move(worker_id)) {}

Result<Event> QueueImpl::publish(const NewEvent& event) {
  auto published = publish_batch({&event, 1});
  if (!published) return published.error();
  return std::move(published->front());
}

Result<std::vector<Event>> QueueImpl::publish_batch(std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<Event>();
  if (events.size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, "A batch may hold 10000 events, this one has more.", "events"};
  }
  // Events with correlation ids of their own keep them.
  const bool correlated =
      events.size() > 1 && std::all_of(events.begin(), events.end(),
                                       [](const NewEvent& event) { return event.correlation_id.empty(); });
  Publication publication{.events = {events.begin(), events.end()}, .key = {}, .correlated = correlated};
  for (NewEvent& event : publication.events) {
    if (auto fault = validate(event)) return *fault;
    if (auto fault = validate_payload(event.payload)) return *fault;
  }
  Command command;
  command.publication = std::move(publication);
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  if (!*answer.published) return answer.published->error();
  return std::move((*answer.published)->events);
}

Result<std::optional<Claim>> QueueImpl::poll(const PollRequest& request) {
  if (auto fault = validate_queue_name(request.queue)) return *fault;
  Command command;
  command.claim = ClaimRequest{.selector = {request.queue, {}}, .worker_id = polled_.worker_id()};
  if (!request.tags.empty()) {
    auto tags = clean_tags(request.tags);
    if (!tags) return tags.error();
    command.claim->selector.tags = std::move(*tags);
  }
  if (request.clock) command.now = request.clock->now();
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  if (answer.claims.empty()) return std::optional<Claim>();
  Claim& claim = answer.claims.front();
  polled_.add(claim.event);
  return std::optional(std::move(claim));
}

Result<Changed> QueueImpl::change(Change change) {
  if (auto fault = validate(change)) return *fault;
  Command command;
  command.changes.push_back(std::move(change));
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  return std::move(answer.changed.front());
}

Result<LogEntry> QueueImpl::complete(const Lease& lease, const Outcome& outcome) {
  return report({lease, Complete{outcome}});
}

Result<LogEntry> QueueImpl::fail(const Lease& lease, const Failure& failure) {
  return report({lease, Fail{failure}});
}

Result<LogEntry> QueueImpl::give_back(const Lease& lease, const Return& how) {
  return report({lease, Release{how.reason, how.delay}});
}

Result<NextResult> QueueImpl::next(const NextRequest& request) {
  const std::string& worker_id = request.worker_id.empty() ? polled_.worker_id() : request.worker_id;
  if (auto fault = validate_worker_id(worker_id)) return *fault;
  if (request.reports.size() + request.alive.size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, "One request may report on 10000 events, this one reports on more.",
                 "reports"};
  }
  Command command;
  for (const Report& report : request.reports) {
    command.changes.push_back(change_of(report, worker_id));
    if (auto fault = validate(command.changes.back())) return *fault;
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
  if (command.changes.empty() && !command.claim) return NextResult{};

  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  NextResult result{.results = {}, .leases = {}, .claims = std::move(answer.claims)};
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

Result<LogEntry> QueueImpl::report(Change change) {
  const Lease lease = change.lease;
  auto changed = this->change(std::move(change));
  if (changed || changed.error().code == ErrorCode::lease_lost) polled_.remove(lease);
  if (!changed) return changed.error();
  return std::move(changed->entry);
}

Result<TimePoint> QueueImpl::heartbeat(const Lease& lease) {
  auto changed = change({lease, Heartbeat{}});
  if (!changed) return changed.error();
  return changed->lease_until;
}

Result<void> QueueImpl::finalize(EventId id, const std::vector<std::string>& errors) {
  return finish(id, Complete{Outcome{.status_code = {}, .execution_time_ms = {}, .errors = errors}});
}

Result<void> QueueImpl::finalize(EventId id, Verdict verdict) {
  if (verdict == Verdict::success) return finish(id, Complete{});
  Failure failure;
  failure.permanent = true;
  return finish(id, Fail{std::move(failure)});
}

Result<void> QueueImpl::finish(EventId id, decltype(Change::what) what) {
  return polled_.finish(
      id,
      [&](const Lease& lease) {
        return report({lease, std::move(what)});
      },
      [&](EventId event) { return get(event); });
}

Result<Details> QueueImpl::details(EventId id, bool with_log) {
  Command command;
  command.get = Command::Get{id, with_log};
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  return std::move(*answer.details);
}

Result<Event> QueueImpl::wait(EventId id, Millis timeout) {
  Command command;
  command.wait = WaitRequest{id, std::min(timeout, Millis(limits::kDelay))};  // longer waits mean the same
  const Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  if (!answer.waited) {
    return Error{ErrorCode::timeout,
                 "Event " + std::to_string(static_cast<std::int64_t>(id)) + " has not ended within " +
                     format_duration(timeout) + ".",
                 ""};
  }
  return get(id);
}

Result<QueueConfig> QueueImpl::settings(const std::string& name) {
  if (auto fault = validate_queue_name(name)) return *fault;
  Command command;
  command.admin = QueueQuery{.id = name};
  Answer answer = engine_->call(std::move(command));
  if (answer.error) return *answer.error;
  const auto& found = std::get<Result<QueueDocument>>(answer.admin);
  if (!found && found.error().code != ErrorCode::not_found) return found.error();
  if (!found) return in_force(resolve(name, {}, defaults_));
  const auto policy = policy_of(found->row, defaults_);
  if (!policy) return policy.error();
  return in_force(*policy);
}

Result<Event> QueueImpl::get(EventId id) {
  auto found = details(id, false);
  if (!found) return found.error();
  return std::move(found->event);
}

Result<std::vector<LogEntry>> QueueImpl::log(EventId id) {
  auto found = details(id, true);
  if (!found) return found.error();
  return std::move(found->log);
}

}  // namespace eventq
