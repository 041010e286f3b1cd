// waiting_ends.cc: see waiting_ends.h.
#include "wait/waiting_ends.h"

namespace eventq {

std::string wait_key(EventId id) { return "e" + std::to_string(static_cast<std::int64_t>(id)); }
std::string wait_key(const WaitRequest::Correlated& correlation) { return "c" + correlation.id; }
std::string wait_key(const WaitRequest::Drained& queue) { return "q" + queue.queue; }

}  // namespace eventq
