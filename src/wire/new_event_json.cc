// new_event_json.cc: see new_event_json.h.
#include "wire/new_event_json.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/json_writer.h"
#include "eventq/limits.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/config_json.h"
#include "wire/event_fields.h"
#include "wire/fields.h"
#include "wire/request_writer.h"

namespace eventq::wire {
namespace {

// The context of an event, which decides the members that it may have.
enum class EventForm : std::uint8_t {
  alone,        // all members of a request
  in_batch,     // without correlation_id, which the batch has
  on_complete,  // also without queue and event_id
  stored,       // all members, including those that a request cannot have
};

// Reads a text whose presence has an effect, so that an empty text must be a mistake.
std::string read_name(Fields& fields, std::string_view name, std::string_view advice) {
  const auto text = fields.text(name);
  if (text && text->empty()) fields.refuse(name, std::string(name) + " is empty; " + std::string(advice));
  return text.value_or("");
}

void read_delay(Fields& fields, NewEvent& event) {
  const auto delay = fields.seconds("delay", limits::kDelay);
  if (!delay) return;
  if (event.run_at) {
    fields.refuse("delay", "delay and run_at both say when the event may run; send one of them.");
  }
  event.delay = *delay;
}

// Members that the first version of the API did not have.
void read_more(Fields& fields, NewEvent& event) {
  constexpr std::string_view kLeaveOut = "leave it out if there is none.";
  read_origin(fields, event, fields.where(), UnknownMembers::refused);
  event.traceparent = read_name(fields, "traceparent", kLeaveOut);
  event.tracestate = read_name(fields, "tracestate", kLeaveOut);
  event.published_by = read_name(fields, "published_by", kLeaveOut);
  event.timestamp = fields.time("timestamp");
  event.ordering_key = read_name(fields, "ordering_key", kLeaveOut);
  event.supersede_key = read_name(fields, "supersede_key", kLeaveOut);
  event.run_at = fields.time("run_at");
  event.retry = read_retry(fields, fields.where());
}

// Reads the members in this order, because an error about an unknown member lists them in it. An absent title
// becomes an empty one, which validate() refuses.
NewEvent read_event(Fields& fields, EventForm form) {
  NewEvent event;
  event.title = fields.text("title").value_or("");
  event.description = fields.text("description");
  event.tags = read_tags(fields).value_or(std::vector<std::string>());
  if (const auto payload = fields.any("payload")) event.payload = payload->raw();
  if (form != EventForm::on_complete) event.queue = fields.text("queue").value_or(event.queue);
  event.priority = fields.small_integer("priority").value_or(0);
  event.max_retries = fields.small_integer("max_retries");
  event.max_attempts = fields.small_integer("max_attempts");
  if (form != EventForm::on_complete) {
    event.event_id = read_name(fields, "event_id", "leave it out to have one made.");
  }
  if (form == EventForm::alone || form == EventForm::stored) {
    event.correlation_id = fields.text("correlation_id").value_or("");
  }
  read_more(fields, event);
  if (form != EventForm::stored) {
    read_delay(fields, event);
    return event;
  }
  event.delay = Millis(fields.integer("delay_ms").value_or(0));
  if (const auto attributes = fields.object("attributes")) event.attributes = attributes->raw();
  return event;
}

Result<NewEvent> parse_event_at(const JsonValue& value, const std::string& where, EventForm form) {
  Fields fields(value, where);
  NewEvent event = read_event(fields, form);
  if (auto fault = fields.fault()) return *fault;
  if (auto fault = validate(event)) return at(where, *fault);
  return event;
}

// The event is published to the queue of the batch, so all events of the batch must be in one queue.
Result<NewEvent> parse_on_complete(const JsonValue& value, const std::vector<NewEvent>& events) {
  auto event = parse_event_at(value, "on_complete.", EventForm::on_complete);
  if (!event) return event;
  event->queue = events.front().queue;
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].queue == event->queue) continue;
    return invalid("on_complete",
                   "on_complete needs all events of the batch to be in one queue; the first is in " +
                       event->queue + ", events[" + std::to_string(i) + "] in " + events[i].queue + ".");
  }
  return event;
}

// A request has an array, because a comma inside a tag that was not checked yet must not make two tags of it.
void write_tags(JsonWriter& json, const std::vector<std::string>& tags, EventForm form) {
  json.key("tags");
  if (form == EventForm::stored) {
    json.string(join_tags(tags));
  } else {
    json.strings(tags);
  }
}

