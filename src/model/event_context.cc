// event_context.cc: see event_context.h.
#include "model/event_context.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace eventq {
namespace {

bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// Whether the text is a trace or parent id. W3C forbids one that is all zeros.
bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_lower_hex) && text.find_first_not_of('0') != text.npos;
}

void write_context(JsonWriter& json, const EventContext& context) {
  if (!context.traceparent.empty()) json.key("traceparent").string(context.traceparent);
  if (!context.tracestate.empty()) json.key("tracestate").string(context.tracestate);
  if (!context.published_by.empty()) json.key("published_by").string(context.published_by);
}

bool is_replaced(std::string_view member, const EventContext& context) {
  if (member == "published_by") return !context.published_by.empty();
  return (member == "traceparent" || member == "tracestate") && !context.traceparent.empty();
}

}  // namespace

std::string_view trace_id_of(std::string_view traceparent) {
  constexpr std::size_t kSize = 55;  // of version 00; a later version may append more after a dash
  if (traceparent.size() < kSize || traceparent[2] != '-' || traceparent[35] != '-' ||
      traceparent[52] != '-') {
    return {};
  }
  const std::string_view version = traceparent.substr(0, 2), flags = traceparent.substr(53, 2);
  const std::string_view trace = traceparent.substr(3, 32), parent = traceparent.substr(36, 16);
  const bool pairs = std::all_of(version.begin(), version.end(), is_lower_hex) &&
                     std::all_of(flags.begin(), flags.end(), is_lower_hex);
  // W3C forbids the version ff.
  if (!pairs || version == "ff" || !is_hex(trace) || !is_hex(parent)) return {};
  if (traceparent.size() > kSize && (version == "00" || traceparent[kSize] != '-')) return {};
  return trace;
}

void pack_context(NewEvent& event) {
  if (event.traceparent.empty() && event.published_by.empty()) return;
  if (event.trace_id.empty()) event.trace_id = trace_id_of(event.traceparent);
  const EventContext context{std::exchange(event.traceparent, {}), std::exchange(event.tracestate, {}),
                             std::exchange(event.published_by, {})};
  if (event.attributes.empty()) {
    event.attributes = attributes_of(context);
    return;
  }
  JsonParser parser;
  const auto sent = parser.parse(event.attributes);
  if (!sent || sent->type() != JsonType::object) return;
  event.attributes = json_text([&](JsonWriter& json) {
    json.begin_object();
    for (const auto& [name, value] : sent->members()) {
      if (is_replaced(name, context)) continue;
      std::string quoted;
      append_json_string(quoted, name);
      json.key(std::string_view(quoted).substr(1, quoted.size() - 2)).raw(value.raw());
    }
    write_context(json, context);
    json.end_object();
  });
}

std::string attributes_of(const EventContext& context) {
  if (context.traceparent.empty() && context.published_by.empty()) return {};
  return json_text([&](JsonWriter& json) {
    json.begin_object().key(kDataMember).string(kNativeData);
    write_context(json, context);
    json.end_object();
  });
}

EventContext context_of(const Event& event) {
  EventContext context;
  if (event.attributes.empty()) return context;
  thread_local JsonParser parser;  // a new one would allocate for each event of a claim
  const auto attributes = parser.parse(event.attributes);
  if (!attributes || attributes->type() != JsonType::object) return context;
  for (const auto& [name, value] : attributes->members()) {
    if (name == "traceparent") context.traceparent = value.string().value_or("");
    if (name == "tracestate") context.tracestate = value.string().value_or("");
    if (name == "published_by") context.published_by = value.string().value_or("");
  }
  // A CloudEvent may have attributes that W3C requires to ignore.
  if (trace_id_of(context.traceparent).empty()) {
    context.traceparent.clear();
    context.tracestate.clear();
  }
  return context;
}

}  // namespace eventq
