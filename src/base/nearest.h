// nearest.h: suggests the name that a mistyped name was meant to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eventq {

// The name in `known` that differs from `name` by the fewest typing mistakes: a letter added, left out,
// replaced, or swapped with its neighbour. Nothing when it takes more than a third of the letters.
[[nodiscard]] std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known);

// "; did you mean NEAREST?", or an empty text.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace eventq
