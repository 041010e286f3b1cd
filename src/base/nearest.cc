// nearest.cc: see nearest.h.
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace eventq {
namespace {

// Longer names are refused, because the table grows with the square of the length and no name of ours is as
// long.
constexpr std::size_t kNameMax = 64;

// The restricted Damerau-Levenshtein distance: letters that were swapped are not edited again.
std::size_t mistakes(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<std::size_t> table((from.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= from.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= to.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (from[i - 1] == to[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(from.size(), to.size());
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> known) {
  if (name.size() > kNameMax) return std::nullopt;
  std::optional<std::string> best;
  std::size_t fewest = std::max<std::size_t>(name.size() / 3, 1) + 1;  // one more than allowed
  for (const std::string& candidate : known) {
    const std::size_t count = mistakes(name, candidate);
    if (count >= fewest) continue;
    fewest = count;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const auto found = nearest(name, known);
  return found ? "; did you mean " + *found + "?" : "";
}

}  // namespace eventq
