// toml_file.h: a configuration file as a flat list of keys and values. The wrapper round toml++.
//
// A table is an entry, and so is each of its members, down to kTomlDepth keys; what is deeper
// inside is left out.
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
  std::vector<std::string> path;  // its key, behind those of the tables it is in
  std::size_t line = 0;           // of the key
  TomlKind kind = TomlKind::other;
  std::string
      text;  // the value without quotes; of a list, its texts, separated by kListEnd; of a table: empty
  std::string shown;  // the value for a message, on one line: "5m" with its quotes, 3, an array
};

inline constexpr std::size_t kTomlDepth = 4;

// In the order of the file, a table before what is in it. Errors: not_found when it cannot be read;
// invalid_argument with "PATH:LINE: " in front when it is no TOML.
Result<std::vector<TomlEntry>> read_toml_file(const std::string& path);

// The same for text that was read already; `path` is for messages.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, const std::string& path);

}  // namespace eventq::server
