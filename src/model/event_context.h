// event_context.h: stores the context of an event in its `attributes`. See eventq/event_context.h.
//
// Most events have no context, and their `attributes` is empty. A context is stored as the members
// `traceparent`, `tracestate` and `published_by` of that object. The first two are the names that CloudEvents
// uses, so the attributes of a CloudEvent may have them already.
#pragma once

#include <string>
#include <string_view>

#include "eventq/event.h"
#include "eventq/event_context.h"

namespace eventq {

// The member "data" of `attributes` says how the payload was sent. It is kNativeData for an event that is not
// a CloudEvent; wire/cloud_events.cc has the other values.
inline constexpr std::string_view kDataMember = "data";
inline constexpr std::string_view kNativeData = "native";

// The trace id of `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01` (W3C Trace Context). Empty for a
// malformed traceparent, which W3C requires to ignore.
std::string_view trace_id_of(std::string_view traceparent);

// Moves `traceparent`, `tracestate` and `published_by` into `attributes`, where they replace members of the
// same name. Sets `trace_id` if it is empty. `attributes` that is not a JSON object stays as it is.
void pack_context(NewEvent& event);

// The `attributes` of an event that is not a CloudEvent. Empty for an empty context.
std::string attributes_of(const EventContext& context);

}  // namespace eventq
