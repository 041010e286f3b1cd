// handler_report.h: from what the handlers of one event came to, to the one report on it.
//
// The gravest result decides; no message is lost, except what is over a maximum of limits.h.
//
// Pure: no I/O, no clock.
#pragma once

#include <vector>

#include "eventq/clock.h"
#include "eventq/queue.h"
#include "eventq/worker.h"

namespace eventq {

// What `handled`, in the order in which the handlers ran, comes to after `took`. Messages become valid UTF-8
// and are cut to their maximum. Without any result the event is failed: nobody felt responsible.
[[nodiscard]] decltype(Report::what) handler_report(const std::vector<Handled>& handled, Millis took);

}  // namespace eventq
