// core_driver.h: runs a Core batch by batch, on a clock that only the test moves.
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

// `real` is the store of test_store.h, `shared` a database for several drivers.
enum class StoreKind : std::uint8_t { memory, real, shared };

inline std::string name_of_store(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param == StoreKind::memory ? "Memory" : "Real";
}

// The defaults of Options.
inline const Policy kPolicy{
    .retry = {}, .lease = std::chrono::seconds(60), .max_retries = 3, .max_attempts = 20};

// Names a command, to find its answer.
enum class Token : std::uint64_t {};

class CoreDriver {
 public:
  explicit CoreDriver(StoreKind kind, const Policy& policy = kPolicy)
      : setup_(std::make_shared<SharedSetup>()) {
    if (kind == StoreKind::real) setup_->store.emplace();
    if (kind == StoreKind::shared) setup_->database.emplace();
    open({.policy = policy});
  }
  // A second server on the database of `first`.
  explicit CoreDriver(const CoreDriver* first, CoreOptions options = {.policy = kPolicy})
      : setup_(first->setup_) {
    open(std::move(options));
  }

  ManualClock& clock() { return setup_->clock; }
  WrappedStore& store() { return *store_; }
  Core& core() { return *core_; }

  // Opens another Core on the same store, as after a restart. All waits are lost.
  void restart(const Policy& policy) {
    core_.reset();
    if (setup_->store || setup_->database) store_.reset();
    open({.policy = policy});
  }

  // Runs the commands as one batch. Returns their tokens in the same order.
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

  // Runs maintenance at the time of the clock.
  void run_once() { keep(core_->run({})); }
  void end_all_waits() { keep(core_->end_all_waits()); }
  void cancel_wait(Token token) { core_->cancel_wait(reply_to(token), clock().now()); }

  // Expects next_attention() to be `when`. On a shared store it may be earlier, because the Core polls for
  // due events of other servers every five seconds.
  void expect_attention(std::optional<TimePoint> when) {
    if (!store_->shared()) {
      EXPECT_EQ(core_->next_attention(), when);
      return;
    }
    const TimePoint next_poll = core_->time() + std::chrono::seconds(5);
    EXPECT_LE(core_->next_attention(), std::min(when.value_or(next_poll), next_poll));
  }

  [[nodiscard]] bool answered(Token token) const { return answers_.contains(token); }

  // REQUIRES: answered(token).
  Answer& answer(Token token) {
    if (!answered(token))
      ADD_FAILURE() << "command " << static_cast<std::uint64_t>(token) << " has no answer";
    return answers_[token];
  }
  std::vector<Claim>& claims(Token token) { return answer(token).claims; }

  // Publishes one event in a batch of its own.
  EventId publish(NewEvent event) {
    return (*answer(run(eventq::publish(std::move(event)))).published)->events.at(0).id;
  }
  // Claims the next event with this tag.
  Lease claim(const std::string& tag, const std::string& worker_id) {
    const Claim claim = claims(run(eventq::claim({tag}, worker_id))).at(0);
    return {claim.event.id, worker_id, claim.event.attempts};
  }

  // Reads of committed rows.
  Event event(EventId id) { return store_->reader().value()->get(id).value().value(); }
  std::vector<LogEntry> log(EventId id) { return store_->reader().value()->log(id).value(); }
  std::int64_t count(const ListFilter& filter = {}) { return store_->reader().value()->list(filter)->total; }

 private:
  class UnusedSink final : public AnswerSink {
    void deliver(std::vector<Envelope<Answer>>) override {}
  };

  // State that all drivers of a test share.
  struct SharedSetup {
    ManualClock clock{kStart};
    std::optional<TestStore> store;
    std::optional<TestDatabase> database;
    unsigned cores = 0;  // opened so far
  };

  std::unique_ptr<Store> open_store() {
    if (setup_->database) return postgres::make_store(setup_->database->url(), {}, &clock());
    if (!setup_->store) return memory::open_store(clock());
    if (tests_postgres()) return postgres::make_store(setup_->store->url(), {}, &clock());
    return sqlite::open_store(setup_->store->path(), clock()).value();
  }

  void open(CoreOptions options) {
    if (!store_) store_ = std::make_unique<WrappedStore>(open_store());
    core_ = std::make_unique<Core>(*store_, std::move(options), Uuid7Source(++setup_->cores));
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

  const std::shared_ptr<SharedSetup> setup_;
  UnusedSink sink_;
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
