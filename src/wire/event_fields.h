// event_fields.h: reads and writes members that events have in requests and in answers alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "eventq/event.h"
#include "wire/fields.h"

namespace eventq::wire {

// Reads `tags`, a comma-separated string or an array of strings; nothing if it is absent or null. A wrong
// type becomes the fault of `fields`. The tags themselves are not checked: the caller must pass them to
// clean_tags() (model/tags.h).
std::optional<std::vector<std::string>> read_tags(Fields& fields);

// The status with this name in any letter case; nothing if there is none.
std::optional<Status> status_in_any_case(std::string_view name);

// Reads {"type", "id", "name"} as the member `source`. `where` is written before "source." in errors.
Source read_source(Fields& fields, std::string_view where, UnknownMembers unknown);

// Writes `text` as the member `name`, unless it is empty.
void write_set(JsonWriter& json, std::string_view name, std::string_view text);

// Writes the member `source` without members that are empty.
void write_source(JsonWriter& json, const Source& source);

// Where an event comes from. `AnyEvent` is an Event or a NewEvent; `where` as in read_source().
template <typename AnyEvent>
void read_origin(Fields& fields, AnyEvent& event, std::string_view where, UnknownMembers unknown) {
  event.causation_id = fields.text("causation_id").value_or("");
  event.trace_id = fields.text("trace_id").value_or("");
  event.pattern = fields.text("pattern").value_or("");
  event.version = fields.text("version").value_or("");
  event.source = read_source(fields, where, unknown);
}

template <typename AnyEvent>
void write_origin(JsonWriter& json, const AnyEvent& event) {
  write_set(json, "causation_id", event.causation_id);
  write_set(json, "trace_id", event.trace_id);
  write_set(json, "pattern", event.pattern);
  write_set(json, "version", event.version);
  write_source(json, event.source);
}

}  // namespace eventq::wire
