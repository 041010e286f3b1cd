// notifier.cc: see notifier.h.
//
// The payload of a NOTIFY is text. Its first line is the sender's id; then lines "all" and "ended" where
// those hold; then an empty line; then one queue per line. A payload in another form (of another program, or
// of a newer eventq) is read as "anything may have changed".
#include "store/postgres/notifier.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/backoff.h"
#include "base/log.h"
#include "base/steady.h"
#include "base/uuid.h"
#include "generated/postgres_sql.h"
#include "store/postgres/connection.h"

namespace eventq::postgres {
namespace {

constexpr Millis kAnswerWithin{1000};
constexpr Millis kPingWhileExpecting{500};
// docs/scaling.md promises that a caller learns of an outage within 2 s.
static_assert(kPingWhileExpecting + kAnswerWithin < Millis(2000));
constexpr Millis kPingOtherwise{10'000};
constexpr Millis kLongestReconnectPause{1000};
constexpr Millis kBetweenHints{5};         // merges the hints of a burst into one NOTIFY
constexpr std::size_t kPayloadMax = 7999;  // PostgreSQL's limit for NOTIFY

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == text.npos) return lines;
    text.remove_prefix(end + 1);
  }
}

void merge(Hint& into, const Hint& from) {
  into.ready.insert(from.ready.begin(), from.ready.end());
  into.all = into.all || from.all;
  into.ended = into.ended || from.ended;
}

bool is_empty(const Hint& hint) { return hint.ready.empty() && !hint.all && !hint.ended; }

std::string header_of(const std::string& sender, bool all, bool ended) {
  return sender + (all ? "\nall" : "") + (ended ? "\nended" : "") + "\n";
}

std::string payload_of(const std::string& sender, const Hint& hint) {
  std::string payload = header_of(sender, hint.all, hint.ended);
  if (hint.all) return payload;
  for (const std::string& queue : hint.ready) payload += "\n" + queue;
  if (payload.size() <= kPayloadMax) return payload;
  return header_of(sender, true, hint.ended);
}

// Nothing when this server sent it: PostgreSQL delivers a NOTIFY to its sender, too.
std::optional<Hint> hint_of(const std::string& own_id, std::string_view payload) {
  const std::vector<std::string_view> lines = lines_of(payload);
  if (lines.front() == own_id) return std::nullopt;
  const Hint anything{.all = true, .ended = true};
  Hint hint;
  auto line = lines.begin() + 1;
  for (; line != lines.end() && !line->empty(); ++line) {
    if (*line != "all" && *line != "ended") return anything;
    (*line == "all" ? hint.all : hint.ended) = true;
  }
  if (line == lines.end()) return anything;
  for (++line; line != lines.end(); ++line) hint.ready.emplace(*line);
  return hint;
}

}  // namespace

struct Notifier::NotifierThread {
  NotifierThread(std::string given_url, Callbacks given_callbacks, Logger given_logger)
      : url(std::move(given_url)), callbacks(std::move(given_callbacks)), logger(std::move(given_logger)) {}

  const std::string url;
  const Callbacks callbacks;
  const Logger logger;
  const std::string own_id = Uuid7Source::from_entropy().next(system_clock().now());

  std::atomic<bool> up = true;
  std::atomic<bool> expects_answers = false;
  std::atomic<bool> checks_expectation = false;  // the thread reads expects_answers by itself, at check_at
  std::atomic<bool> alone = false;               // no other server listens

  // Guarded by mutex.
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  Hint unsent;
  PgConnection* connection = nullptr;  // for wake()

  // Used by the thread only.
  SteadyTime last_ping{};
  std::optional<SteadyTime> check_at;  // when to read expects_answers again
  SteadyTime last_sent{};
  Backoff backoff;
  std::thread thread;

