// percent.h: encodes and strictly decodes percent-encoded parts of a URL.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq {

// What a '+' in an encoded text means.
enum class PlusIs : std::uint8_t {
  literal,  // in a path
  space,    // in a query
};

// Errors: invalid_argument for an escape sequence that is too short or not hexadecimal, and when the result
// contains NUL or is not valid UTF-8.
Result<std::string> percent_decode(std::string_view text, PlusIs plus_is);

// For a path or a query: encodes everything except letters, digits and -._~ as %XX.
std::string percent_encode(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;
};

// Parses "a=1&b=x%20y", without the '?'. A name without '=' has an empty value. Empty parts ("&&") are
// skipped. A '+' is a space.
// Errors: those of percent_decode(); invalid_argument for an empty or repeated name, and for more than 64
// parameters.
Result<std::vector<QueryParameter>> parse_query(std::string_view query);

}  // namespace eventq
