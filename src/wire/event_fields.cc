// event_fields.cc: see event_fields.h.
#include "wire/event_fields.h"

#include "model/names.h"
#include "model/tags.h"

namespace eventq::wire {

std::optional<std::vector<std::string>> read_tags(Fields& fields) {
  const auto tags = fields.any("tags");
  if (!tags || tags->type() == JsonType::null) return std::nullopt;
  if (const auto joined = tags->string()) return split_tags(*joined);
  if (tags->type() == JsonType::array) return fields.texts("tags");
  fields.refuse("tags", "tags must be a string such as \"email,priority-high\", or an array of strings.");
  return std::nullopt;
}

std::optional<Status> status_in_any_case(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return status_named(upper);
}

Source read_source(Fields& fields, std::string_view where, UnknownMembers unknown) {
  const auto value = fields.object("source");
  if (!value) return {};
  Fields inner(*value, std::string(where) + "source.", unknown);
  Source source{inner.text("type").value_or(""), inner.text("id").value_or(""),
                inner.text("name").value_or("")};
  if (auto fault = inner.fault()) fields.refuse(*fault);
  return source;
}

void write_set(JsonWriter& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.key(name).string(text);
}

void write_source(JsonWriter& json, const Source& source) {
  if (source == Source()) return;
  json.key("source").begin_object();
  write_set(json, "type", source.type);
  write_set(json, "id", source.id);
  write_set(json, "name", source.name);
  json.end_object();
}

}  // namespace eventq::wire
