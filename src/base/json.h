// json.h: strict JSON in, values out.
//
// Strict: valid UTF-8, no duplicate member at any level, no lone surrogates,
// no trailing bytes, no deeper than the parser allows. A document that parses
// is valid as a whole, also the parts nobody looks at. Numbers are tokens: one
// too large for any machine type is valid, and raw() returns it as sent.
//
// Built on the first stage of simdjson, which checks UTF-8 and finds where every
// token begins; json_check.h then checks the grammar. simdjson's own second stage
// would refuse valid numbers (1e400, integers beyond 64 bits), accept duplicate
// members, and forget the bytes of what it read.
//
// Threads: a JsonParser belongs to one thread. Its values are views into the
// parser and the text: they end with the next parse.
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

// Text handed to parse_padded() needs this many readable bytes behind it.
inline constexpr std::size_t kJsonPadding = 64;

// Of a server's answer: what a request held stands a few levels further in.
inline constexpr std::size_t kAnswerDepth = limits::kJsonDepth + 8;

enum class JsonType : std::uint8_t { null, boolean, integer, number, string, array, object };

struct JsonDocument;
struct JsonMember;

// One value of a parsed document. Cheap to copy.
class JsonValue {
 public:
  JsonValue() = default;  // a null without bytes

  [[nodiscard]] JsonType type() const;
  // The value's bytes as sent, without white space around it.
  [[nodiscard]] std::string_view raw() const { return raw_; }

  // Empty when the value is of another type. An integer is a whole number
  // token (no fraction, no exponent) that fits.
  [[nodiscard]] std::optional<std::string_view> string() const;
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  [[nodiscard]] std::optional<bool> boolean() const;

  // In the order sent. REQUIRES: the type fits.
  // Walks over everything inside the value, so ask once and keep the answer.
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

  // Parses `text`, behind which kJsonPadding bytes must be readable. Copies nothing:
  // the text must outlive the values.
  // Errors: invalid_argument, saying what is wrong and, where known, at which
  // byte (the first is byte 0).
  Result<JsonValue> parse_padded(std::string_view text);

  // The same for any text; copies it first. The copy lives until the next parse.
  Result<JsonValue> parse(std::string_view text);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace eventq
