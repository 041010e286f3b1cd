// contest.cc: see contest.h.
#include "against_model/contest.h"

#include <algorithm>
#include <utility>

#include "model/names.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""s;

// 2025-12-24T10:30:00Z
constexpr TimePoint kStart{std::chrono::sys_days{std::chrono::year{2025} / 12 / 24} + std::chrono::hours(10) +
                           std::chrono::minutes(30)};
constexpr std::chrono::seconds kHttpLimit{20};

// A short row of attempts, so that events are given up.
constexpr int kMaxAttempts = 3;
constexpr int kOperationsPerRun = 500;  // between two restarts

Policy policy_of(const Options& options) {
  return {options.retry, options.lease, options.max_retries, options.max_attempts};
}

}  // namespace

Contest::Contest(std::uint32_t seed)
    : clock_(kStart),
      generator_(seed),
      server_("sqlite:" + directory_.file("http.db"), options()),
      oracle_(policy_of(options()), [this](EventId id) { return look(id); }) {
  model_.engine = Engine::open("memory:", options()).value();
  open_sqlite();
  client_.emplace(server_.port(), kHttpLimit);
}

Options Contest::options() const {
  Options options;
  options.retry = {RetryPolicy::Kind::exponential, 10s, 25s};
  options.lease = 30s;
  options.max_attempts = kMaxAttempts;
  options.clock = &clock_;
  return options;
}

void Contest::open_sqlite() {
  sqlite_.engine.reset();
  sqlite_.engine = Engine::open("sqlite:" + directory_.file("engine.db"), options()).value();
}

void Contest::step() {
  move_clock(generator_.next_advance(clock_.now()));
  if (parked_.empty() && tally_.operations / kOperationsPerRun > tally_.restarts) restart();
  if (verdict_.empty()) run(generator_.next());
}

void Contest::finish() {
  move_clock(60s);  // longer than anybody waits
  if (!parked_.empty()) lose(parked_.front().operation, "the model", "it still waits a minute later");
  for (std::size_t i = 1; i <= oracle_.events() && verdict_.empty(); ++i) {
    const EventId id{static_cast<std::int64_t>(i)};
    Operation get{.kind = Operation::Kind::get, .method = "GET"};
    get.target = "/events/" + std::to_string(i) + "?include_logs=true";
    get.command.get = Command::Get{id, true};
    run(get);
    for (const LogEntry& entry : look(id).log) ++tally_.entries[std::string(name_of(entry.action))];
  }
}

// The two on files forget all but what they stored. Then every tag is asked for once, since why() knows
// of polls only since the start.
void Contest::restart() {
  ++tally_.restarts;
  open_sqlite();
  client_.reset();
  server_.restart();
  client_.emplace(server_.port(), kHttpLimit);
  for (const std::string_view queue : kQueues) {
    Operation operation{.kind = Operation::Kind::subscribe, .method = "GET"};
    ClaimRequest request{.selector = {std::string(queue), {}}, .worker_id = "after:restart"};
    operation.target = "/events/subscribe?worker_id=after:restart&queue=" + std::string(queue) + "&tags=";
    for (const std::string_view tag : kTags) {
      operation.target += (request.selector.tags.empty() ? "" : ",") + std::string(tag);
      request.selector.tags.emplace_back(tag);
    }
    operation.command.claim = std::move(request);
    if (verdict_.empty()) run(operation);
  }
}

void Contest::move_clock(Millis by) {
  if (by <= Millis(0)) return;
  clock_.advance(by);
  settle();
  oracle_.observe_time(clock_.now());
  serve_parked();
}

void Contest::settle() {
  for (Contender* contender : {&model_, &sqlite_}) {
    contender->engine->poke();
    contender->engine->call({});
    contender->engine->call({});  // why twice: see LocalServer::settle()
  }
  server_.settle();
}

