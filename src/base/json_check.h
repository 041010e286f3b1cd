// json_check.h: checks that the tokens of a text are exactly one JSON value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_document.h"
#include "eventq/error.h"

namespace eventq {

// Reuses its memory from one check to the next.
//
// Threads: belongs to one thread.
class JsonChecker {
 public:
  explicit JsonChecker(std::size_t depth) : levels_(depth) {}

  // Returns nothing if the tokens are one JSON value, nested at most `depth` levels, whose objects have no
  // member name twice. Adds the decoded member names that contain escape sequences to document.unescaped.
  // REQUIRES: the document has at least one token.
  // Errors: invalid_argument; the message has the offset, or the name of the duplicate member.
  std::optional<Error> check(JsonDocument& document);

 private:
  struct Level {
    bool is_object = false;
    std::size_t first_name = 0;  // in names_
  };

  bool walk();
  bool take_name();
  bool take_value();
  bool take_scalar();
  bool open_level();
  bool close_level();
  bool check_string(std::string_view token, std::string_view* unescaped);
  bool names_differ(std::size_t first_name);
  bool fail(std::string_view what, std::size_t offset);
  bool fail_at_token(std::string_view what);

  [[nodiscard]] char closer() const { return levels_[depth_ - 1].is_object ? '}' : ']'; }

  JsonDocument* document_ = nullptr;
  std::size_t index_ = 0;      // the next token
  std::size_t backslash_ = 0;  // offset of the first one at or after the last string; npos: none
  std::size_t depth_ = 0;
  std::vector<Level> levels_;            // its size is the maximum depth
  std::vector<std::string_view> names_;  // member names of the open objects, outermost first
  std::vector<std::uint64_t> hashes_;
  std::string scratch_;
  std::string fault_;
};

// "The body is not valid JSON: <what>."
[[nodiscard]] Error json_error(std::string_view what);

}  // namespace eventq