  void run();
  std::unique_ptr<PgConnection> connect();
  Result<void> serve(PgConnection& connected);
  Result<void> introduce(PgConnection& connected);
  Result<void> count_others(PgConnection& connected);
  Result<void> send(PgConnection& connected, const Hint& hint);
  Result<Rows> ask(PgConnection& connected, StatementCall call);
  Result<void> send_unsent(PgConnection& connected);
  Result<void> ping_if_due(PgConnection& connected);
  Result<void> listen(PgConnection& connected);
  void end_silence();
  void set_up(bool now_up, std::string_view why);
  bool is_stopping();
  [[nodiscard]] SteadyTime next_ping() const;
  void wake();  // REQUIRES: mutex
};

bool Notifier::NotifierThread::is_stopping() {
  const std::lock_guard lock(mutex);
  return stopping;
}

void Notifier::NotifierThread::wake() {
  if (connection != nullptr) connection->wake();
}

void Notifier::NotifierThread::set_up(bool now_up, std::string_view why) {
  if (up.exchange(now_up) == now_up) return;
  if (logger) {
    LogLine line(now_up ? "database is available again" : "database is unavailable");
    line.add("store", without_password(url));
    if (!now_up) line.add("error", why);
    logger(now_up ? LogLevel::info : LogLevel::warning, line.str());
  }
  if (callbacks.on_health) callbacks.on_health(now_up);
}

void Notifier::NotifierThread::run() {
  while (!is_stopping()) {
    const std::unique_ptr<PgConnection> connected = connect();
    if (connected == nullptr) {
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, std::min(backoff.failed(), kLongestReconnectPause), [this] { return stopping; });
      continue;
    }
    backoff.succeeded();
    {
      const std::lock_guard lock(mutex);
      connection = connected.get();
    }
    set_up(true, "");
    // Hints that other servers sent before LISTEN did not arrive here.
    if (callbacks.on_hint) callbacks.on_hint({.all = true, .ended = true});
    const Result<void> served = serve(*connected);
    end_silence();  // other servers may start before this one has reconnected
    const std::lock_guard lock(mutex);
    connection = nullptr;
  }
}

// Null when the database is down. Reports an outage after kAnswerWithin, before the attempt has ended.
std::unique_ptr<PgConnection> Notifier::NotifierThread::connect() {
  // libpq may need several seconds to fail, so this thread waits for it at most kAnswerWithin.
  auto opening = std::async(std::launch::async, [this] { return PgConnection::open(url); });
  if (opening.wait_for(kAnswerWithin) != std::future_status::ready) set_up(false, "It does not answer.");
  Result<std::unique_ptr<PgConnection>> opened = opening.get();
  if (!opened) {
    set_up(false, opened.error().message);
    return nullptr;
  }
  (*opened)->set_patience(kAnswerWithin);
  if (const auto introduced = introduce(**opened); !introduced) {
    set_up(false, introduced.error().message);
    return nullptr;
  }
  return std::move(*opened);
}

// LISTEN comes before the count: of two servers that start at once, at least one counts the other.
Result<void> Notifier::NotifierThread::introduce(PgConnection& connected) {
  if (auto listening = connected.script(std::string(sql::listen)); !listening) return listening;
  if (auto counted = count_others(connected); !counted || alone) return counted;
  return send(connected, {});
}

// Without rights on pg_stat_activity, assume that other servers exist.
Result<void> Notifier::NotifierThread::count_others(PgConnection& connected) {
  const auto others = ask(connected, {sql::ping});
  if (!others && connected.broken()) return others.error();
  last_ping = steady_now();
  if (others && others->number(0, 0) == 0) {
    alone = true;
  } else {
    end_silence();
  }
  return {};
}

// A hint that the database refuses is dropped: receivers poll anyway.
Result<void> Notifier::NotifierThread::send(PgConnection& connected, const Hint& hint) {
  last_sent = steady_now();
  const auto sent = ask(connected, {sql::notify, params_of(payload_of(own_id, hint))});
  return !sent && connected.broken() ? sent.error() : Result<void>();
}

// Returns when the notifier stops, or when the connection is lost.
Result<void> Notifier::NotifierThread::serve(PgConnection& connected) {
  while (!is_stopping()) {
    if (auto sent = send_unsent(connected); !sent) return sent;
    if (auto pinged = ping_if_due(connected); !pinged) return pinged;
    if (auto heard = listen(connected); !heard) return heard;
  }
  return {};
}

