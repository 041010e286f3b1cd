// comparison.cc: see comparison.h.
#include "against_model/comparison.h"

#include <algorithm>
#include <regex>
#include <utility>

#include "against_model/words.h"
#include "base/json.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "model/policy.h"
#include "support/open_engine.h"

namespace eventq {
namespace {

// PostgreSQL's log numbers have gaps, and each commit thread estimates Retry-After from the ends that it saw
// itself. On PostgreSQL neither is compared.
JsonLines without_numbers(JsonLines lines) {
  if (!tests_postgres()) return lines;
  static const std::regex entry(R"(\d+ ([A-Z]+ event_id=))");
  static const std::regex estimate(R"(retry_after=[1-9]\d*)");
  for (auto& [where, what] : lines) {
    if (where.starts_with("logs[") && where.ends_with("].id")) what = "0";
    if (where == "(Retry-After)") what = "(estimate)";
    what = std::regex_replace(what, entry, "0 $1");
    what = std::regex_replace(what, estimate, "retry_after=(estimate)");
  }
  return lines;
}

using std::chrono_literals::operator""s;

// 2025-12-24T10:30:00Z
constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2025} / 12 / 24} + std::chrono::hours(10) +
                           std::chrono::minutes(30)};
constexpr std::chrono::seconds kHttpLimit{20};

// Few attempts, so that lease expiries exhaust them within one run.
constexpr int kMaxAttempts = 3;
constexpr int kOperationsPerRun = 500;  // between two restarts

Policy policy_of(const Options& options) {
  return {options.retry, options.lease, options.max_retries, options.max_attempts};
}

// The operation with its placeholder replaced by the system's own checkpoint id.
Command command_with(const Operation& operation, const std::vector<std::string>& checkpoints) {
  Command command = operation.command;
  if (operation.checkpoint)
    std::get<Revival>(command.admin).checkpoint = checkpoints.at(*operation.checkpoint);
  return command;
}
std::string body_with(const Operation& operation, const std::vector<std::string>& checkpoints) {
  std::string body = operation.body;
  if (!operation.checkpoint) return body;
  const std::string_view placeholder = Operation::kCheckpoint;
  return body.replace(body.find(placeholder), placeholder.size(), checkpoints.at(*operation.checkpoint));
}

}  // namespace

Comparison::Comparison(std::uint32_t seed)
    : clock_(kStart),
      generator_(seed),
      server_(http_store_.url(), options()),
      oracle_(policy_of(options()), [this](EventId id) { return read_event(id); }) {
  model_.engine = open_engine("memory:", options()).value();
  open_real();
  client_.emplace(server_.port(), kHttpLimit);
}

Options Comparison::options() const {
  Options options;
  options.retry = {RetryPolicy::Kind::exponential, 10s, 25s};
  options.lease = 30s;
  options.max_attempts = kMaxAttempts;
  options.clock = &clock_;
  return options;
}

void Comparison::open_real() {
  real_.engine.reset();
  real_.engine = open_engine(engine_store_.url(), options()).value();
}

void Comparison::step() {
  for (std::size_t i = 0; tally_.operations == static_cast<int>(i) && i < kQueues.size(); ++i) {
    run(generator_.configure(std::string(kQueues[i]), true));
  }
  move_clock(generator_.next_advance(clock_.now()));
  if (tally_.operations / kOperationsPerRun > tally_.restarts && parked_.empty()) restart();
  if (!failure_.empty()) return;
  const Operation operation = generator_.next();
  if (!may_differ(operation)) run(operation);
}

// The fields that depend on whether a waiting claim was served before the answer was rendered.
std::vector<std::string> Comparison::timing_dependent_fields(const Operation& operation) const {
  if (parked_.empty()) return {};
  if (operation.kind == Operation::Kind::set_status || operation.kind == Operation::Kind::configure) {
    return {"counts.PENDING", "counts.PROCESSING"};
  }
  // The publisher waited for the event's end. On PostgreSQL the waiting claim may run in another commit
  // thread.
  if (tests_postgres() && operation.command.publication && operation.command.wait) {
    return {"status", "attempts", "worker_id"};
  }
  return {};
}

