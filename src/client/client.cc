// client.cc: see eventq/client.h. Each method of Queue becomes one call of the HTTP API.
#include "eventq/client.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <type_traits>
#include <utility>

#include "base/json.h"
#include "base/percent.h"
#include "base/process_name.h"
#include "base/time_text.h"
#include "base/uuid.h"
#include "client/caller.h"
#include "eventq/limits.h"
#include "model/admin_calls.h"
#include "model/names.h"
#include "model/policy.h"
#include "model/polled_events.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/admin_reader.h"
#include "wire/event_reader.h"
#include "wire/new_event_json.h"
#include "wire/request_writer.h"

namespace eventq {
namespace {

using client::CallEffect;
using client::Caller;
using client::HttpRequest;
using client::HttpResponse;

// A server sends a keep-alive at least every 15 s. After three of them are missing, the connection is broken.
constexpr Millis kStreamSilence{45'000};

// The longest wait of one call. A server allows limits::kWait, but a proxy may close a connection that is
// silent for longer than a minute.
constexpr Millis kSlice{60'000};

Error invalid(std::string_view field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::string(field)};
}

HttpRequest get_request(std::string target) {
  return {.method = "GET", .target = std::move(target), .timeout = Millis(0)};
}

HttpRequest post_request(std::string target, std::string body) {
  return {.method = "POST", .target = std::move(target), .body = std::move(body), .timeout = Millis(0)};
}

// JSON is inserted into the body unchanged, so text that is not JSON could change the other members.
std::optional<Error> bad_json(const std::string& field, const std::string& text) {
  JsonParser parser;
  const auto parsed = parser.parse(text);
  if (parsed) return std::nullopt;
  return invalid(field, field + ": " + parsed.error().message);
}

std::optional<Error> unsendable(const NewEvent& event) {
  if (!event.attributes.empty()) {
    return invalid("attributes", "attributes cannot be sent to a server; leave them out.");
  }
  return bad_json("payload", event.payload);
}

std::optional<Error> unsendable(const wire::ReportContent& what) {
  const auto* const outcome = std::get_if<Outcome>(&what);
  if (outcome == nullptr || outcome->result.empty()) return std::nullopt;
  return bad_json("result", outcome->result);
}

// Completes the entry of a final failure: the server's answer has only its retry_count.
void add_report(LogEntry& entry, const Lease& lease, const Failure& failure) {
  const bool is_filled = entry.id != EventId{};
  if (is_filled) return;
  entry.id = lease.id;
  entry.worker_id = lease.worker_id;
  entry.attempt = lease.attempt.value_or(0);
  entry.status_code = failure.status_code;
  if (!failure.message.empty()) entry.error_message = failure.message;
  entry.execution_time_ms = failure.execution_time_ms;
  entry.created_at = system_clock().now();
}

void add_report(Result<LogEntry>& entry, const Lease& lease, const wire::ReportContent& what) {
  const auto* const failure = std::get_if<Failure>(&what);
  if (entry && failure != nullptr) add_report(*entry, lease, *failure);
}

std::string iso_text(TimePoint time) {
  std::string text;
  append_iso_time(text, time);
  return text;
}

bool is_success(const HttpResponse& response) { return response.status >= 200 && response.status < 300; }

Error problem_of(const HttpResponse& response) {
  return wire::read_problem(response.status, response.body, response.header("retry-after"));
}

template <typename Read>
std::invoke_result_t<Read, const JsonValue&> read_body(const HttpResponse& response, Read read) {
  JsonParser parser(kAnswerDepth);
  const auto body = parser.parse(response.body);
  if (body) return read(*body);
  return Error{ErrorCode::internal, "The server's answer is not JSON: " + body.error().message, ""};
}

class ClientImpl final : public Client, public AdminCalls {
 public:
  ClientImpl(client::HttpUrl url, const ClientOptions& options)
      : polled_(options.worker_id), caller_(std::move(url), options) {}

  Result<Event> publish(const NewEvent& event) override {
    if (auto fault = unsendable(event)) return *fault;
    return ask(publication("/events", wire::write_event_request(event)), CallEffect::changes,
               wire::read_event);
  }

  Result<std::vector<Event>> publish_batch(std::span<const NewEvent> events) override;
  Result<std::optional<Claim>> poll(const PollRequest& request) override;

  Result<LogEntry> complete(const Lease& lease, const Outcome& outcome) override {
    return report(lease, outcome);
  }
  Result<LogEntry> fail(const Lease& lease, const Failure& failure) override {
    return report(lease, failure);
  }
  Result<LogEntry> give_back(const Lease& lease, const Return& how) override { return report(lease, how); }

  Result<NextResult> next(const NextRequest& request) override;

  Result<void> sign_off(const std::string& worker_id) override;
  Result<TimePoint> heartbeat(const Lease& lease) override {
    return ask(post_request(path(lease.id, "/heartbeat"), wire::write_heartbeat(lease)),
               CallEffect::heartbeat, wire::read_lease_end);
  }

  Result<void> finalize(EventId id, const std::vector<std::string>& errors) override {
    return finish(id, Outcome{.errors = errors});
  }
  Result<void> finalize(EventId id, const Outcome& outcome) override { return finish(id, outcome); }
  Result<void> finalize(EventId id, Verdict verdict) override {
    if (verdict == Verdict::success) return finish(id, Outcome{});
    Failure failure;
    failure.permanent = true;
    return finish(id, failure);
  }

  Result<Event> wait(EventId id, Millis timeout) override;
  Result<QueueConfig> settings(const std::string& name) override;

  Result<EventId> find(std::string_view event_id) override;
  Result<Event> get(EventId id) override {
    return ask(get_request(path(id)), CallEffect::reads, wire::read_event);
  }
  Result<std::vector<LogEntry>> log(EventId id) override {
    return ask(get_request(path(id, "?include_logs=true")), CallEffect::reads, wire::read_log);
  }

  Result<void> stream(const StreamRequest& request, const std::function<void(Claim)>& on_claim,
                      const std::stop_token& stop) override;

  Result<EventList> list_events(const EventQuery& query) override;
  Result<LogEntry> intervene(EventId id, EventIntervention what, const Actor& actor) override;
  Result<void> intervene(const std::string& queue, QueueIntervention what, const Actor& actor) override;
  Result<FailureList> list_failures(const std::string& queue, std::size_t limit) override;
  Result<WorkerList> list_workers() override {
    return ask(get_request("/workers"), CallEffect::reads, wire::read_workers);
  }
  Result<Figures> read_figures() override;

 private:
  static std::string path(EventId id, std::string_view rest = {}) {
    return "/events/" + id_text(id) + std::string(rest);
  }

  // Calls the server and reads its answer with `read`.
  template <typename Read>
  std::invoke_result_t<Read, const JsonValue&> ask(HttpRequest request, CallEffect effect, Read read) {
    const auto response = caller_.call(std::move(request), effect);
    if (!response) return response.error();
    if (!is_success(*response)) return problem_of(*response);
    return read_body(*response, read);
  }

  HttpRequest publication(std::string target, std::string body);
  Result<LogEntry> report(const Lease& lease, const wire::ReportContent& what);
  Result<void> finish(EventId id, const wire::ReportContent& what);

  PolledEvents polled_;
  Caller caller_;

  // Guarded by mutex_.
  std::mutex mutex_;
  Uuid7Source keys_ = Uuid7Source::from_entropy();
};

// A request with an idempotency key. All tries send the same key, so that the server recognizes a repetition.
HttpRequest ClientImpl::publication(std::string target, std::string body) {
  HttpRequest request = post_request(std::move(target), std::move(body));
  const std::scoped_lock lock(mutex_);
  request.headers.emplace_back("Idempotency-Key", keys_.next(system_clock().now()));
  return request;
}

Result<std::vector<Event>> ClientImpl::publish_batch(std::span<const NewEvent> events) {
  if (events.empty()) return std::vector<Event>();
  if (events.size() == 1) {
    auto published = publish(events.front());
    if (!published) return published.error();
    return std::vector<Event>{std::move(*published)};
  }
  for (const NewEvent& event : events) {
    if (auto fault = unsendable(event)) return *fault;
  }
  return ask(publication("/events/batch", wire::write_batch_request(events)), CallEffect::changes,
             wire::read_batch);
}

Result<std::optional<Claim>> ClientImpl::poll(const PollRequest& request) {
  if (request.clock != nullptr) {
    return invalid("clock", "A server judges by its own clock what is due; leave clock out.");
  }
  NextRequest one;
  one.limit = 1;
  one.tags = request.tags;
  one.queue = request.queue;
  auto taken = next(one);
  if (!taken) return taken.error();
  if (taken->claims.empty()) return std::optional<Claim>();
  Claim& claim = taken->claims.front();
  polled_.add(claim.event);
  return std::optional(std::move(claim));
}

Result<LogEntry> ClientImpl::report(const Lease& lease, const wire::ReportContent& what) {
  if (auto fault = unsendable(what)) return *fault;
  const std::string target = path(lease.id, "/") + std::string(wire::path_of(what));
  const auto response =
      caller_.call(post_request(target, wire::write_report(lease, what)), CallEffect::changes);
  if (!response) return response.error();
  // The server answers a final failure with a problem, although it recorded the failure.
  auto entry = read_body(*response, wire::read_report);
  if (!entry && !is_success(*response)) entry = problem_of(*response);
  add_report(entry, lease, what);
  if (entry || entry.error().code == ErrorCode::lease_lost) polled_.remove(lease);
  return entry;
}

Result<NextResult> ClientImpl::next(const NextRequest& request) {
  if (request.limit == 0 && request.reports.empty() && request.alive.empty()) return NextResult{};
  for (const Report& report : request.reports) {
    if (auto fault = unsendable(report.what)) return *fault;
  }
  const std::string& worker_id = request.worker_id.empty() ? polled_.worker_id() : request.worker_id;
  HttpRequest call = post_request("/events/next", wire::write_next(request, worker_id));
  if (request.limit > 0) call.timeout = request.wait;
  const bool is_heartbeat = request.limit == 0 && request.reports.empty();
  auto answer = ask(std::move(call), is_heartbeat ? CallEffect::heartbeat : CallEffect::changes,
                    [&](const JsonValue& body) { return wire::read_next(body, request.alive.size()); });
  if (!answer) return answer;
  if (answer->results.size() != request.reports.size()) {
    return Error{ErrorCode::internal, "The server's answer must have one result for each report.", ""};
  }
  // The server returns results grouped by kind (see write_next()); put them into the order of the reports.
  std::vector<std::size_t> order(request.reports.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return request.reports[a].what.index() < request.reports[b].what.index();
  });
  std::vector<Result<LogEntry>> results(order.size(), Result<LogEntry>(LogEntry()));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Report& report = request.reports[order[i]];
    Result<LogEntry>& result = results[order[i]];
    result = std::move(answer->results[i]);
    add_report(result, Lease{report.id, worker_id, report.attempt}, report.what);
  }
  answer->results = std::move(results);
  return answer;
}

Result<void> ClientImpl::finish(EventId id, const wire::ReportContent& what) {
  return polled_.finish(
      id, [&](const Lease& lease) { return report(lease, what); }, [&](EventId event) { return get(event); });
}

// Waits in slices of kSlice. The limit of a year keeps the arithmetic from overflowing.
Result<Event> ClientImpl::wait(EventId id, Millis timeout) {
  Millis left = std::clamp(timeout, Millis(0), Millis(limits::kDelay));
  while (true) {
    const Millis slice = std::min(left, kSlice);
    HttpRequest request =
        post_request(path(id, "/wait?timeout=" + std::to_string(wire::whole_seconds(slice))), "");
    request.timeout = slice;
    auto event = ask(std::move(request), CallEffect::reads, wire::read_event);
    left -= slice;
    const bool is_too_early = !event && event.error().code == ErrorCode::timeout;
    if (!is_too_early) return event;
    if (left <= Millis(0)) {
      return Error{ErrorCode::timeout,
                   "Event " + id_text(id) + " has not ended within " + format_duration(timeout) + ".", ""};
    }
  }
}

Result<QueueConfig> ClientImpl::settings(const std::string& name) {
  if (auto fault = validate_queue_name(name)) return *fault;
  auto found = ask(get_request("/queues/" + percent_encode(name) + "?events=0"), CallEffect::reads,
                   wire::read_settings);
  if (found || found.error().code != ErrorCode::not_found) return found;
  // A queue that does not exist yet will have the defaults.
  return in_force(resolve(name, {}, default_policy({})));
}

// One try, as for a heartbeat, because a worker that stops should not wait for a server that is away.
Result<void> ClientImpl::sign_off(const std::string& worker_id) {
  const std::string& worker = worker_id.empty() ? polled_.worker_id() : worker_id;
  if (auto fault = validate_worker_id(worker)) return *fault;
  const auto response = caller_.call({.method = "DELETE", .target = "/workers/" + percent_encode(worker)},
                                     CallEffect::heartbeat);
  if (!response) return response.error();
  if (!is_success(*response)) return problem_of(*response);
  return {};
}

// A list, because in a path an event_id of digits is a number.
Result<EventId> ClientImpl::find(std::string_view event_id) {
  if (auto fault = validate_event_id(event_id)) return *fault;
  const auto events = ask(get_request("/events?limit=2&event_id=" + percent_encode(event_id)),
                          CallEffect::reads, wire::read_event_numbers);
  if (!events) return events.error();
  return only_event(*events, event_id);
}

Result<void> ClientImpl::stream(const StreamRequest& request, const std::function<void(Claim)>& on_claim,
                                const std::stop_token& stop) {
  const std::string& worker_id = request.worker_id.empty() ? polled_.worker_id() : request.worker_id;
  std::string target = "/events/stream?worker_id=" + percent_encode(worker_id) +
                       "&queue=" + percent_encode(request.queue) +
                       "&prefetch=" + std::to_string(request.prefetch);
  if (!request.tags.empty()) target += "&tags=" + percent_encode(join_tags(request.tags));
  HttpRequest call = get_request(std::move(target));
  call.timeout = kStreamSilence;
  JsonParser parser(kAnswerDepth);
  const auto on_event = [&](std::string_view data) -> Result<void> {
    const auto value = parser.parse(data);
    if (!value)
      return Error{ErrorCode::internal, "The server's event is not JSON: " + value.error().message, ""};
    auto claim = wire::read_claim(*value);
    if (!claim) return claim.error();
    on_claim(std::move(*claim));
    return {};
  };
  return caller_.stream(call, on_event, stop);
}

Result<EventList> ClientImpl::list_events(const EventQuery& query) {
  std::string target = "/events?limit=" + std::to_string(query.limit);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) target += "&" + std::string(name) + "=" + percent_encode(value);
  };
  if (query.status) add("status", name_of(*query.status));
  add("tags", join_tags(query.tags));
  add("queue", query.queue);
  add("worker_id", query.worker_id);
  add("correlation_id", query.correlation_id);
  add("pattern", query.pattern);
  if (query.since) add("since", iso_text(*query.since));
  if (query.until) add("until", iso_text(*query.until));
  if (query.newest_first) add("order", "desc");
  if (query.after != EventId{}) add(query.newest_first ? "before_id" : "after_id", id_text(query.after));
  return ask(get_request(std::move(target)), CallEffect::reads, wire::read_event_list);
}

