// top_screen.h: renders the screen of `eventq top` as text. A pure function of its arguments.
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
  std::string version;  // of the server; empty until it is known
  std::string url;
  std::string selected;  // the name of a queue
  TopSort sort = TopSort::name;
  std::string notice;  // replaces the line of keys
};

// The names of the queues in display order.
[[nodiscard]] std::vector<std::string> top_order(const TopView& view);

// Lines of at most options.width columns. If `height` is not 0, there are at most that many lines, and the
// last one lists the keys. If it is 0, there are as many lines as needed, and no queue is marked as selected.
[[nodiscard]] std::string draw_top(const TopView& view, const OutputOptions& options, std::size_t height);

}  // namespace eventq::cli