void Contest::run(const Operation& operation) {
  ++tally_.operations;
  const std::uint64_t token = ++last_token_;
  HttpHeaders headers = operation.headers;
  headers.emplace_back("X-Request-Id", request_id(token));
  model_.engine->submit(operation.command, model_.mailbox, token);
  sqlite_.engine->submit(operation.command, sqlite_.mailbox, token);
  const std::size_t commands = server_.commands();
  HttpClient own_client(server_.port(), kHttpLimit);
  HttpClient& client = operation.waits() ? own_client : *client_;
  if (const auto sent = client.send(operation.method, operation.target, operation.body, headers); !sent) {
    return lose(operation, "the server", sent.error().message);
  }
  if (operation.waits()) server_.await_commands(commands + 1);
  if (operation.waits() || !parked_.empty()) settle();

  if (operation.waits() && !model_.mailbox.has(token)) {
    ++tally_.parked;
    oracle_.observe_parked(operation, clock_.now());
    parked_.push_back({operation, token, std::move(own_client)});
  } else {
    compare(operation, token, client, false);
  }
  serve_parked();
}

// Those whose wait is over in the model must have the same answer elsewhere; the others none.
void Contest::serve_parked() {
  for (Parked& parked : parked_) {
    if (!verdict_.empty()) return;
    if (model_.mailbox.has(parked.token)) {
      compare(parked.operation, parked.token, parked.client, true);
    } else if (sqlite_.mailbox.has(parked.token)) {
      lose(parked.operation, "SQLite", "answers what still waits in the model");
    } else if (parked.client.readable_within(std::chrono::milliseconds(0))) {
      lose(parked.operation, "the server", "answers what still waits in the model");
    }
  }
  std::erase_if(parked_, [this](const Parked& parked) { return model_.mailbox.has(parked.token); });
}

void Contest::compare(const Operation& operation, std::uint64_t token, HttpClient& client, bool waited) {
  const Answer expected = model_.mailbox.wait(token);
  const Answer actual = sqlite_.mailbox.wait(token);
  const auto response = client.receive();
  if (!response) return lose(operation, "the server", response.error().message);
  const JsonLines response_lines = client_view(*response);
  model_.made_ids.learn(expected);
  sqlite_.made_ids.learn(actual);
  if (operation.command.publication) http_made_ids_.learn(response_lines);

  const JsonLines whole = model_.made_ids.replaced(whole_view(expected));
  const std::string sqlite_differs = difference(whole, sqlite_.made_ids.replaced(whole_view(actual)));
  if (!sqlite_differs.empty()) return lose(operation, "SQLite", sqlite_differs);
  const JsonLines seen = model_.made_ids.replaced(client_view(operation, expected, request_id(token)));
  const std::string http_differs = difference(seen, http_made_ids_.replaced(response_lines));
  if (!http_differs.empty()) return lose(operation, "the server", http_differs + response->body + "\n");

  count(operation, expected);
  generator_.learn(operation, expected, clock_.now());
  if (waited) {
    oracle_.observe_waiter(operation, expected, clock_.now());
    tally_.served += expected.claims.empty() ? 0 : 1;
  } else {
    oracle_.observe(operation, expected, clock_.now());
  }
  tally_.events = oracle_.events();
  if (!oracle_.faults().empty()) lose(operation, "every system", oracle_.faults().front());
}

void Contest::count(const Operation& operation, const Answer& answer) {
  tally_.claimed += static_cast<int>(answer.claims.size());
  for (const Result<Changed>& changed : answer.changed) {
    if (!changed && changed.error().code == ErrorCode::lease_lost) ++tally_.refused;
    const bool failed = changed && changed->entry.action == Action::failed;
    if (failed && !changed->entry.next_retry_at) ++tally_.last_failures;
  }
  if (!operation.command.publication) return;
  if (!*answer.published) ++tally_.clashed;
  if (*answer.published && (*answer.published)->replayed) ++tally_.replayed;
}

void Contest::lose(const Operation& operation, const std::string& who, const std::string& how) {
  if (!verdict_.empty()) return;
  verdict_ = "operation " + std::to_string(tally_.operations) + ", " + who + " is wrong:\n" +
             describe(operation) + "\n" + how;
}

Details Contest::look(EventId id) {
  Command command;
  command.get = Command::Get{id, true};
  const Answer answer = sqlite_.engine->call(std::move(command));
  return *answer.details ? **answer.details : Details{};
}

}  // namespace eventq
