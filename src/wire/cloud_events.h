// cloud_events.h: CloudEvents 1.0 to events and back.
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
//   traceparent                    trace_id; one that is malformed gives none, as W3C says
//   eventqid, eventqattempt, eventqleaseuntil: of a delivery, so not read
//
// What the fields cannot give back exactly is kept in `attributes`, so that a CloudEvent comes back
// with the attributes and values it was sent with. `attributes` is empty for any other event; that is
// given back as a CloudEvent made of its fields.
//
// What is parsed has been validated. Errors: invalid_argument or too_large, with the attribute to blame.
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
  json,                // no CloudEvent: the API's own
  cloud_event,         // structured: application/cloudevents+json
  cloud_events,        // batched: application/cloudevents-batch+json
  cloud_event_binary,  // attributes in ce-* headers, the body is the data
};

// How to read a body. Nothing: a CloudEvents format other than JSON, which nobody here understands.
std::optional<BodyFormat> body_format(std::string_view content_type, bool has_specversion_header);

Result<NewEvent> parse_cloud_event(const JsonValue& body);
// An array of 1 to limits::kBatchEvents.
Result<std::vector<NewEvent>> parse_cloud_events(const JsonValue& body);

// `attributes`: the ce-* headers, each name without "ce-", each value as sent. A body without a content
// type is application/octet-stream. The body of a JSON type must be JSON; text of other types becomes
// a JSON string, and what is not UTF-8 becomes base64.
Result<NewEvent> parse_binary_cloud_event(std::span<const std::pair<std::string, std::string>> attributes,
                                          std::string_view content_type, std::string_view body,
                                          JsonParser& parser);

// In the JSON format.
void write_cloud_event(JsonWriter& json, const Event& event);
// With eventqid (a string: a CloudEvents integer has 32 bits), eventqattempt and eventqleaseuntil:
// what its worker needs to report.
void write_cloud_event(JsonWriter& json, const Claim& claim);
// A batch.
void write_cloud_events(JsonWriter& json, const std::vector<Claim>& claims);

}  // namespace eventq::wire
