// range.h: checks that a number is in its range. The only file that words the error.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq {

// Returns nothing when `value` is absent, or from `least` to `most`, both included.
// Errors: invalid_argument about `field`: "wait is 61; it must be from 0 to 60 seconds."
[[nodiscard]] std::optional<Error> out_of_range(std::string_view field, std::optional<std::int64_t> value,
                                                std::int64_t least, std::int64_t most,
                                                std::string_view unit = {});

// The same for a duration: "lease is 99ms; it must be from 100ms to 365d."
[[nodiscard]] std::optional<Error> out_of_range(std::string_view field, Millis value, Millis least,
                                                Millis most);

// The same for a number with a fraction. NaN is out of every range.
[[nodiscard]] std::optional<Error> fraction_out_of_range(std::string_view field, double value, double least,
                                                         double most, std::string_view unit = {});

}  // namespace eventq
