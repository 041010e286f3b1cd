// cloud_events.h: converts CloudEvents 1.0 to events and back.
//
//   CloudEvent                     event
//   type                           pattern
//   source                         source.id; source.type is "cloudevents"
//   source and id                  event_id: two producers may use the same id
//   subject, else type             title, cut to its limit
//   time                           timestamp
//   data                           payload, byte for byte
//   data_base64                    payload: the JSON string of the base64 text
//   tags, else type                tags
//   queue, priority, description   the same
//   maxretries                     max_retries
//   partitionkey, supersedekey     ordering_key, supersede_key
//   correlationid, causationid     correlation_id, causation_id
//   traceparent, tracestate        the same and trace_id; a malformed traceparent is ignored, as W3C requires
//   publishedby                    published_by
//   eventqid, eventqattempt, eventqleaseuntil: ignored, because they describe a delivery
//
// Attributes that the fields cannot represent exactly are stored in the event's `attributes`, so that workers
// receive a CloudEvent with the attributes and values that were sent. Other events are delivered as
// CloudEvents made of their fields.
//
// The parse functions return validated events.
// Errors: invalid_argument or too_large. `field` is the attribute that is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "eventq/error.h"
#include "eventq/event.h"

namespace eventq::wire {

enum class BodyFormat : std::uint8_t {
  json,                // not a CloudEvent: the API's own format
  cloud_event,         // structured: application/cloudevents+json
  cloud_events,        // batched: application/cloudevents-batch+json
  cloud_event_binary,  // attributes in ce-* headers, the body is the data
};

// The format of a body. Nothing for a CloudEvents format other than JSON, which eventq does not support.
std::optional<BodyFormat> body_format(std::string_view content_type, bool has_specversion_header);

Result<NewEvent> parse_cloud_event(const JsonValue& body);
// An array of 1 to limits::kBatchEvents.
Result<std::vector<NewEvent>> parse_cloud_events(const JsonValue& body);

// `attributes` are the ce-* headers, each name without "ce-", each value as sent. A body without a content
// type is application/octet-stream. A body of a JSON type must be JSON. Text of another type becomes a JSON
// string, and a body that is not UTF-8 becomes base64.
Result<NewEvent> parse_binary_cloud_event(std::span<const std::pair<std::string, std::string>> attributes,
                                          std::string_view content_type, std::string_view body,
                                          JsonParser& parser);

// Writes an event in the JSON format.
void write_cloud_event(JsonWriter& json, const Event& event);
// The same with eventqid, eventqattempt and eventqleaseuntil, which its worker needs for a report. eventqid
// is a string, because a CloudEvents integer has only 32 bits.
void write_cloud_event(JsonWriter& json, const Claim& claim);
// Writes a batch.
void write_cloud_events(JsonWriter& json, const std::vector<Event>& events);
void write_cloud_events(JsonWriter& json, const std::vector<Claim>& claims);

}  // namespace eventq::wire
