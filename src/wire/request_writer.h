// request_writer.h: writes the requests of workers, which request_json.h reads. For publishers see
// new_event_json.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "eventq/admin.h"
#include "eventq/clock.h"
#include "eventq/event.h"
#include "eventq/queue.h"

namespace eventq::wire {

// What a report says: a completion, a failure or a return.
using ReportContent = decltype(eventq::Report::what);

// "complete", "fail" or "release": the last part of the path of a report on one event.
std::string_view path_of(const ReportContent& what);
// The body of such a report.
std::string write_report(const Lease& lease, const ReportContent& what);
// The body of a heartbeat.
std::string write_heartbeat(const Lease& lease);

// The body of a change to a queue that a person asks for.
std::string write_actor(const Actor& actor);

// The body of POST /events/next. Reports are written in three lists, and the server returns their results in
// the order completed, failed, released; within a list in the order of the request.
std::string write_next(const eventq::NextRequest& request, std::string_view worker_id);

// Durations are sent in whole seconds, rounded up. A negative one is rounded down, so that the server refuses
// it instead of reading 0.
[[nodiscard]] std::int64_t whole_seconds(Millis duration);

}  // namespace eventq::wire
