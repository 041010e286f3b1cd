// tag_fields.h: tags as a member of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/fields.h"

namespace eventq::wire {

// `tags`: a comma-separated string, or an array of strings. Their content is checked later.
std::optional<std::vector<std::string>> read_tags(Fields& fields);

}  // namespace eventq::wire
