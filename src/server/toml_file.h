// toml_file.h: reads a TOML file into a flat list of keys and values. The only user of toml++.
//
// A table is an entry, and so is each of its members, down to kTomlDepth keys. Deeper
// members are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq::server {

enum class TomlKind : std::uint8_t { text, number, fraction, truth, list, table, other };

struct TomlEntry {
  std::vector<std::string> path;  // the keys of its tables, then its own key
  std::size_t line = 0;           // the line of the key
  TomlKind kind = TomlKind::other;
  std::string
      text;  // the value without quotes; of a list, its texts, separated by kListEnd; of a table: empty
  std::string shown;  // the value as a message shows it, on one line: "5m" with its quotes, 3, an array
};

// The keys from `first` on, joined with dots. REQUIRES: first < entry.path.size().
[[nodiscard]] std::string key_of(const TomlEntry& entry, std::size_t first = 0);

inline constexpr std::size_t kTomlDepth = 4;

// In the order of the file, a table before its members. Errors: not_found when the file cannot be read,
// invalid_argument when it is not TOML; the message starts with "PATH:LINE: ".
Result<std::vector<TomlEntry>> read_toml_file(const std::string& path);

// The same for the text of a file; `path` is for messages.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, const std::string& path);

}  // namespace eventq::server
