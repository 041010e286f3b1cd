// admin_calls.h: the calls behind eventq/admin.h. The embedded queue and the client implement them beside
// Queue.
//
// Threads: as Queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "eventq/admin.h"

namespace eventq {

// The changes of Admin, each to one event or to one queue.
enum class EventIntervention : std::uint8_t { cancel, retry };
enum class QueueIntervention : std::uint8_t { pause, resume };

class AdminCalls {
 public:
  virtual ~AdminCalls() = default;

  virtual Result<EventList> list_events(const EventQuery& query) = 0;
  virtual Result<LogEntry> intervene(EventId id, EventIntervention what, const Actor& actor) = 0;
  virtual Result<void> intervene(const std::string& queue, QueueIntervention what, const Actor& actor) = 0;
  // An empty `queue` is every queue.
  virtual Result<FailureList> list_failures(const std::string& queue, std::size_t limit) = 0;
  virtual Result<WorkerList> list_workers() = 0;
  virtual Result<Figures> read_figures() = 0;
};

}  // namespace eventq
