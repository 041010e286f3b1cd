// retention.h: removes ended events whose retention time is over, a few at a time.
//
// The folder retention/ holds the rule's execution: retention.h finds and removes expired events,
// retention_thread.h repeats that on a thread, archive_files.h writes the events to files first if an archive
// is configured. How long an event stays is decided elsewhere: retention() in model/policy.h.
//
// One step passes through it like this: Retention::step() reads expired ids with a Reader, appends the events
// to the archive, and sends one Removal command to the engine, which deletes them in a commit of the Core.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/command.h"
#include "eventq/clock.h"
#include "eventq/error.h"
#include "model/policy.h"
#include "model/query.h"
#include "retention/archive_files.h"
#include "store/store.h"

namespace eventq {

// An event can be in the archive twice: if it is reset after step() archived it and before the engine removes
// it, the removal is refused, and the event is archived again after it ends again.
//
// Threads: one at a time, because the reader belongs to that thread.
class Retention {
 public:
  // Events in one step: few enough that the commands queued behind the removal are answered soon.
  static constexpr std::size_t kStep = 200;

  using CallEngine = std::function<Answer(Command)>;  // as Engine::call()

  // Without `files`, events are deleted and not archived. `defaults` are for settings that a queue does not
  // have. REQUIRES: `reader` and `files` outlive this object.
  Retention(Reader& reader, CallEngine call, ArchiveFiles* files, const Policy& defaults);

  // Removes up to kStep expired events and returns how many. Starts with the queue behind the one that filled
  // the last step, so that a large queue does not starve the others. A queue whose settings cannot be read
  // is skipped; its error is returned if no other queue had expired events.
  // Errors: of the reader, the files and the engine. A later step tries those events again.
  Result<std::size_t> step(TimePoint now);

 private:
  struct ExpiredEvents {
    std::vector<EventId> events;
    std::optional<Error> fault;  // of a queue that was skipped
  };
  Result<void> settle();
  Result<ExpiredEvents> find(TimePoint now);
  Result<void> find_in(const QueueDocument& queue, TimePoint now, ExpiredEvents& found);
  Result<void> archive(Removal& removal, TimePoint now);
  Result<std::size_t> remove(Removal removal);

  Reader& reader_;
  const CallEngine call_;
  ArchiveFiles* const files_;
  const Policy defaults_;
  std::string last_queue_;  // whose events filled the last step; empty: the last step reached every queue
  bool in_doubt_ = false;   // a commit's outcome is unknown, so the store may or may not have the file's size
};

}  // namespace eventq
