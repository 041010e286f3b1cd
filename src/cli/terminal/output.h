// output.h: prints records as a table on a terminal, and as JSON lines or other formats for programs.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "eventq/clock.h"

namespace eventq::cli {

enum class Format : std::uint8_t { table, json, jsonl, csv, id };
enum class TimeFormat : std::uint8_t { relative, iso };

struct OutputOptions {
  Format format = Format::jsonl;
  std::vector<std::string> fields;  // "id", "payload.to"; empty: the default columns of the command
  bool color = false;
  bool terminal = false;  // stdout is a terminal
  TimeFormat time = TimeFormat::iso;
  std::size_t width = 80;                // of the terminal
  const Clock* clock = &system_clock();  // what relative times are relative to
};

// A column of a table: its heading, and the path of the member that it shows ("payload.to").
enum class CellKind : std::uint8_t { text, number, time, status, duration };
struct OutputColumn {
  std::string_view heading;
  std::string_view field;
  CellKind kind = CellKind::text;
  bool optional = false;  // a table omits it if none of its first rows has a value
};

// Prints records, each a JSON object as text, in the format of `options`. Tables are aligned by display width
// and cut to the width of the terminal. JSON formats print each record unchanged on one line.
// Control characters of a record never reach a terminal, because they could change or fake its contents.
class RecordPrinter {
 public:
  RecordPrinter(std::ostream& out, const OutputOptions& options, std::vector<OutputColumn> columns);
  void add(std::string_view json_object);
  // Prints the rows so far and aligns later rows with them. For endless lists.
  void flush();
  void finish();  // prints the remaining rows, or the end of the array

 private:
  void add_row(const JsonValue& record);
  [[nodiscard]] std::string cell(const JsonValue& record, const OutputColumn& column) const;
  [[nodiscard]] std::vector<std::size_t> fitted() const;
  void omit_empty_columns();
  void print_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, bool heading);

  std::ostream& out_;
  OutputOptions options_;
  std::vector<OutputColumn> columns_;  // its views may point into options_.fields
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
  std::size_t count_ = 0;
  bool headed_ = false;
};

// Prints one record: a line per member on a terminal, else as RecordPrinter does.
void print_record(std::ostream& out, const OutputOptions& options, std::string_view json_object);

// "3 min ago", "in 4 min", "now".
[[nodiscard]] std::string relative_time(TimePoint time, TimePoint now);

enum class Color : std::uint8_t { none, red, green, yellow, blue, cyan, dim, bold };
[[nodiscard]] Color status_color(std::string_view status);  // of an event or a queue
std::string paint(const OutputOptions& options, Color color, std::string_view text);

}  // namespace eventq::cli
