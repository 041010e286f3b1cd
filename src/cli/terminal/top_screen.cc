// top_screen.cc: see top_screen.h.
#include "cli/terminal/top_screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kNameLeast = 12;
constexpr std::size_t kNameMost = 40;

using Lines = std::vector<std::string>;

std::string one_decimal(double number) {
  std::string text = std::to_string(std::llround(number * 10));
  // 0.3 is "3" here and needs a digit before the point.
  if (text.size() == 1) text.insert(0, "0");
  return text.substr(0, text.size() - 1) + "." + text.back();
}

// "0.2", "412"
std::string rate_text(double rate) {
  if (rate == 0) return "0";
  return rate < 9.95 ? one_decimal(rate) : std::to_string(std::llround(rate));
}

// "1.2s", "59s", "4m", "3h", "2d"
std::string age_text(double seconds) {
  if (seconds < 9.95) return one_decimal(seconds) + "s";
  constexpr std::pair<double, char> kUnits[] = {{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}};
  for (const auto& [unit, letter] : kUnits) {
    if (seconds >= unit) return std::to_string(static_cast<std::int64_t>(seconds / unit)) + letter;
  }
  return "0s";
}

// "512B", "4.1M"
std::string short_size(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + "B";
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  constexpr std::string_view kUnits = "BKMGTPE";
  for (; size >= 1023.95 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return (size < 9.95 ? one_decimal(size) : std::to_string(std::llround(size))) + kUnits[unit];
}

// Scales the values to the highest one. The newest is on the right.
std::string spark_line(const std::vector<double>& values) {
  static constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string out;
  for (const double value : values) {
    out += kBars[most > 0 ? static_cast<std::size_t>(std::llround(value / most * 7)) : 0];
  }
  return out;
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

enum class Alignment : std::uint8_t { left, right };

struct ScreenColumn {
  std::string_view heading;
  std::size_t width;
  Alignment alignment = Alignment::right;
};

// A table whose first column gets the width that the others leave. Columns that do not fit are dropped.
class ScreenTable {
 public:
  ScreenTable(std::string_view first, std::vector<ScreenColumn> others, const OutputOptions& options)
      : first_(first), columns_(std::move(others)), options_(options) {
    std::size_t used = 1 + kNameLeast;  // the mark of the selected row, and its name
    std::size_t fitting = 0;
    while (fitting < columns_.size() && used + 1 + columns_[fitting].width <= options_.width) {
      used += 1 + columns_[fitting++].width;
    }
    // The columns are ordered by importance, so the last ones are dropped.
    columns_.resize(fitting);
    name_width_ = std::min(kNameMost, kNameLeast + options_.width - std::min(used, options_.width));
  }

  [[nodiscard]] std::string heading() const {
    std::vector<std::string> cells;
    for (const ScreenColumn& column : columns_) cells.emplace_back(column.heading);
    return paint(options_, Color::bold, row(first_, cells, false));
  }

  [[nodiscard]] std::string row(std::string_view name, const std::vector<std::string>& cells,
                                bool selected) const {
    std::string line =
        (selected ? ">" : " ") + padded(cut_to_width(printable(name), name_width_), name_width_);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool at_right = columns_[i].alignment == Alignment::right;
      line += " " + (at_right ? right(cells[i], columns_[i].width) : padded(cells[i], columns_[i].width));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

 private:
  std::string_view first_;
  std::vector<ScreenColumn> columns_;
  const OutputOptions& options_;
  std::size_t name_width_ = kNameLeast;
};

std::string title_line(const TopView& view, const OutputOptions& options) {
  std::string line = view.version.empty() ? "eventq" : "eventq " + view.version;
  line += "  " + view.url;
  const TopSample& sample = view.history.last();
  // 0: the store reports no size.
  if (sample.file_bytes > 0) {
    line += "  store " + short_size(sample.file_bytes) + "  wal " + short_size(sample.log_bytes);
  }
  if (const auto rates = view.history.rates()) {
    line += " │ in " + rate_text(rates->in) + "/s  done " + rate_text(rates->done) + "/s  fail " +
            rate_text(rates->failed) + "/s";
  }
  return cut_to_width(printable(line), options.width);
}

std::string unattended_names(const TopSample& sample) {
  std::string names;
  for (const TopQueue& queue : sample.queues) {
    if (queue.unattended > 0) names += (names.empty() ? "" : ", ") + queue.name;
  }
  return names;
}

Lines queue_lines(const TopView& view, const OutputOptions& options, bool selecting) {
  // Rates exist only from the second sample on; before that their columns are left out.
  const bool rated = view.history.rates().has_value();
  std::vector<ScreenColumn> columns = {
      {"STATE", 8, Alignment::left}, {"WAITING", 7}, {"RUNNING", 7}, {"FAILED", 7}};
  if (rated) columns.insert(columns.end(), {{"IN/s", 7}, {"DONE/s", 7}, {"FAIL/s", 7}});
  columns.push_back({"OLDEST", 7});
  if (rated) columns.push_back({"5 MIN", TopHistory::kCells, Alignment::left});
  const ScreenTable table("QUEUE", columns, options);

  Lines lines{table.heading()};
  for (const std::string& name : top_order(view)) {
    const TopQueue& queue = *find_queue(view.history.last(), name);
    std::vector<std::string> cells = {queue.state, std::to_string(queue.waiting),
                                      std::to_string(queue.running), std::to_string(queue.failed)};
    if (rated) {
      const TopRates rates = view.history.rates(name).value_or(TopRates{});
      cells.insert(cells.end(), {rate_text(rates.in), rate_text(rates.done), rate_text(rates.failed)});
    }
    cells.push_back(queue.oldest_seconds ? age_text(*queue.oldest_seconds) : "");
    if (rated) cells.push_back(spark_line(view.history.done(name)));
    const std::string line = table.row(name, cells, selecting && name == view.selected);
    lines.push_back(queue.state == "active" ? line : paint(options, status_color(queue.state), line));
  }
  if (const std::string names = unattended_names(view.history.last()); !names.empty()) {
    const std::string line = " events wait and no worker asks for them: " + names;
    lines.push_back(paint(options, Color::yellow, cut_to_width(printable(line), options.width)));
  }
  return lines;
}

Lines worker_lines(const TopView& view, const OutputOptions& options) {
  const auto& workers = view.history.last().workers;
  if (workers.empty()) return {};
  const ScreenTable table(
      "WORKER", {{"STATE", 8, Alignment::left}, {"HOLDING", 8}, {"DONE", 8}, {"FAILED", 7}}, options);
  Lines lines{"", table.heading()};
  for (const TopWorker& worker : workers) {
    const std::string line = table.row(worker.id,
                                       {worker.state, std::to_string(worker.holding),
                                        std::to_string(worker.completed), std::to_string(worker.failed)},
                                       false);
    lines.push_back(worker.state == "stale" ? paint(options, Color::yellow, line) : line);
  }
  return lines;
}

std::string keys_line(const TopView& view, const OutputOptions& options) {
  if (!view.notice.empty()) {
    return paint(options, Color::yellow, cut_to_width(printable(view.notice), options.width));
  }
  static constexpr std::array<std::string_view, kTopSorts> kNames = {"name", "waiting", "in", "done",
                                                                     "failed"};
  return paint(options, Color::dim,
               cut_to_width("q quit  ↑↓ select  p pause or resume  s sort (by " +
                                std::string(kNames[static_cast<std::size_t>(view.sort)]) + ")",
                            options.width));
}

}  // namespace

std::vector<std::string> top_order(const TopView& view) {
  std::vector<std::pair<double, std::string>> keyed;
  for (const TopQueue& queue : view.history.last().queues) {
    const TopRates rates = view.history.rates(queue.name).value_or(TopRates{});
    const std::array<double, kTopSorts> keys = {0, static_cast<double>(queue.waiting), rates.in, rates.done,
                                                static_cast<double>(queue.failed)};
    keyed.emplace_back(-keys[static_cast<std::size_t>(view.sort)], queue.name);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::string> names;
  names.reserve(keyed.size());
  for (auto& [key, name] : keyed) names.push_back(std::move(name));
  return names;
}

namespace {

// Removes lines of queues until `lines` has at most `room`. The heading and the selected queue stay.
void show_selected(Lines& lines, std::size_t room, const TopView& view) {
  if (lines.size() <= room) return;
  const auto order = top_order(view);
  const auto selected = std::find(order.begin(), order.end(), view.selected);
  const auto line = selected == order.end() ? 0 : selected - order.begin() + 1;
  const auto first = lines.begin() + 1;
  lines.erase(first, first + std::max<std::ptrdiff_t>(0, line + 1 - static_cast<std::ptrdiff_t>(room)));
  lines.resize(room);
}

}  // namespace

std::string draw_top(const TopView& view, const OutputOptions& options, std::size_t height) {
  Lines body = queue_lines(view, options, height > 0);
  Lines workers = worker_lines(view, options);
  if (height > 0) {
    // The lines between title and keys. Workers get up to a third of them, more if the queues leave space.
    const std::size_t room = std::max<std::size_t>(height, 4) - 2;
    workers.resize(std::min(workers.size(), std::max(room / 3, room - std::min(room, body.size()))));
    show_selected(body, room - workers.size(), view);
  }
  body.insert(body.end(), workers.begin(), workers.end());
  if (height > 0) body.resize(std::max<std::size_t>(height, 4) - 2);

  std::string out = title_line(view, options) + "\n";
  for (const std::string& line : body) out += line + "\n";
  return height > 0 ? out + keys_line(view, options) : out;
}

}  // namespace eventq::cli
