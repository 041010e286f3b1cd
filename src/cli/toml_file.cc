// toml_file.cc: see toml_file.h.
#include "cli/toml_file.h"

// Failures are values here as elsewhere, and the binary needs no libtomlplusplus.so.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "cli/settings.h"

namespace eventq::cli {
namespace {

// A file with more than this was not meant for us.
constexpr std::size_t kFileSizeMax = 1024 * 1024;

std::string_view name_of_other(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  if (node.is_floating_point()) return "a number with a fraction";
  return "a date or time";
}

TomlEntry to_entry(const toml::key& key, const toml::node& node) {
  TomlEntry entry{.key = std::string(key.str()), .line = key.source().begin.line};
  if (const auto* text = node.as_string()) {
    entry.kind = TomlEntry::Kind::text;
    entry.text = text->get();
    entry.shown = toml_string(entry.text);
  } else if (const auto* number = node.as_integer()) {
    entry.kind = TomlEntry::Kind::number;
    entry.shown = entry.text = std::to_string(number->get());
  } else if (const auto* truth = node.as_boolean()) {
    entry.kind = TomlEntry::Kind::truth;
    entry.shown = entry.text = truth->get() ? "true" : "false";
  } else {
    entry.shown = name_of_other(node);
  }
  return entry;
}

}  // namespace

Result<std::vector<TomlEntry>> read_toml_file(const std::string& path) {
  const auto cannot_read = [&](const std::string& why) {
    return Error{.code = ErrorCode::not_found,
                 .message = "Cannot read the configuration file " + toml_string(path) + ": " + why + "."};
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot_read(std::strerror(errno));
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
                 .message = path + ":" + std::to_string(error.source().begin.line) + ": " +
                            std::string(error.description()) + "."};
  }
  std::vector<TomlEntry> entries;
  for (const auto& [key, node] : parsed.table()) entries.push_back(to_entry(key, node));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return entries;
}

}  // namespace eventq::cli
