// pattern.h: matches the patterns of handlers and lists with the patterns of events.
//
// A pattern has words separated by dots. "invoice.created" matches itself. In the pattern of a handler or a
// list, `*` matches exactly one word, and `>` as the last word matches one or more.
//
// Pure: no I/O, no clock.
#pragma once

#include <optional>
#include <string_view>

#include "eventq/error.h"

namespace eventq {

// Errors: invalid_argument with field "pattern" for an empty word, for a `*` or `>` inside a word, and for a
// `>` that is not the last word; too_large for more than limits::kPattern bytes.
[[nodiscard]] std::optional<Error> validate_pattern(std::string_view pattern);

// `happened` is the pattern of an event. One with an empty word matches nothing.
// REQUIRES: `pattern` is valid.
[[nodiscard]] bool pattern_fits(std::string_view pattern, std::string_view happened);

}  // namespace eventq