// Operations whose answers may differ on PostgreSQL without being wrong.
bool Comparison::may_differ(const Operation& operation) const {
  if (!tests_postgres()) return false;
  // Servers agree on the time of periodic checkpoints, so the list of checkpoints depends on that time.
  if (operation.kind == Operation::Kind::checkpoints) return true;
  const Command& command = operation.command;
  // A batch draws its ids in advance, and draws again when the event it supersedes must be locked. Its ids
  // then have a gap.
  if (command.publication && command.publication->events.size() > 1) {
    const std::vector<NewEvent>& events = command.publication->events;
    return std::any_of(events.begin(), events.end(),
                       [](const NewEvent& event) { return !event.supersede_key.empty(); });
  }
  // The order is undefined between several waiting claims of a queue, and between a waiting claim and a turn.
  if (!command.claim || (!operation.waits() && command.changes.empty())) return false;
  return std::any_of(parked_.begin(), parked_.end(), [&](const Parked& parked) {
    return parked.operation.command.claim->selector.queue == command.claim->selector.queue;
  });
}

void Comparison::finish() {
  move_clock(60s);  // longer than any wait
  if (!parked_.empty()) fail(parked_.front().operation, "the model", "it still waits after a minute");
  for (const EventId id : oracle_.events()) {
    if (!failure_.empty()) return;
    Operation get{.kind = Operation::Kind::get, .method = "GET"};
    get.target = "/events/" + text_of(id) + "?include_logs=true";
    get.command.get = id;
    run(get);
    for (const LogEntry& entry : read_event(id).log) ++tally_.entries[std::string(name_of(entry.action))];
  }
  finish_correlations();
  tally_.completions = oracle_.completions();
  tally_.blocked_lines = oracle_.blocked_lines();
}

void Comparison::finish_correlations() {
  for (int i = 1; i <= kCorrelations && failure_.empty(); ++i) {
    CorrelationQuery query{"order-" + std::to_string(i), {}, 1000};
    Operation operation{.kind = Operation::Kind::correlation,
                        .method = "GET",
                        .target = "/events/correlation/" + query.id + "?limit=1000"};
    operation.command.admin = std::move(query);
    run(operation);
  }
}

// Between 90 % of the watermark and the watermark, backpressure depends on the depth before. A restart loses
// that state, and on PostgreSQL each commit thread has its own.
bool Comparison::backpressure_depends_on_history() {
  Command command;
  command.admin = QueuesQuery{};
  const Answer answer = model_.engine->call(std::move(command));
  for (const QueueDocument& queue : std::get<Result<std::vector<QueueDocument>>>(answer.admin).value()) {
    const Policy policy = eventq::policy_of(queue.row, policy_of(options())).value();
    const std::int64_t depth = queue.counts[static_cast<std::size_t>(Status::pending)] +
                               queue.counts[static_cast<std::size_t>(Status::processing)];
    if (policy.high_watermark && depth * 10 >= *policy.high_watermark * 9 &&
        depth <= *policy.high_watermark) {
      return true;
    }
  }
  return false;
}

// Restarts the two systems on real stores; they lose all state in memory. Each tag is then polled once,
// because why() knows only polls since the start. The clock first moves by two minutes: in the first, all
// systems write their next checkpoint; in the second no event ends, so the measured rate is zero.
void Comparison::restart() {
  move_clock(61s);
  move_clock(61s);
  if (backpressure_depends_on_history()) return;
  for (const std::string_view queue : kQueues) {
    if (failure_.empty()) run(generator_.checkpoint(std::string(queue)));
  }
  if (!failure_.empty()) return;
  ++tally_.restarts;
  open_real();
  client_.reset();
  server_.restart();
  client_.emplace(server_.port(), kHttpLimit);
  settle();
  check_recovery();
  for (const std::string_view queue : kQueues) {
    Operation operation{.kind = Operation::Kind::subscribe, .method = "GET"};
    ClaimRequest request{.selector = {std::string(queue), {}}, .worker_id = "after:restart"};
    operation.target = "/events/subscribe?worker_id=after:restart&queue=" + percent_encoded(queue) + "&tags=";
    for (const std::string_view tag : kTags) {
      operation.target += (request.selector.tags.empty() ? "" : ",") + std::string(tag);
      request.selector.tags.emplace_back(tag);
    }
    operation.command.claim = std::move(request);
    if (failure_.empty()) run(operation);
  }
}

