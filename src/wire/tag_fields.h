// tag_fields.h: reads the member `tags` of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wire/fields.h"

namespace eventq::wire {

// `tags` is a comma-separated string or an array of strings. clean_tags() of model/ must check the result.
std::optional<std::vector<std::string>> read_tags(Fields& fields);

}  // namespace eventq::wire
