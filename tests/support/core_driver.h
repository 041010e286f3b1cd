// core_driver.h: a Core driven by hand, batch by batch, on a clock that stands still.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/core.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/commands.h"
#include "support/manual_clock.h"
#include "support/test_store.h"
#include "support/times.h"
#include "support/wrapped_store.h"

namespace eventq {

// `real` is the one of test_store.h, `shared` a database for several drivers.
enum class StoreKind : std::uint8_t { memory, real, shared };

inline std::string name_of_store(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Real";
}

// What Options has by default.
inline const Policy kPolicy{
    .retry = {}, .lease = std::chrono::seconds(60), .max_retries = 3, .max_attempts = 20};

// The name under which a command's answer is found.
enum class Token : std::uint64_t {};

class CoreDriver {
 public:
  explicit CoreDriver(StoreKind kind, const Policy& policy = kPolicy) : ground_(std::make_shared<Ground>()) {
    if (kind == StoreKind::real) ground_->store.emplace();
    if (kind == StoreKind::shared) ground_->database.emplace();
    open({.policy = policy});
  }
  // Another server on the database of the first.
  explicit CoreDriver(const CoreDriver* first, CoreOptions options = {.policy = kPolicy})
      : ground_(first->ground_) {
    open(std::move(options));
  }

  ManualClock& clock() { return ground_->clock; }
  WrappedStore& store() { return *store_; }
  Core& core() { return *core_; }

  // Another Core on what is stored, as after a restart. Nobody waits any more.
  void restart(const Policy& policy) {
    core_.reset();
    if (ground_->store || ground_->database) store_.reset();
    open({.policy = policy});
  }

  // Runs commands as one batch; their tokens are in the same order.
  template <typename... Commands>
  std::array<Token, sizeof...(Commands)> run_together(Commands... commands) {
    std::vector<Envelope<Command>> requests;
    std::array<Token, sizeof...(Commands)> tokens{};
    const auto add = [&](Command&& command) {
      const Token token{++last_token_};
      tokens[requests.size()] = token;
      requests.push_back({reply_to(token), std::move(command)});
    };
    (add(std::move(commands)), ...);
    keep(core_->run(std::move(requests)));
    return tokens;
  }
  Token run(Command command) { return run_together(std::move(command)).front(); }

  // Maintenance at the clock's time.
  void run_once() { keep(core_->run_once(clock().now())); }
  void dismiss_waiters() { keep(core_->dismiss_waiters()); }
  void forget(Token token) { core_->forget(reply_to(token)); }

  // Attention is needed then; or at the next look at what others did, on a store that they share.
  void expect_attention(std::optional<TimePoint> when) {
    if (!store_->shared()) {
      EXPECT_EQ(core_->next_attention(), when);
      return;
    }
    const TimePoint look = core_->time() + std::chrono::seconds(5);
    EXPECT_LE(core_->next_attention(), std::min(when.value_or(look), look));
  }

  [[nodiscard]] bool answered(Token token) const { return answers_.contains(token); }

  // REQUIRES: answered(token).
  Answer& answer(Token token) {
    if (!answered(token))
      ADD_FAILURE() << "command " << static_cast<std::uint64_t>(token) << " has no answer";
    return answers_[token];
  }
  std::vector<Claim>& claims(Token token) { return answer(token).claims; }

  // A single event's publication, in a batch of its own.
  EventId publish(NewEvent event) {
    return (*answer(run(eventq::publish(std::move(event)))).published)->events.at(0).id;
  }
  // The lease on the next event with this tag.
  Lease claim(const std::string& tag, const std::string& worker_id) {
    const Claim claim = claims(run(eventq::claim({tag}, worker_id))).at(0);
    return {claim.event.id, worker_id, claim.event.attempts};
  }

  // What is committed.
  Event event(EventId id) { return store_->reader().value()->get(id).value().value(); }
  std::vector<LogEntry> log(EventId id) { return store_->reader().value()->log(id).value(); }
  std::int64_t count(const ListFilter& filter = {}) { return store_->reader().value()->list(filter)->total; }

 private:
  class Nowhere final : public AnswerSink {
    void deliver(std::vector<Envelope<Answer>>) override {}
  };

  // What is under all servers of a test.
  struct Ground {
    ManualClock clock{kStart};
    std::optional<TestStore> store;
    std::optional<TestDatabase> database;
    unsigned cores = 0;  // opened so far
  };

  std::unique_ptr<Store> open_store() {
    if (ground_->database) return postgres::make_store(ground_->database->url(), {}, &clock());
    if (!ground_->store) return memory::open_store(clock());
    if (tests_postgres()) return postgres::make_store(ground_->store->url(), {}, &clock());
    return sqlite::open_store(ground_->store->path(), clock()).value();
  }

  void open(CoreOptions options) {
    if (!store_) store_ = std::make_unique<WrappedStore>(open_store());
    core_ = std::make_unique<Core>(*store_, std::move(options), Uuid7Source(++ground_->cores));
    const auto recovered = core_->recover();
    EXPECT_TRUE(recovered) << recovered.error().message;
  }

  ReplyTo reply_to(Token token) { return {&sink_, static_cast<std::uint64_t>(token)}; }

  void keep(std::vector<Envelope<Answer>> answers) {
    for (Envelope<Answer>& answer : answers) {
      const bool first = answers_.emplace(Token{answer.reply_to.token}, std::move(answer.content)).second;
      EXPECT_TRUE(first) << "command " << answer.reply_to.token << " was answered twice";
    }
  }

  const std::shared_ptr<Ground> ground_;
  Nowhere sink_;
  std::unique_ptr<WrappedStore> store_;
  std::unique_ptr<Core> core_;
  std::uint64_t last_token_ = 0;
  std::map<Token, Answer> answers_;
};

// A test that every store must pass.
class CoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  ManualClock& clock() { return driver.clock(); }

  CoreDriver driver{GetParam()};
};

}  // namespace eventq
