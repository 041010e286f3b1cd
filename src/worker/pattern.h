// pattern.h: which events a pattern fits.
//
// Words are separated by dots. "invoice.created" fits itself; in a handler's pattern `*` stands for
// exactly one word and `>`, as the last, for one or more.
//
// Pure: no I/O, no clock.
#pragma once

#include <optional>
#include <string_view>

#include "eventq/error.h"

namespace eventq {

// Errors: invalid_argument with field "pattern" for an empty word, a `*` or `>` that is no word of its own,
// a `>` that is not the last; too_large.
[[nodiscard]] std::optional<Error> validate_pattern(std::string_view pattern);

// `happened` is an event's; one that has an empty word fits nothing. REQUIRES: `pattern` is valid.
[[nodiscard]] bool pattern_fits(std::string_view pattern, std::string_view happened);

}  // namespace eventq