// The recovery must report as many live events of each queue as the queue has.
void Comparison::check_recovery() {
  for (const std::string_view queue : kQueues) {
    Operation operation{.method = "GET", .target = "/queues/" + percent_encoded(queue) + "/recovery"};
    operation.command.admin = RecoveryQuery{std::string(queue)};
    const Answer answer = real_.engine->call(operation.command);
    const auto& recovery = std::get<Result<Recovery>>(answer.admin);
    const std::int64_t depth = oracle_.depth(std::string(queue));
    if (!recovery || recovery->events_recovered != depth || recovery->status != "completed") {
      return fail(operation, "the real store",
                  "it did not recover " + std::to_string(depth) + " live events");
    }
    const auto response = client_->get(operation.target);
    if (!response) return fail(operation, "the server", response.error().message);
    JsonLines lines = json_lines(response->body);
    if (lines["eventsRecovered"] != std::to_string(depth) || lines["status"] != "\"completed\"") {
      return fail(operation, "the server", response->body);
    }
  }
}

void Comparison::move_clock(Millis by) {
  if (by <= Millis(0)) return;
  clock_.advance(by);
  settle();
  oracle_.observe_time(list_new_events(), clock_.now());
  serve_parked();
  close_number_gaps();
}

void Comparison::close_number_gaps() {
  engine_numbers_.take_back();
  http_numbers_.take_back();
}

// The events published since the last call; all three systems must list the same ones.
Oracle::Ids Comparison::list_new_events() {
  Command command;
  command.list = ListFilter{};
  command.list->after = last_seen_;
  command.list->limit = limits::kPage;
  const EventPage expected = model_.engine->call(command).page->value();
  Oracle::Ids fresh;
  if (expected.events.empty()) return fresh;
  const EventPage actual = real_.engine->call(command).page->value();
  const auto response = client_->get("/events?limit=1000&after_id=" + text_of(last_seen_));
  for (const Event& event : expected.events) {
    model_.generated_ids.record_ids(event);
    fresh.push_back(event.id);
  }
  for (const Event& event : actual.events) real_.generated_ids.record_ids(event);
  if (response) http_generated_ids_.record_ids(json_lines(response->body));
  last_seen_ = fresh.back();
  return fresh;
}

void Comparison::settle() {
  for (const ComparedEngine* system : {&model_, &real_}) eventq::settle(*system->engine);
  server_.settle();
}

void Comparison::run(const Operation& operation) {
  ++tally_.operations;
  const std::uint64_t token = ++last_token_;
  HttpHeaders headers = operation.headers;
  headers.emplace_back("X-Request-Id", request_id(token));
  model_.engine->submit(command_with(operation, model_.checkpoints), model_.mailbox, token);
  real_.engine->submit(command_with(operation, real_.checkpoints), real_.mailbox, token);
  const std::size_t commands = server_.commands();
  HttpClient own_client(server_.port(), kHttpLimit);
  HttpClient& client = operation.waits() ? own_client : *client_;
  const std::string body = body_with(operation, http_checkpoints_);
  if (const auto sent = client.send(operation.method, operation.target, body, headers); !sent) {
    return fail(operation, "the server", sent.error().message);
  }
  if (operation.waits()) server_.await_commands(commands + 1);
  if (operation.waits() || !parked_.empty()) settle();

  if (operation.waits() && !model_.mailbox.has(token)) {
    ++tally_.parked;
    oracle_.observe_parked(operation, list_new_events(), !parked_.empty(), clock_.now());
    parked_.push_back({operation, token, std::move(own_client)});
  } else {
    compare(operation, token, client, false);
  }
  serve_parked();
  close_number_gaps();
}

// A wait that ended in the model must have the same answer in the other systems; any other wait must have
// none.
void Comparison::serve_parked() {
  for (Parked& parked : parked_) {
    if (!failure_.empty()) return;
    if (model_.mailbox.has(parked.token)) {
      compare(parked.operation, parked.token, parked.client, true);
    } else if (real_.mailbox.has(parked.token)) {
      fail(parked.operation, "the real store", "it answered a claim that still waits in the model");
    } else if (parked.client.readable_within(std::chrono::milliseconds(0))) {
      fail(parked.operation, "the server", "it answered a claim that still waits in the model");
    }
  }
  std::erase_if(parked_, [this](const Parked& parked) { return model_.mailbox.has(parked.token); });
}

