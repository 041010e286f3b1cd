// tag_fields.cc: see tag_fields.h.
#include "wire/tag_fields.h"

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

}  // namespace eventq::wire
