// request_writer.h: what workers send, as request_json.h reads it. For publishers see new_event_json.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "eventq/clock.h"
#include "eventq/event.h"
#include "eventq/queue.h"

namespace eventq::wire {

using ReportContent = decltype(eventq::Report::what);

// "complete", "fail" or "release": the last part of the path of a report on one event.
std::string_view path_of(const ReportContent& what);
// The body of such a report.
std::string write_report(const Lease& lease, const ReportContent& what);
// The body of a heartbeat.
std::string write_heartbeat(const Lease& lease);

// The body of POST /events/next. The results come in the order completed, failed, released, each in the
// order of the request.
std::string write_next(const eventq::NextRequest& request, std::string_view worker_id);

// Times are sent in whole seconds: rounded up, or down when they are negative, which is refused.
[[nodiscard]] std::int64_t whole_seconds(Millis duration);

}  // namespace eventq::wire
