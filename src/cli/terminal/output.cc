// output.cc: see output.h.
#include "cli/terminal/output.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ostream>
#include <utility>

#include "base/json_writer.h"
#include "base/time_text.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

constexpr std::size_t kGap = 2;  // between two columns
constexpr std::string_view kNoValue = "-";
constexpr std::size_t kNarrowest = 8;  // the minimum width of a text column that shrinks

// JSON strings contain no raw line ends, so a line end is white space between tokens and may become a blank.
std::string one_line(const OutputOptions& options, std::string_view json) {
  std::string line(json);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  // The remaining control characters are inside strings, where an escape such as \u009b has the same meaning.
  return options.terminal ? printable(line) : line;
}

// The record, reduced to options.fields if there are any.
std::string json_of(const OutputOptions& options, std::string_view json, const JsonValue& record) {
  if (options.fields.empty()) return one_line(options, json);
  std::string text = "{";
  for (const std::string& field : options.fields) {
    if (text.size() > 1) text += ',';
    // printable(), because a field comes from the command line and may not be UTF-8.
    append_json_string(text, printable(field));
    const auto value = value_at(record, field);
    text += ":" + std::string(value ? value->raw() : "null");
  }
  return one_line(options, text + "}");
}

std::string csv_cell(const OutputOptions& options, std::string_view text) {
  std::string shown = options.terminal ? printable(text) : std::string(text);
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_line(const OutputOptions& options, const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells)
    line += (&cell == &cells.front() ? "" : ",") + csv_cell(options, cell);
  return line + "\n";
}

// Workers and notebooks have no member `id`; `otherwise` names the member that identifies them.
std::string id_of(const OutputOptions& options, const JsonValue& record, std::string_view otherwise) {
  auto id = text_at(record, "id");
  if (!id) id = text_at(record, otherwise);
  return options.terminal ? printable(id.value_or("")) : id.value_or("");
}

std::string shown_time(const OutputOptions& options, const std::string& text) {
  const auto time = parse_iso_time(text);
  if (!time || options.time == TimeFormat::iso) return text;
  return relative_time(*time, options.clock->now());
}

std::string shown_duration(const std::string& text, const JsonValue& value) {
  const auto millis = value.integer();
  return millis ? format_duration(Millis{*millis}) : text;
}

using Members = std::vector<std::pair<std::string, JsonValue>>;

// Lists members of nested objects by their path. Payload and result are user data and are not flattened.
void flatten_record(Members& members, const std::string& above, const JsonValue& record) {
  for (const JsonMember& member : record.members()) {
    const std::string path = above + std::string(member.name);
    if (member.value.type() == JsonType::object && path != "payload" && path != "result") {
      flatten_record(members, path + ".", member.value);
    } else {
      members.emplace_back(path, member.value);
    }
  }
}

// Pairs of a name, or a path from options.fields, and its value.
Members shown_members(const OutputOptions& options, const JsonValue& record) {
  Members members;
  for (const std::string& field : options.fields) {
    members.emplace_back(field, value_at(record, field).value_or(JsonValue()));
  }
  if (options.fields.empty()) flatten_record(members, "", record);
  return members;
}

std::string member_text(const OutputOptions& options, const std::string& name, const JsonValue& value) {
  if (value.type() == JsonType::null) return paint(options, Color::dim, "-");
  const std::string raw = one_line(options, value.raw());
  std::string text = printable(value.string().value_or(raw));
  if (name == "status") return paint(options, status_color(text), text);
  // Only a string can be a time: a number such as 20240101 must stay a number.
  const auto time = value.type() == JsonType::string ? parse_iso_time(text) : std::nullopt;
  if (!time || options.time == TimeFormat::iso) return text;
  return text + "  " + paint(options, Color::dim, relative_time(*time, options.clock->now()));
}

