// top_screen.h: the screen of `eventq top` as text: a function of what is known and of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/terminal/output.h"
#include "cli/terminal/top_history.h"

namespace eventq::cli {

enum class TopSort : std::uint8_t { name, waiting, in, done, failed };
inline constexpr std::size_t kTopSorts = 5;

struct TopView {
  const TopHistory& history;
  std::string version;  // of the server; empty: not known
  std::string url;
  std::string selected;  // the name of a queue
  TopSort sort = TopSort::name;
  std::string notice;  // shown instead of the keys
};

// The queues in the order in which they are shown.
[[nodiscard]] std::vector<std::string> top_order(const TopView& view);

// Lines of at most options.width columns. With a height there are no more lines than that, and the last one
// names the keys; with 0 there are as many as needed, and nothing is selected.
[[nodiscard]] std::string draw_top(const TopView& view, const OutputOptions& options, std::size_t height);

}  // namespace eventq::cli
