// tag_fields.h: reads the member `tags` of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/fields.h"

namespace eventq::wire {

// Reads `tags`, a comma-separated string or an array of strings; nothing if it is absent or null. A wrong
// type becomes the fault of `fields`. The tags themselves are not checked: the caller must pass them to
// clean_tags() (model/tags.h).
std::optional<std::vector<std::string>> read_tags(Fields& fields);

}  // namespace eventq::wire
