// handler_report.h: combines the results of an event's handlers into the report on the event.
//
// The most severe result decides. Every message is kept, unless it exceeds a maximum of limits.h. Of several
// results of events, or details, the last is kept.
//
// Pure: no I/O, no clock.
#pragma once

#include <vector>

#include "eventq/clock.h"
#include "eventq/queue.h"
#include "eventq/worker.h"

namespace eventq {

// The report for `handled`, the results in the order in which the handlers ran, which took `took`. Messages
// are made valid UTF-8 and cut to their maximum; of a detail the end is kept. A result that the queue would
// refuse makes the report a permanent failure. Without any result the report is a failure, because no handler
// matched the event.
[[nodiscard]] decltype(Report::what) handler_report(const std::vector<Handled>& handled, Millis took);

}  // namespace eventq
