// json.h: a strict JSON parser.
//
// Strict means: valid UTF-8, no duplicate member at any level, no lone surrogates, no trailing bytes, and no
// more levels than the parser allows. The whole document is checked, including the parts that the caller
// never reads. Numbers are tokens: a number too large for any machine type is valid, and raw() returns it as
// sent.
//
// Built on the first stage of simdjson, which checks UTF-8 and finds where every token begins. json_check.h
// then checks the grammar. The second stage of simdjson is not used, because it refuses valid numbers (1e400,
// integers beyond 64 bits), accepts duplicate members, and does not keep the original bytes.
//
// Threads: a JsonParser belongs to one thread. Its values are views into the parser and the text; the next
//          parse invalidates them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/limits.h"

namespace eventq {

// A text passed to parse_padded() must be followed by this many readable bytes.
inline constexpr std::size_t kJsonPadding = 64;

// The depth of a server's answer: it nests a payload a few levels deeper than the request did.
inline constexpr std::size_t kAnswerDepth = limits::kJsonDepth + 8;

enum class JsonType : std::uint8_t { null, boolean, integer, number, string, array, object };

struct JsonDocument;
struct JsonMember;

// One value of a parsed document. Cheap to copy.
class JsonValue {
 public:
  JsonValue() = default;  // null; raw() is empty

  [[nodiscard]] JsonType type() const;
  // The value's bytes as sent, without the white space around them.
  [[nodiscard]] std::string_view raw() const { return raw_; }

  // Empty when the value has another type. An integer is a number without fraction and exponent that fits
  // into 64 bits.
  [[nodiscard]] std::optional<std::string_view> string() const;
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;

  // The members of an object, or the elements of an array, in the order sent. Each call scans all tokens
  // inside the value, so call it once and keep the result.
  // REQUIRES: type() is object, or array.
  [[nodiscard]] std::vector<JsonMember> members() const;
  [[nodiscard]] std::vector<JsonValue> elements() const;

 private:
  friend class JsonParser;
  JsonValue(JsonDocument& document, std::size_t index);

  JsonDocument* document_ = nullptr;
  std::size_t index_ = 0;  // of its first token
  std::string_view raw_;
};

struct JsonMember {
  std::string_view name;
  JsonValue value;
};

class JsonParser {
 public:
  explicit JsonParser(std::size_t depth = limits::kJsonDepth);
  ~JsonParser();
  JsonParser(const JsonParser&) = delete;
  JsonParser& operator=(const JsonParser&) = delete;

  // Parses `text` without copying it.
  // REQUIRES: kJsonPadding bytes after `text` are readable. The text outlives the values.
  // Errors: invalid_argument. The message says what is wrong and, where known, at which byte, from 0.
  Result<JsonValue> parse_padded(std::string_view text);

  // The same for any text. Copies the text; the copy lives until the next parse.
  Result<JsonValue> parse(std::string_view text);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace eventq
