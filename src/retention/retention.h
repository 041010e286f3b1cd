// retention.h: ended events leave when their time is over, a few at a time.
//
// How long they stay is the policy of their queue; see retention() in model/policy.h. With an
// archive they are written there first; see archive_files.h.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "command/command.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "eventq/options.h"
#include "model/policy.h"
#include "model/query.h"
#include "retention/archive_files.h"
#include "store/store.h"

namespace eventq {

// One step after the other. An event may be archived a second time: when it was made live again
// between its reading and its removal, and ended once more.
//
// Threads: one at a time, which is also the reader's.
class Retention {
 public:
  // Events in one step: few enough for the commands behind it to be answered soon.
  static constexpr std::size_t kStep = 200;

  using CallEngine = std::function<Answer(Command)>;  // as Engine::call()
  using PolicyOf = std::function<Result<Policy>(const QueueRow&)>;

  // Without `files` events leave for nowhere. What is referred to must outlive this.
  Retention(Reader& reader, CallEngine call, ArchiveFiles* files, PolicyOf policy_of);

  // Removes up to kStep events whose time is over, and returns how many. Each queue has its turn. A
  // queue with a policy that cannot be read is left out; its error is returned when there was nothing else to
  // do. Errors: of the reader, the files and the engine; those events are tried again in a later step.
  Result<std::size_t> step(TimePoint now);

 private:
  struct Found {
    std::vector<EventId> events;
    std::optional<Error> fault;  // of a queue that was left out
  };
  Result<void> settle();
  Result<Found> find(TimePoint now);
  Result<void> find_in(const QueueDocument& queue, TimePoint now, Found& found);
  Result<void> archive(Removal& removal, TimePoint now);
  Result<std::size_t> remove(Removal removal);

  Reader& reader_;
  const CallEngine call_;
  ArchiveFiles* const files_;
  const PolicyOf policy_of_;
  std::string last_queue_;  // whose events filled the last step; empty: all had their turn
  bool in_doubt_ = false;   // the store could not say whether it noted the size of a file
};

// Policies as queues have them in the store. Belongs to one thread.
Retention::PolicyOf stored_policies(const Policy& defaults);

// The thread that takes the steps.
//
// Threads: every method may be called from any thread, stop() not from two at once.
class RetentionThread {
 public:
  using Step = std::function<Result<std::size_t>(TimePoint now)>;  // as Retirement::step()

  struct Pauses {
    Millis breath{5};   // between two steps, so that others have their turn
    Millis look{1000};  // after a step with nothing to do, or one that failed
  };

  RetentionThread(Step step, const Clock& clock, const Logger& logger)
      : RetentionThread(std::move(step), clock, logger, {}) {}
  RetentionThread(Step step, const Clock& clock, const Logger& logger, Pauses pauses);
  ~RetentionThread();  // stops
  RetentionThread(const RetentionThread&) = delete;
  RetentionThread& operator=(const RetentionThread&) = delete;

  // Looks at the clock again, unless the last step failed.
  void poke();

  // Waits for the step under way, then ends the thread. Safe twice.
  void stop();

 private:
  enum class Last : std::uint8_t { removed, idle, failed };
  void loop();
  Last take_step();

  // Set in the constructor, never changed.
  const Step step_;  // called on the thread only
  const Clock& clock_;
  const Logger& logger_;
  const Pauses pauses_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool poked_ = false;
  bool stopping_ = false;

  std::thread thread_;
};

}  // namespace eventq
