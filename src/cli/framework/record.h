// record.h: reads members of a JSON answer by path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace eventq::cli {

// "payload.to" is the member `to` of the member `payload`. A member whose name contains the dot has
// precedence.
[[nodiscard]] std::optional<JsonValue> value_at(const JsonValue& value, std::string_view path);

// The value as text: a string without quotes, any other type as JSON. Nothing when it is absent or null.
[[nodiscard]] std::optional<std::string> text_at(const JsonValue& value, std::string_view path);

[[nodiscard]] std::optional<std::int64_t> integer_at(const JsonValue& value, std::string_view path);

// The elements of the array `name`; empty when it is not an array.
[[nodiscard]] std::vector<JsonValue> elements_at(const JsonValue& value, std::string_view name);

// The parsed body of an answer. Its values live as long as this object.
class AnswerJson {
 public:
  explicit AnswerJson(std::string_view body);
  AnswerJson(const AnswerJson&) = delete;
  AnswerJson& operator=(const AnswerJson&) = delete;

  // False if the body is not JSON: then the value is null, so every member is absent, and error() says why.
  explicit operator bool() const { return error_.empty(); }
  const JsonValue& operator*() const { return value_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  JsonParser parser_{kAnswerDepth};
  JsonValue value_;
  std::string error_;
};

// Returns valid JSON unchanged, and makes any other text a JSON string.
[[nodiscard]] std::string as_json(const std::string& text);

// A message of JsonParser without its first phrase, which is about the body of a request.
[[nodiscard]] std::string json_fault(const Error& error);

// Splits "a,b" into a and b. Drops empty parts.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list, char separator = ',');

// Joins parts with `separator`.
[[nodiscard]] std::string join_list(const std::vector<std::string>& parts, std::string_view separator = ",");

}  // namespace eventq::cli
