// toml_file.cc: see toml_file.h.
#include "server/toml_file.h"

// Without exceptions, because eventq returns errors as values. Header-only, so the binary does not need
// libtomlplusplus.so.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "server/settings.h"

namespace eventq::server {
namespace {

// A larger file is not a configuration file.
constexpr std::size_t kFileSizeMax = 1024 * 1024;

// Converts one node. The caller visits the members of tables.
TomlEntry to_entry(const toml::key& key, const toml::node& node) {
  TomlEntry entry{.path = {std::string(key.str())}, .line = key.source().begin.line};
  if (const auto* text = node.as_string()) {
    entry.kind = TomlKind::text;
    entry.text = text->get();
    entry.shown = toml_string(entry.text);
  } else if (const auto* number = node.as_integer()) {
    entry.kind = TomlKind::number;
    entry.shown = entry.text = std::to_string(number->get());
  } else if (const auto* truth = node.as_boolean()) {
    entry.kind = TomlKind::truth;
    entry.shown = entry.text = truth->get() ? "true" : "false";
  } else if (const auto* fraction = node.as_floating_point()) {
    entry.kind = TomlKind::fraction;
    entry.text = toml_fraction(fraction->get());
    entry.shown = "a number with a fraction";
  } else if (node.is_table()) {
    entry.kind = TomlKind::table;
    entry.shown = "a table";
  } else if (const auto* array = node.as_array()) {
    entry.shown = "an array";
    if (!array->empty() && !array->is_homogeneous(toml::node_type::string)) return entry;
    entry.kind = TomlKind::list;
    for (const toml::node& member : *array) {
      if (&member != &array->front()) entry.text += kListEnd;
      entry.text += member.as_string()->get();
    }
  } else {
    entry.shown = "a date or time";
  }
  return entry;
}

std::vector<TomlEntry> all_entries(const toml::table& whole) {
  struct OpenTable {
    std::vector<std::string> path;
    const toml::table* table;
  };
  std::vector<TomlEntry> entries;
  // A list of open tables instead of recursion, because the file decides how deep tables are nested.
  std::vector<OpenTable> open = {{{}, &whole}};
  while (!open.empty()) {
    const OpenTable inside = std::move(open.back());
    open.pop_back();
    for (const auto& [key, node] : *inside.table) {
      TomlEntry entry = to_entry(key, node);
      entry.path.insert(entry.path.begin(), inside.path.begin(), inside.path.end());
      if (node.is_table() && entry.path.size() < kTomlDepth) open.push_back({entry.path, node.as_table()});
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

std::string key_of(const TomlEntry& entry, std::size_t first) {
  std::string key = entry.path.at(first);
  for (std::size_t i = first + 1; i < entry.path.size(); ++i) key += "." + entry.path[i];
  return key;
}

Result<std::vector<TomlEntry>> read_toml_file(const std::string& path) {
  const auto cannot_read = [&](const std::string& why) {
    return Error{.code = ErrorCode::not_found,
                 .message = "Cannot read the configuration file " + toml_string(path) + ": " + why + "."};
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot_read(std::strerror(errno));
  // One byte more than allowed, to notice a file that is too large.
  std::string text(kFileSizeMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return cannot_read(std::strerror(errno));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileSizeMax) return cannot_read("it has more than 1 MiB");
  return parse_toml(text, path);
}

Result<std::vector<TomlEntry>> parse_toml(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error{.code = ErrorCode::invalid_argument,
                 .message = path + ":" + std::to_string(error.source().begin.line) +
                            ": not valid TOML: " + std::string(error.description()) + "."};
  }
  std::vector<TomlEntry> entries = all_entries(parsed.table());
  // Stable, so that an inline table stays before its members, which are on the same line.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return entries;
}

}  // namespace eventq::server
