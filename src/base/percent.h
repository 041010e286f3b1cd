// percent.h: percent-encoded parts of a URL, written, and decoded strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq {

enum class PlusIs : std::uint8_t {
  literal,  // in a path
  space,    // in a query
};

// Errors: invalid_argument for an escape sequence that is cut short or not
// hexadecimal, and when the result holds NUL or is not valid UTF-8.
Result<std::string> percent_decode(std::string_view text, PlusIs plus_is);

// For a path or a query: everything but letters, digits and -._~ as %XX.
std::string percent_encode(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;
};

// "a=1&b=x%20y", without the '?'. A name alone has an empty value; empty parts
// ("&&") are skipped; a '+' is a space.
// Errors: those of percent_decode(); invalid_argument for a name that is empty or comes
// twice, and for more than 64 parameters.
Result<std::vector<QueryParameter>> parse_query(std::string_view query);

}  // namespace eventq
