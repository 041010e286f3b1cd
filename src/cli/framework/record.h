// record.h: the members of a JSON answer by path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace eventq::cli {

// "payload.to": the member `to` of the member `payload`. A member whose own name has the dots wins.
[[nodiscard]] std::optional<JsonValue> value_at(const JsonValue& value, std::string_view path);

// The same as text: a string without its quotes, anything else as JSON. Empty when absent or null.
[[nodiscard]] std::optional<std::string> text_at(const JsonValue& value, std::string_view path);

[[nodiscard]] std::optional<std::int64_t> integer_at(const JsonValue& value, std::string_view path);

// The elements of the array that is the member `name`; none when it is no array.
[[nodiscard]] std::vector<JsonValue> elements_at(const JsonValue& value, std::string_view name);

// "a,b" as a and b; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list, char separator = ',');

// The other way round.
[[nodiscard]] std::string join_list(const std::vector<std::string>& parts, char separator = ',');

}  // namespace eventq::cli
