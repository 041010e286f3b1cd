// new_event_json.h: what publishers send, and new events as the store keeps them.
//
// Errors: invalid_argument or too_large, with the member to blame.
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

// Events to be published together, all in one correlation unless that was declined.
struct NewBatch {
  std::vector<NewEvent> events;
  bool ordered = false;
  bool correlated = true;
  std::optional<NewEvent> on_complete;
};

// What comes out has been validated.
Result<NewEvent> parse_event(const JsonValue& body);
Result<NewBatch> parse_batch(const JsonValue& body);

// What those two read. `payload` must be proven JSON; a delay is rounded up to whole seconds; `attributes`
// are no part of a request. Events of a batch are put into one correlation unless they bring their own.
std::string write_event_request(const NewEvent& event);
std::string write_batch_request(std::span<const NewEvent> events);

// An event that is to be published later, as JSON; only members that are set.
std::string write_new_event(const NewEvent& event);
// Back from it. Errors: corrupt.
Result<NewEvent> parse_new_event(JsonParser& parser, std::string_view text);

}  // namespace eventq::wire
