// contest.h: one random life led three times on one clock: by the engine on the model store, by the
// engine on a real store, and over HTTP by a server on another such store. Their answers must be the same.
//
// Time stands still during an operation. After each move of the clock, what came due is applied
// everywhere before the next operation; whether a commit thread noticed by itself or was told makes no
// difference.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "against_model/generator.h"
#include "against_model/made_ids.h"
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

class Contest {
 public:
  explicit Contest(std::uint32_t seed);

  // One random operation, now and then after a move of the clock or a restart.
  void step();
  // Lets every wait end, and compares every event with its whole log.
  void finish();

  // Why the contest is over: the first difference, in words. Empty while there is none.
  [[nodiscard]] const std::string& verdict() const { return verdict_; }

  // What happened, to see that the dice fell on everything.
  struct Tally {
    int operations = 0;
    int restarts = 0;
    int parked = 0;    // claims that waited
    int served = 0;    // of those, claims that got something in the end
    int claimed = 0;   // events given
    int refused = 0;   // reports answered with a conflict
    int replayed = 0;  // publications answered under a known key
    int clashed = 0;   // publications refused for their key, a draining queue or a promise
    int full = 0;      // publications refused by a full queue
    int pressed = 0;   // publications answered with a request to slow down
    int replays = 0;   // events published once more
    int redriven = 0;
    int timeouts = 0;       // waits that came to nothing
    int completions = 0;    // on_complete events
    int holdups = 0;        // events seen to hold up their line
    int last_failures = 0;  // answered 400
    std::size_t events = 0;
    std::map<std::string, int> entries;  // in all logs, by action
  };
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  // An engine and the answers it gave.
  struct Contender {
    Mailbox mailbox;
    MadeIds made_ids;
    std::vector<std::string> checkpoints;  // ids of those made by request
    std::unique_ptr<Engine> engine;        // last: while it stops it still answers
  };
  // A claim that waits, in all three.
  struct Parked {
    Operation operation;
    std::uint64_t token;
    HttpClient client;
  };

  void open_real();
  [[nodiscard]] bool left_open(const Operation& operation) const;
  [[nodiscard]] std::vector<std::string> settled_by_chance(const Operation& operation) const;
  bool depends_on_past();
  void restart();
  void check_recovery();
  void move_clock(Millis by);
  void settle();
  void run(const Operation& operation);
  Oracle::Ids discover();
  void learn(const Operation& operation, const Answer& model, const Answer& real, const JsonLines& http);
  void serve_parked();
  void take_back_numbers();
  void compare(const Operation& operation, std::uint64_t token, HttpClient& client, bool waited);
  void count(const Operation& operation, const Answer& answer);
  void lose(const Operation& operation, const std::string& who, const std::string& how);
  Details look(EventId id);
  void finish_correlations();

  Options options() const;
  static std::string request_id(std::uint64_t token) { return "step-" + std::to_string(token); }

  const TestStore engine_store_;
  const TestStore http_store_;
  DrawnNumbers engine_numbers_{engine_store_};
  DrawnNumbers http_numbers_{http_store_};
  ManualClock clock_;
  Generator generator_;
  Contender model_;
  Contender real_;
  LocalServer server_;
  std::optional<HttpClient> client_;
  MadeIds http_made_ids_;
  std::vector<std::string> http_checkpoints_;
  EventId last_seen_{};
  Oracle oracle_;

  std::uint64_t last_token_ = 0;
  std::list<Parked> parked_;
  Tally tally_;
  std::string verdict_;
};

}  // namespace eventq