Result<Rows> Notifier::NotifierThread::ask(PgConnection& connected, StatementCall call) {
  const SteadyTime asked = steady_now();
  auto answered = connected.run_one(call.sql, std::move(call.params));
  // Only a database that does not answer in time is down. One that closed the connection may accept the next
  // one, and one that refused the statement has answered.
  const bool silent = !answered && connected.broken() && millis_since(asked) >= kAnswerWithin;
  if (silent) set_up(false, answered.error().message);
  return answered;
}

Result<void> Notifier::NotifierThread::send_unsent(PgConnection& connected) {
  if (steady_now() < last_sent + kBetweenHints) return {};
  Hint hint;
  {
    const std::lock_guard lock(mutex);
    std::swap(hint, unsent);
  }
  return is_empty(hint) || alone ? Result<void>() : send(connected, hint);
}

SteadyTime Notifier::NotifierThread::next_ping() const {
  const SteadyTime next = last_ping + kPingOtherwise;
  return check_at ? std::min(next, *check_at) : next;
}

// An answered command proves more than a ping, so short commands cause none: expects_answers is read once per
// kPingWhileExpecting, and only a command that is still under way then causes a ping.
Result<void> Notifier::NotifierThread::ping_if_due(PgConnection& connected) {
  const SteadyTime now = steady_now();
  bool ping_now = now >= last_ping + kPingOtherwise;
  if (check_at && now >= *check_at) {
    check_at.reset();
    // Cleared before expects_answers is read: a caller that sets it after the read wakes this thread.
    checks_expectation = false;
    if (expects_answers) checks_expectation = ping_now = true;
  }
  if (checks_expectation && !check_at) check_at = now + kPingWhileExpecting;
  return ping_now ? count_others(connected) : Result<void>();
}

Result<void> Notifier::NotifierThread::listen(PgConnection& connected) {
  SteadyTime until = next_ping();
  {
    const std::lock_guard lock(mutex);
    // A wake-up that arrived during a ping was consumed by it, so its reason is checked here.
    if (stopping || (checks_expectation && !check_at)) return {};
    if (!is_empty(unsent)) until = std::min(until, last_sent + kBetweenHints);
  }
  const auto patience = std::max(Millis(0), std::chrono::ceil<Millis>(until - steady_now()));
  const auto payloads = connected.notifications(patience);
  if (!payloads) return payloads.error();
  Hint heard;
  for (const std::string& payload : *payloads) {
    const auto hint = hint_of(own_id, payload);
    if (!hint) continue;
    end_silence();  // another server exists
    merge(heard, *hint);
  }
  if (!is_empty(heard) && callbacks.on_hint) callbacks.on_hint(heard);
  return {};
}

// Hints were dropped while this server was alone, so a server that has joined gets {all, ended} instead.
void Notifier::NotifierThread::end_silence() {
  if (!alone.exchange(false)) return;
  const std::lock_guard lock(mutex);
  merge(unsent, {.all = true, .ended = true});
}

Notifier::Notifier(std::string url, Callbacks callbacks, const Logger& logger)
    : thread_(std::make_unique<NotifierThread>(std::move(url), std::move(callbacks), logger)) {
  thread_->thread = std::thread([this] { thread_->run(); });
}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(thread_->mutex);
    thread_->stopping = true;
    thread_->wake();
  }
  thread_->stopped.notify_all();
  thread_->thread.join();
}

void Notifier::notify(const Hint& hint) {
  if (thread_->alone) return;
  const std::lock_guard lock(thread_->mutex);
  const bool first = is_empty(thread_->unsent);
  merge(thread_->unsent, hint);
  if (first) thread_->wake();
}

void Notifier::expect_answers(bool expected) {
  thread_->expects_answers = expected;
  // While checks_expectation is set, the thread reads the value without a wake-up.
  if (!expected || thread_->checks_expectation.exchange(true)) return;
  const std::lock_guard lock(thread_->mutex);
  thread_->wake();
}

bool Notifier::up() const { return thread_->up; }

}  // namespace eventq::postgres