void write_members(JsonWriter& json, const NewEvent& event, EventForm form) {
  json.begin_object().key("title").string(event.title);
  if (event.description) json.key("description").string(*event.description);
  write_tags(json, event.tags, form);
  json.key("payload").raw(event.payload);
  json.key("queue").string(event.queue).key("priority").integer(event.priority);
  if (event.max_retries) json.key("max_retries").integer(*event.max_retries);
  if (event.max_attempts) json.key("max_attempts").integer(*event.max_attempts);
  write_set(json, "event_id", event.event_id);
  write_set(json, "correlation_id", event.correlation_id);
  write_origin(json, event);
  write_set(json, "traceparent", event.traceparent);
  write_set(json, "tracestate", event.tracestate);
  write_set(json, "published_by", event.published_by);
  if (event.timestamp) json.key("timestamp").time(*event.timestamp);
  write_set(json, "ordering_key", event.ordering_key);
  write_set(json, "supersede_key", event.supersede_key);
  if (event.run_at) json.key("run_at").time(*event.run_at);
  if (event.retry) write_retry(json.key("retry"), *event.retry);
  // The API has whole seconds, but a stored delay must come back exactly.
  const bool stored = form == EventForm::stored;
  if (stored && event.delay.count() != 0) json.key("delay_ms").integer(event.delay.count());
  if (!stored && event.delay.count() != 0) json.key("delay").integer(whole_seconds(event.delay));
  if (stored && !event.attributes.empty()) json.key("attributes").raw(event.attributes);
  json.end_object();
}

}  // namespace

Result<NewEvent> parse_event(const JsonValue& body) { return parse_event_at(body, "", EventForm::alone); }

Result<NewBatch> parse_batch(const JsonValue& body) {
  Fields fields(body, "");
  const auto values = fields.array("events");
  const auto correlation_id = fields.text("correlation_id");
  NewBatch batch;
  batch.ordered = fields.boolean("ordered").value_or(false);
  batch.correlated = fields.boolean("correlated").value_or(true);
  const auto on_complete = fields.object("on_complete");
  if (auto fault = fields.fault()) return *fault;
  // The batch is checked before its events, so that a batch that is too large costs no time.
  if (!values || values->empty())
    return invalid("events", "events is missing or empty; 1 to 10000 are needed.");
  if (values->size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large,
                 "events has " + std::to_string(values->size()) + " entries; at most 10000 are allowed.",
                 "events"};
  }
  if (!batch.correlated && (correlation_id || batch.ordered || on_complete)) {
    return invalid("correlated",
                   "correlated is false, and correlation_id, ordered or on_complete is given, which need a "
                   "correlation; send one or the other.");
  }
  if (correlation_id) {
    if (auto fault = validate_correlation_id(*correlation_id)) return *fault;
  }
  batch.events.reserve(values->size());
  for (std::size_t i = 0; i < values->size(); ++i) {
    auto event = parse_event_at((*values)[i], "events[" + std::to_string(i) + "].",
                                batch.correlated ? EventForm::in_batch : EventForm::alone);
    if (!event) return event.error();
    if (batch.correlated) event->correlation_id = correlation_id.value_or("");
    batch.events.push_back(std::move(*event));
  }
  if (on_complete) {
    auto event = parse_on_complete(*on_complete, batch.events);
    if (!event) return event.error();
    batch.on_complete = std::move(*event);
  }
  return batch;
}

std::string write_event_request(const NewEvent& event) {
  return json_text([&](JsonWriter& json) { write_members(json, event, EventForm::alone); });
}

std::string write_batch_request(std::span<const NewEvent> events) {
  const bool correlated = std::all_of(events.begin(), events.end(),
                                      [](const NewEvent& event) { return event.correlation_id.empty(); });
  return json_text([&](JsonWriter& json) {
    json.begin_object();
    // A correlated batch has one correlation id for all events, so it cannot hold an event with its own.
    if (!correlated) json.key("correlated").boolean(false);
    json.key("events").begin_array();
    for (const NewEvent& event : events) write_members(json, event, EventForm::alone);
    json.end_array().end_object();
  });
}

std::string write_new_event(const NewEvent& event) {
  return json_text([&](JsonWriter& json) { write_members(json, event, EventForm::stored); });
}

Result<NewEvent> parse_new_event(JsonParser& parser, std::string_view text) {
  const auto corrupt = [](const Error& error) {
    return Error{ErrorCode::corrupt, "An event that was stored for later cannot be read: " + error.message,
                 ""};
  };
  // Not validated again, because the event was validated before it was stored.
  const auto value = parser.parse(text);
  if (!value) return corrupt(value.error());
  Fields fields(*value, "");
  NewEvent event = read_event(fields, EventForm::stored);
  if (auto fault = fields.fault()) return corrupt(*fault);
  return event;
}

}  // namespace eventq::wire
