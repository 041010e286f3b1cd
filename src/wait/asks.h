// asks.h: what workers ask for and when they last did, and which of it is to be stored.
//
// The core uses it on a SQLite file, the router on shared databases. One write per request would be too many:
// a request is stored when it changes what others see of the worker, and else once in a while.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/metrics.h"

namespace eventq {

class Asks {
 public:
  // A worker's request is stored again `stale_after` / 3 after the last time, but at most once per second.
  explicit Asks(Millis stale_after)
      : stale_after_(stale_after), refresh_(std::max(stale_after / 3, kRefreshMin)) {}

  // What note() asks for.
  enum class ToStore : std::uint8_t {
    nothing,
    soon,  // the stored time is too old for a worker that goes on asking
    // The worker is new, asks for something new, or was not active as far as the store knows. Once per worker
    // and refresh interval, else soon: a worker may use very many selectors in turn.
    at_once,
  };
  ToStore note(const std::string& worker_id, const Selector& selector, TimePoint now);

  // The worker asks for nothing any more.
  void sign_off(const std::string& worker_id) { workers_.erase(worker_id); }

  // False after sign_off(), until the worker asks again.
  [[nodiscard]] bool contains(const std::string& worker_id) const { return workers_.contains(worker_id); }

  // As read from the store.
  void recall(const std::vector<WorkerAsk>& asks);

  [[nodiscard]] std::vector<WorkerAsk> all() const;

  // The requests since they were last stored that note() asked to store. note_stored() marks them as stored.
  [[nodiscard]] std::vector<WorkerAsk> to_store() const;
  void note_stored();

  // Forgets the requests from before that time.
  void drop(TimePoint before);

 private:
  struct Ask {
    Selector selector;
    TimePoint asked_at;
    TimePoint stored_at;  // the stored asked_at
    bool to_store = false;
  };
  struct AskingWorker {
    std::vector<Ask> asks;
    TimePoint next_at_once;
  };

  // Bounds on memory. A new worker beyond the first bound is not noted; a new selector of a worker replaces
  // the one that was not used for the longest time.
  static constexpr std::size_t kWorkersMax = 10'000;
  static constexpr std::size_t kSelectorsMax = 16;
  static constexpr Millis kRefreshMin{1000};
  static constexpr std::chrono::minutes kKept{1};  // while there is no room for a new worker

  Ask& find(std::vector<Ask>& asks, const Selector& selector) const;

  // Set in the constructor, never changed.
  const Millis stale_after_;
  const Millis refresh_;

  std::map<std::string, AskingWorker> workers_;
  std::set<std::string> unstored_;  // workers with an Ask to store; some may be forgotten
  TimePoint next_drop_;             // a search for room may run again
};

}  // namespace eventq
