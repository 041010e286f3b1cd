// core.h: the queue itself. Many callers' commands go in, one transaction is made of
// them, and each caller's answer comes out after the commit that holds it.
//
// The commands of a batch are concurrent, so it may order them: first what came due,
// then publications, then changes, then waiting and new claims, so that a waiting
// worker is served inside the transaction of the publication that wakes it.
//
// No threads, no clock, no randomness of its own: time comes from the store, ids from
// the source given, and whoever calls run() decides when. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "queue/command.h"
#include "queue/waiters.h"
#include "store/store.h"

namespace eventq {

struct Request {
  Origin origin;
  Command command;
};

struct Addressed {
  Origin origin;
  Answer answer;
};

class Core {
 public:
  Core(Store& store, const Policy& policy, Uuid7Source ids);

  // Applies all of them in one transaction. Returns the answers that are due now: theirs,
  // except of claims that wait, and those of waiters that were served or whose time is over.
  // When the transaction fails, each of its requests gets the error and no waiter notices; when
  // none can be begun, waiters get the error, too.
  std::vector<Addressed> run(std::vector<Request> requests);

  // Maintenance: whatever is due at `now` becomes ready and wakes its waiters, waits
  // that are over end, old keys go.
  std::vector<Addressed> run_once(std::optional<TimePoint> now = std::nullopt);

  // A waiter went away: it must not be given an event any more.
  void forget(const Origin& origin) { waiters_.forget(origin); }

  // Answers every waiter with nothing.
  std::vector<Addressed> dismiss_waiters();

  // What the last transaction failed of; nothing when it was committed.
  [[nodiscard]] const std::optional<Error>& last_error() const { return last_error_; }

  // When run_once() has something to do.
  [[nodiscard]] std::optional<TimePoint> next_attention() const;

 private:
  struct Batch;
  struct Ready;

  Result<void> apply(Batch& batch, std::vector<Request>& requests);
  Result<void> promote(Batch& batch);
  Result<void> publish(Batch& batch, Publication& publication, Answer& answer);
  Result<std::optional<Result<Published>>> replay(Batch& batch, const Publication& publication);
  Result<void> admit_all(Batch& batch, Publication& publication, Published& published);
  Result<void> change_all(Batch& batch, std::vector<Request>& requests);
  Result<void> change(Batch& batch, Stored& stored, const Change& change, Answer& answer);
  Result<void> wake(Batch& batch);
  Result<std::vector<Claim>> claim(Batch& batch, const ClaimRequest& request);
  Result<void> explain(Batch& batch, EventId id, Answer& answer);
  std::vector<Addressed> settle(Batch& batch, std::vector<Request>& requests);
  std::vector<Addressed> refuse(Batch& batch, std::vector<Request>& requests, const Error& error);
  void end_waits(TimePoint now, std::vector<Addressed>& answers);
  void note_demand(const ClaimRequest& request, TimePoint now);
  [[nodiscard]] Demand demand_for(const Event& event) const;

  // Set in the constructor, never changed.
  Store& store_;
  const Policy policy_;

  Uuid7Source ids_;
  Waiters waiters_;
  std::map<std::pair<std::string, std::string>, TimePoint> last_poll_;  // by queue and tag
  std::optional<TimePoint> next_due_ = TimePoint();                     // unknown: look at once
  TimePoint next_purge_;
  std::optional<Error> last_error_;
};

}  // namespace eventq