// Prints a text of several lines, such as a stack trace. Each line but the first begins behind `indent`
// blanks. A tab becomes four blanks, because printable() would escape it.
void print_lines(std::ostream& out, std::string_view text, std::size_t indent) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    for (std::size_t tab = 0; (tab = line.find('\t', tab)) != std::string::npos;)
      line.replace(tab, 1, 4, ' ');
    if (begin > 0) out << std::string(indent, ' ');
    out << printable(line) << '\n';
    begin = end + 1;
  }
}

}  // namespace

RecordPrinter::RecordPrinter(std::ostream& out, const OutputOptions& options,
                             std::vector<OutputColumn> columns)
    : out_(out), options_(options), columns_(std::move(columns)) {
  if (options_.fields.empty()) return;
  std::vector<OutputColumn> chosen;
  for (const std::string& field : options_.fields) {
    const auto known = std::find_if(columns_.begin(), columns_.end(),
                                    [&](const OutputColumn& column) { return column.field == field; });
    // A column of the command keeps its heading and its kind; any other field is shown as text.
    chosen.push_back(known != columns_.end() ? *known : OutputColumn{.heading = field, .field = field});
    chosen.back().optional = false;
  }
  columns_ = std::move(chosen);
}

void RecordPrinter::add(std::string_view json_object) {
  const AnswerJson record(json_object);
  if (!record) return;
  switch (options_.format) {
    case Format::table: add_row(*record); break;
    case Format::json:
      out_ << (count_ == 0 ? "[\n" : ",\n") << json_of(options_, json_object, *record);
      break;
    case Format::jsonl: out_ << json_of(options_, json_object, *record) << '\n'; break;
    case Format::csv: {
      std::vector<std::string> heading;
      std::vector<std::string> cells;
      for (const OutputColumn& column : columns_) {
        heading.emplace_back(column.field);
        cells.push_back(text_at(*record, column.field).value_or(""));
      }
      // With the first record, so that an empty list prints nothing.
      if (count_ == 0) out_ << csv_line(options_, heading);
      out_ << csv_line(options_, cells);
      break;
    }
    case Format::id: out_ << id_of(options_, *record, columns_.front().field) << '\n'; break;
  }
  ++count_;
}

std::string RecordPrinter::cell(const JsonValue& record, const OutputColumn& column) const {
  const auto value = value_at(record, column.field);
  if (!value || value->type() == JsonType::null) return std::string(kNoValue);
  const std::string text = printable(value->string().value_or(one_line(options_, value->raw())));
  if (column.kind == CellKind::time) return shown_time(options_, text);
  return column.kind == CellKind::duration ? shown_duration(text, *value) : text;
}

void RecordPrinter::add_row(const JsonValue& record) {
  std::vector<std::string> row;
  widths_.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    row.push_back(cell(record, columns_[i]));
    // Widths only grow, so that rows after a flush() are still aligned.
    widths_[i] = std::max({widths_[i], display_width(columns_[i].heading), display_width(row.back())});
  }
  rows_.push_back(std::move(row));
}

// Shrinks the widest text column by one until a line fits the terminal.
std::vector<std::size_t> RecordPrinter::fitted() const {
  std::vector<std::size_t> widths = widths_;
  if (!options_.terminal) return widths;
  std::size_t total = std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  while (total > options_.width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].kind != CellKind::text || widths[i] <= kNarrowest) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) break;
    --widths[widest];
    --total;
  }
  return widths;
}

void RecordPrinter::omit_empty_columns() {
  for (std::size_t i = columns_.size(); i-- > 0;) {
    const bool empty = std::all_of(rows_.begin(), rows_.end(),
                                   [&](const std::vector<std::string>& row) { return row[i] == kNoValue; });
    if (!columns_[i].optional || !empty) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    columns_.erase(columns_.begin() + at);
    widths_.erase(widths_.begin() + at);
    for (std::vector<std::string>& row : rows_) row.erase(row.begin() + at);
  }
}

