// nearest.h: which name did they mean?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eventq {

// The known name that takes the fewest typing mistakes (a letter added, left out, replaced,
// or swapped with its neighbour) to become `name`; none when they are many for its length.
[[nodiscard]] std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known);

// "; did you mean NEAREST?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> known);

}  // namespace eventq
