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

// Returns valid JSON unchanged, and makes any other text a JSON string.
[[nodiscard]] std::string as_json(const std::string& text);

// Splits "a,b" into a and b. Drops empty parts.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list, char separator = ',');

// Joins parts with `separator`.
[[nodiscard]] std::string join_list(const std::vector<std::string>& parts, char separator = ',');

}  // namespace eventq::cli