void RecordPrinter::print_row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths,
                              bool heading) {
  std::string line;
  // What is left of the line. In a pipe nothing is cut.
  std::size_t room = options_.terminal ? options_.width : std::string::npos;
  for (std::size_t i = 0; i < row.size() && room > 0; ++i) {
    const std::string text = cut_to_width(row[i], std::min(widths[i], room));
    const std::size_t blanks = std::min(widths[i], room) - display_width(text);
    const bool right = columns_[i].kind == CellKind::number || columns_[i].kind == CellKind::duration;
    const bool last = i + 1 == row.size();
    Color color = heading ? Color::bold : Color::none;
    if (!heading && columns_[i].kind == CellKind::status) color = status_color(row[i]);
    if (right) line += std::string(blanks, ' ');
    line += paint(options_, color, text);
    if (!right && !last) line += std::string(blanks, ' ');
    room -= std::min(room, widths[i]);
    if (!last) line += std::string(std::min(kGap, room), ' ');
    room -= std::min(room, kGap);
  }
  out_ << line << '\n';
}

void RecordPrinter::flush() {
  if (options_.format == Format::table && !rows_.empty()) {
    if (!headed_) omit_empty_columns();
    const std::vector<std::size_t> widths = fitted();
    std::vector<std::string> headings;
    for (const OutputColumn& column : columns_) headings.push_back(printable(column.heading));
    if (!headed_) print_row(headings, widths, true);
    headed_ = true;
    for (const auto& row : rows_) print_row(row, widths, false);
    rows_.clear();
  }
  out_ << std::flush;
}

void RecordPrinter::finish() {
  if (options_.format == Format::json) out_ << (count_ == 0 ? "[]\n" : "\n]\n");
  flush();
}

void print_record(std::ostream& out, const OutputOptions& options, std::string_view json_object) {
  const AnswerJson record(json_object);
  if (!record) return;
  if (options.format == Format::json || options.format == Format::jsonl) {
    out << json_of(options, json_object, *record) << '\n';
    return;
  }
  if (options.format == Format::id) {
    out << id_of(options, *record, "event_id") << '\n';
    return;
  }
  const auto members = shown_members(options, *record);
  if (options.format == Format::csv) {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const auto& [name, value] : members) {
      names.push_back(name);
      values.push_back(value.type() == JsonType::null ? ""
                                                      : std::string(value.string().value_or(value.raw())));
    }
    out << csv_line(options, names) << csv_line(options, values);
    return;
  }
  std::size_t width = 0;
  for (const auto& [name, value] : members) width = std::max(width, display_width(printable(name)));
  for (const auto& [name, value] : members) {
    out << paint(options, Color::bold, padded(printable(name), width + kGap));
    if (name == "error_detail" && value.string()) {
      print_lines(out, *value.string(), width + kGap);
    } else {
      out << member_text(options, name, value) << '\n';
    }
  }
}

std::string relative_time(TimePoint time, TimePoint now) {
  const bool past = time <= now;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(past ? now - time : time - now).count();
  if (seconds == 0) return "now";
  std::string text = std::to_string(seconds) + " s";
  if (seconds >= 60) text = std::to_string(seconds / 60) + " min";
  if (seconds >= 3600) text = std::to_string(seconds / 3600) + " h";
  if (seconds >= 48 * 3600) text = std::to_string(seconds / 86400) + " d";
  return past ? text + " ago" : "in " + text;
}

Color status_color(std::string_view status) {
  if (status == "COMPLETED" || status == "active") return Color::green;
  if (status == "FAILED") return Color::red;
  if (status == "PROCESSING") return Color::cyan;
  if (status == "COMPLETED_WITH_ERRORS" || status == "paused" || status == "draining") return Color::yellow;
  if (status == "CANCELLED" || status == "SUPERSEDED") return Color::dim;
  return Color::none;
}

std::string paint(const OutputOptions& options, Color color, std::string_view text) {
  if (!options.color || color == Color::none || text.empty()) return std::string(text);
  constexpr std::array<std::string_view, 8> kCodes = {"0", "31", "32", "33", "34", "36", "2", "1"};
  return "\x1b[" + std::string(kCodes[static_cast<std::size_t>(color)]) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace eventq::cli
