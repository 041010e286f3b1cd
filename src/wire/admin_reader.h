// admin_reader.h: reads the answers that eventq/admin.h is made of, for clients. The inverse of
// answer_json.h, queue_json.h and observe_json.h.
//
// Unknown members are ignored, because a newer server may send them.
//
// Errors: all functions return internal when a member is missing or has the wrong type.
#pragma once

#include <vector>

#include "base/json.h"
#include "eventq/admin.h"

namespace eventq::wire {

Result<EventList> read_event_list(const JsonValue& body);
Result<FailureList> read_failures(const JsonValue& body);
Result<WorkerList> read_workers(const JsonValue& body);
Result<Figures> read_figures(const JsonValue& body);

}  // namespace eventq::wire
