// notifier.cc: see notifier.h.
//
// A hint is a NOTIFY with lines for a payload: who sent it, "all" and "ended" where they hold, behind an
// empty line the queues. Whatever reads otherwise (another program's, or a newer one's) means that anything
// may have changed.
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
constexpr Millis kLookWhileCaring{500};
// Whoever needs a silent database is told within 2 s.
static_assert(kLookWhileCaring + kAnswerWithin < Millis(2000));
constexpr Millis kLookOtherwise{10'000};
constexpr Millis kPauseLongest{1000};
constexpr Millis kBetweenHints{5};
constexpr std::size_t kPayloadMax = 7999;  // of PostgreSQL

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

// Nothing when we sent it.
std::optional<Hint> hint_of(const std::string& us, std::string_view payload) {
  const std::vector<std::string_view> lines = lines_of(payload);
  if (lines.front() == us) return std::nullopt;
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

struct Notifier::Impl {
  Impl(std::string given_url, Callbacks given_callbacks, Logger given_logger)
      : url(std::move(given_url)), callbacks(std::move(given_callbacks)), logger(std::move(given_logger)) {}

  const std::string url;
  const Callbacks callbacks;
  const Logger logger;
  const std::string us = Uuid7Source::from_entropy().next(system_clock().now());

  std::atomic<bool> up = true;
  std::atomic<bool> cares = false;
  std::atomic<bool> watches = false;  // the thread looks whether anybody cares
  std::atomic<bool> alone = false;    // no other server would hear

  // Guarded by mutex.
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  Hint untold;
  Connection* connection = nullptr;  // to be woken

  // Of the thread.
  SteadyTime last_look{};
  std::optional<SteadyTime> watch_at;  // when to see whether anybody cares still
  SteadyTime last_told{};
  Backoff backoff;
  std::thread thread;

  void run();
  std::unique_ptr<Connection> connect();
  Result<void> serve(Connection& connected);
  Result<void> introduce(Connection& connected);
  Result<void> count_others(Connection& connected);
  Result<void> send(Connection& connected, const Hint& hint);
  Result<Rows> ask(Connection& connected, Call call);
  Result<void> tell(Connection& connected);
  Result<void> look(Connection& connected);
  Result<void> listen(Connection& connected);
  void end_silence();
  void set_up(bool now_up, std::string_view why);
  bool is_stopping();
  [[nodiscard]] SteadyTime next_look() const;
  void wake();  // REQUIRES: mutex
};

bool Notifier::Impl::is_stopping() {
  const std::lock_guard lock(mutex);
  return stopping;
}

void Notifier::Impl::wake() {
  if (connection != nullptr) connection->wake();
}

void Notifier::Impl::set_up(bool now_up, std::string_view why) {
  if (up.exchange(now_up) == now_up) return;
  if (logger) {
    LogLine line(now_up ? "database is back" : "database is away");
    line.add("store", without_password(url));
    if (!now_up) line.add("error", why);
    logger(now_up ? LogLevel::info : LogLevel::warning, line.str());
  }
  if (callbacks.on_health) callbacks.on_health(now_up);
}

void Notifier::Impl::run() {
  while (!is_stopping()) {
    const std::unique_ptr<Connection> connected = connect();
    if (connected == nullptr) {
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, std::min(backoff.failed(), kPauseLongest), [this] { return stopping; });
      continue;
    }
    backoff.succeeded();
    {
      const std::lock_guard lock(mutex);
      connection = connected.get();
    }
    set_up(true, "");
    // What was told meanwhile was not heard.
    if (callbacks.on_hint) callbacks.on_hint({.all = true, .ended = true});
    const Result<void> served = serve(*connected);
    end_silence();  // others may come before we are back
    const std::lock_guard lock(mutex);
    connection = nullptr;
  }
}

// Null when the database is down, which is told as soon as it is clear.
std::unique_ptr<Connection> Notifier::Impl::connect() {
  // libpq may take seconds to give up.
  auto opening = std::async(std::launch::async, [this] { return Connection::open(url); });
  if (opening.wait_for(kAnswerWithin) != std::future_status::ready) set_up(false, "It does not answer.");
  Result<std::unique_ptr<Connection>> opened = opening.get();
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

// From now on the others are heard, and know of us. Of two who come at once at least one sees the other.
Result<void> Notifier::Impl::introduce(Connection& connected) {
  if (auto listening = connected.script(std::string(sql::listen)); !listening) return listening;
  if (auto counted = count_others(connected); !counted || alone) return counted;
  return send(connected, {});
}

// Who may not be told how many there are is not alone.
Result<void> Notifier::Impl::count_others(Connection& connected) {
  const auto others = ask(connected, {sql::ping});
  if (!others && connected.broken()) return others.error();
  last_look = steady_now();
  if (others && others->number(0, 0) == 0) {
    alone = true;
  } else {
    end_silence();
  }
  return {};
}

// A hint that is refused is lost, which a hint may be.
Result<void> Notifier::Impl::send(Connection& connected, const Hint& hint) {
  last_told = steady_now();
  const auto sent = ask(connected, {sql::notify, Params().add(payload_of(us, hint))});
  return !sent && connected.broken() ? sent.error() : Result<void>();
}

// Until the end, or until the connection is lost.
Result<void> Notifier::Impl::serve(Connection& connected) {
  while (!is_stopping()) {
    if (auto told = tell(connected); !told) return told;
    if (auto looked = look(connected); !looked) return looked;
    if (auto heard = listen(connected); !heard) return heard;
  }
  return {};
}

Result<Rows> Notifier::Impl::ask(Connection& connected, Call call) {
  const SteadyTime asked = steady_now();
  auto answered = connected.run_one(call.sql, std::move(call.params));
  // One that is silent is down; one that closed the connection may take the next; one that refuses answers.
  const bool silent = !answered && connected.broken() && millis_since(asked) >= kAnswerWithin;
  if (silent) set_up(false, answered.error().message);
  return answered;
}

Result<void> Notifier::Impl::tell(Connection& connected) {
  if (steady_now() < last_told + kBetweenHints) return {};
  Hint hint;
  {
    const std::lock_guard lock(mutex);
    std::swap(hint, untold);
  }
  return is_empty(hint) || alone ? Result<void>() : send(connected, hint);
}

SteadyTime Notifier::Impl::next_look() const {
  const SteadyTime next = last_look + kLookOtherwise;
  return watch_at ? std::min(next, *watch_at) : next;
}

// A command that was under way and is answered tells more than a ping could: only what takes long leads to
// one.
Result<void> Notifier::Impl::look(Connection& connected) {
  const SteadyTime now = steady_now();
  bool ask_now = now >= last_look + kLookOtherwise;
  if (watch_at && now >= *watch_at) {
    watch_at.reset();
    watches = false;  // before the look at `cares`: whoever begins to care from now on wakes us
    if (cares) watches = ask_now = true;
  }
  if (watches && !watch_at) watch_at = now + kLookWhileCaring;
  return ask_now ? count_others(connected) : Result<void>();
}

Result<void> Notifier::Impl::listen(Connection& connected) {
  SteadyTime until = next_look();
  {
    const std::lock_guard lock(mutex);
    if (stopping || (watches && !watch_at)) return {};  // whose wake came while a ping was under way
    if (!is_empty(untold)) until = std::min(until, last_told + kBetweenHints);
  }
  const auto patience = std::max(Millis(0), std::chrono::ceil<Millis>(until - steady_now()));
  const auto payloads = connected.notifications(patience);
  if (!payloads) return payloads.error();
  Hint heard;
  for (const std::string& payload : *payloads) {
    const auto hint = hint_of(us, payload);
    if (!hint) continue;
    end_silence();  // somebody is there
    merge(heard, *hint);
  }
  if (!is_empty(heard) && callbacks.on_hint) callbacks.on_hint(heard);
  return {};
}

// Whoever comes has not heard what was not told while we were alone.
void Notifier::Impl::end_silence() {
  if (!alone.exchange(false)) return;
  const std::lock_guard lock(mutex);
  merge(untold, {.all = true, .ended = true});
}

Notifier::Notifier(std::string url, Callbacks callbacks, const Logger& logger)
    : impl_(std::make_unique<Impl>(std::move(url), std::move(callbacks), logger)) {
  impl_->thread = std::thread([this] { impl_->run(); });
}

Notifier::~Notifier() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
    impl_->wake();
  }
  impl_->stopped.notify_all();
  impl_->thread.join();
}

void Notifier::tell(const Hint& hint) {
  if (impl_->alone) return;
  const std::lock_guard lock(impl_->mutex);
  const bool first = is_empty(impl_->untold);
  merge(impl_->untold, hint);
  if (first) impl_->wake();
}

void Notifier::care(bool anybody) {
  impl_->cares = anybody;
  if (!anybody || impl_->watches.exchange(true)) return;
  const std::lock_guard lock(impl_->mutex);
  impl_->wake();
}

bool Notifier::up() const { return impl_->up; }

}  // namespace eventq::postgres
