// new_event_json.h: reads and writes events that are to be published, in requests and in the store.
//
// Errors: invalid_argument or too_large. `field` is the member that is wrong.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "eventq/error.h"
#include "eventq/event.h"

namespace eventq::wire {

// Events to publish together.
struct NewBatch {
  std::vector<NewEvent> events;
  bool ordered = false;                 // they run one at a time, in their order
  bool correlated = true;               // they share one correlation id
  std::optional<NewEvent> on_complete;  // to publish when all have ended
};

// Both return validated events.
Result<NewEvent> parse_event(const JsonValue& body);
Result<NewBatch> parse_batch(const JsonValue& body);

// The bodies that those two read. A delay is rounded up to whole seconds. `attributes` are not written,
// because they are not part of a request. The batch is correlated unless an event has its own correlation id.
// REQUIRES: `payload` is valid JSON.
std::string write_event_request(const NewEvent& event);
std::string write_batch_request(std::span<const NewEvent> events);

// An event that the store holds until it is published, such as on_complete. Writes only members that are set.
std::string write_new_event(const NewEvent& event);
// Reads it back.
// Errors: corrupt.
Result<NewEvent> parse_new_event(JsonParser& parser, std::string_view text);

}  // namespace eventq::wire