Result<LogEntry> ClientImpl::intervene(EventId id, EventIntervention what, const Actor& actor) {
  const std::string_view call = what == EventIntervention::cancel ? "/cancel" : "/retry";
  std::string target =
      path(id, call) + "?by=" + percent_encode(actor.by) + "&reason=" + percent_encode(actor.reason);
  return ask(post_request(std::move(target), ""), CallEffect::once, wire::read_report);
}

Result<void> ClientImpl::intervene(const std::string& queue, QueueIntervention what, const Actor& actor) {
  if (auto fault = validate_queue_name(queue)) return *fault;
  const std::string_view call = what == QueueIntervention::pause ? "/pause" : "/resume";
  const auto response = caller_.call(
      post_request("/queues/" + percent_encode(queue) + std::string(call), wire::write_actor(actor)),
      CallEffect::once);
  if (!response) return response.error();
  if (!is_success(*response)) return problem_of(*response);
  return {};
}

Result<FailureList> ClientImpl::list_failures(const std::string& queue, std::size_t limit) {
  std::string target = "/failures?limit=" + std::to_string(limit);
  if (!queue.empty()) target += "&queue=" + percent_encode(queue);
  return ask(get_request(std::move(target)), CallEffect::reads, wire::read_failures);
}

Result<Figures> ClientImpl::read_figures() {
  HttpRequest request = get_request("/metrics");
  request.headers.emplace_back("Accept", "application/json");
  return ask(std::move(request), CallEffect::reads, wire::read_figures);
}

}  // namespace

Result<std::unique_ptr<Client>> Client::connect(std::string_view url, const ClientOptions& options) {
  auto parsed = client::parse_url(url);
  if (!parsed) return parsed.error();
  if (options.tries < 1)
    return invalid("tries", "tries is less than 1; the first try counts, so it must be 1 or more.");
  if (options.timeout <= Millis(0))
    return invalid("timeout", "timeout is not longer than 0; it must be 1 ms or more.");
  ClientOptions used = options;
  if (used.worker_id.empty()) used.worker_id = process_name();
  if (auto fault = validate_worker_id(used.worker_id)) return *fault;
  return std::unique_ptr<Client>(std::make_unique<ClientImpl>(std::move(*parsed), used));
}

}  // namespace eventq