void Comparison::compare(const Operation& operation, std::uint64_t token, HttpClient& client, bool waited) {
  const Answer expected = model_.mailbox.wait(token);
  const Answer actual = real_.mailbox.wait(token);
  const auto response = client.receive();
  if (!response) return fail(operation, "the server", response.error().message);
  JsonLines response_lines = client_view(operation, *response);
  const Oracle::Ids fresh = list_new_events();
  record_ids(operation, expected, actual, json_lines(response->body));

  const bool backpressure_may_differ =
      tests_postgres() && operation.command.publication && backpressure_depends_on_history();
  const auto settled = [&](JsonLines lines) {
    if (backpressure_may_differ) lines.erase("backpressure");
    if (backpressure_may_differ) lines.erase("(Eventq-Backpressure)");
    return without_numbers(std::move(lines));
  };
  const std::string real_differs = difference(settled(model_.generated_ids.replaced(whole_view(expected))),
                                              settled(real_.generated_ids.replaced(whole_view(actual))));
  if (!real_differs.empty()) return fail(operation, "the real store", real_differs);
  std::optional<Answer> then;
  if (auto command = follow_up_read(operation, expected)) then = model_.engine->call(std::move(*command));
  JsonLines seen = client_view(operation, expected, then, request_id(token));
  for (const std::string& line : timing_dependent_fields(operation)) {
    seen.erase(line);
    response_lines.erase(line);
  }
  const std::string http_differs = difference(settled(model_.generated_ids.replaced(std::move(seen))),
                                              settled(http_generated_ids_.replaced(response_lines)));
  if (!http_differs.empty()) return fail(operation, "the server", http_differs + response->body + "\n");

  count(operation, expected);
  generator_.learn(operation, expected, clock_.now());
  if (waited) {
    oracle_.observe_waiter(operation, expected, clock_.now());
    tally_.served += expected.claims.empty() ? 0 : 1;
  } else {
    oracle_.observe(operation, expected, fresh, !parked_.empty(), clock_.now());
  }
  tally_.events = oracle_.size();
  if (!oracle_.faults().empty()) fail(operation, "every system", oracle_.faults().front());
}

// Records the ids that each system generated itself.
void Comparison::record_ids(const Operation& operation, const Answer& model, const Answer& real,
                            const JsonLines& http) {
  if (operation.command.publication) {
    for (const auto& [system, answer] : {std::pair(&model_, &model), std::pair(&real_, &real)}) {
      if (!*answer->published) continue;
      for (const Event& event : (*answer->published)->events) system->generated_ids.record_ids(event);
    }
    http_generated_ids_.record_ids(http);
  }
  if (operation.kind != Operation::Kind::checkpoint) return;
  for (const auto& [system, answer] : {std::pair(&model_, &model), std::pair(&real_, &real)}) {
    const auto& changed = std::get<Result<QueueChanged>>(answer->admin);
    if (changed) system->checkpoints.push_back(changed->checkpoint.value().id);
  }
  const auto id = http.find("id");
  if (id != http.end()) http_checkpoints_.push_back(id->second.substr(1, id->second.size() - 2));
}

void Comparison::count(const Operation& operation, const Answer& answer) {
  if (const auto* revived = std::get_if<Result<Revived>>(&answer.admin); revived && *revived) {
    const bool replays = operation.kind == Operation::Kind::replay;
    (replays ? tally_.replays : tally_.retried) += static_cast<int>((*revived)->events.size());
  }
  if (operation.command.wait && !answer.waited) ++tally_.timeouts;
  tally_.claimed += static_cast<int>(answer.claims.size());
  for (const Result<Changed>& changed : answer.changed) {
    if (!changed && changed.error().code == ErrorCode::lease_lost) ++tally_.refused;
    const bool failed = changed && changed->entry.action == Action::failed;
    if (failed && !changed->entry.next_retry_at) ++tally_.last_failures;
  }
  if (!operation.command.publication) return;
  if (answer.backpressure) ++tally_.slowed;
  if (!*answer.published) {
    const bool full = answer.published->error().code == ErrorCode::queue_full;
    ++(full ? tally_.full : tally_.conflicted);
  }
  if (*answer.published && (*answer.published)->replayed) ++tally_.replayed;
}

void Comparison::fail(const Operation& operation, const std::string& system, const std::string& problem) {
  if (!failure_.empty()) return;
  failure_ = "operation " + std::to_string(tally_.operations) + ", " + system + " is wrong:\n" +
             describe(operation) + "\n" + problem;
}

// Reads from the model, because the oracle sees the model's answers and therefore its ids.
Details Comparison::read_event(EventId id) {
  Command command;
  command.get = id;
  const Answer answer = model_.engine->call(std::move(command));
  return *answer.details ? **answer.details : Details{};
}

}  // namespace eventq
