// comparison.h: runs one random sequence of operations on three systems with one clock. They are the engine
// on the model store, the engine on a real store, and a server over HTTP on another real store. Their answers
// must be equal.
//
// The clock stands still during an operation. After each move of the clock, all due work is done in every
// system before the next operation, so it does not matter which thread noticed it first.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "against_model/generated_ids.h"
#include "against_model/generator.h"
#include "against_model/operation.h"
#include "against_model/oracle.h"
#include "against_model/views.h"
#include "engine/engine.h"
#include "support/drawn_numbers.h"
#include "support/http_client.h"
#include "support/local_server.h"
#include "support/mailbox.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {

class Comparison {
 public:
  explicit Comparison(std::uint32_t seed);

  // One random operation, now and then after a move of the clock or a restart.
  void step();
  // Lets every wait end, and compares every event with its complete log.
  void finish();

  // The first difference, which ends the comparison. Empty while there is none.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  // Counts of what happened, so that a test can check that the random operations reached every case.
  struct Tally {
    int operations = 0;
    int restarts = 0;
    int parked = 0;    // claims that waited
    int served = 0;    // waiting claims that were answered with an event
    int claimed = 0;   // events claimed
    int refused = 0;   // reports answered with a conflict
    int replayed = 0;  // publications answered from their key
    int conflicted =
        0;            // publications refused because of the key, a draining queue or an existing on_complete
    int full = 0;     // publications refused by a full queue
    int slowed = 0;   // publications answered with a request to slow down
    int replays = 0;  // events published once more
    int retried = 0;
    int timeouts = 0;       // waits that timed out
    int completions = 0;    // on_complete events
    int blocked_lines = 0;  // failed events that blocked their line
    int last_failures = 0;  // answered 400
    std::size_t events = 0;
    std::map<std::string, int> entries;  // in all logs, by action
  };
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  // An engine and the answers it gave.
  struct ComparedEngine {
    Mailbox mailbox;
    GeneratedIds generated_ids;
    std::vector<std::string> checkpoints;  // ids of the checkpoints made by request
    std::unique_ptr<Engine> engine;        // last, because it still delivers answers while it stops
  };
  // A claim that waits in all three systems.
  struct Parked {
    Operation operation;
    std::uint64_t token;
    HttpClient client;
  };

  void open_real();
  [[nodiscard]] bool may_differ(const Operation& operation) const;
  [[nodiscard]] std::vector<std::string> timing_dependent_fields(const Operation& operation) const;
  bool backpressure_depends_on_history();
  void restart();
  void check_recovery();
  void move_clock(Millis by);
  void settle();
  void run(const Operation& operation);
  Oracle::Ids list_new_events();
  void record_ids(const Operation& operation, const Answer& model, const Answer& real, const JsonLines& http);
  void serve_parked();
  void close_number_gaps();
  void compare(const Operation& operation, std::uint64_t token, HttpClient& client, bool waited);
  void count(const Operation& operation, const Answer& answer);
  void fail(const Operation& operation, const std::string& system, const std::string& problem);
  Details read_event(EventId id);
  void finish_correlations();

  Options options() const;
  static std::string request_id(std::uint64_t token) { return "step-" + std::to_string(token); }

  const TestStore engine_store_;
  const TestStore http_store_;
  DrawnNumbers engine_numbers_{engine_store_};
  DrawnNumbers http_numbers_{http_store_};
  ManualClock clock_;
  Generator generator_;
  ComparedEngine model_;
  ComparedEngine real_;
  LocalServer server_;
  std::optional<HttpClient> client_;
  GeneratedIds http_generated_ids_;
  std::vector<std::string> http_checkpoints_;
  EventId last_seen_{};
  Oracle oracle_;

  std::uint64_t last_token_ = 0;
  std::list<Parked> parked_;
  Tally tally_;
  std::string failure_;
};

}  // namespace eventq
