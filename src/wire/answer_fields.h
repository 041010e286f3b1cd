// answer_fields.h: reads required members and lists of a server's answer, for clients.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "eventq/error.h"
#include "wire/fields.h"

namespace eventq::wire {

// The error for an answer that has this fault.
inline Error unreadable(const Error& fault) {
  return {ErrorCode::internal, "The server's answer cannot be read: " + fault.message, fault.field};
}

// The value of the required member `name`. After an error the caller reads on with an empty value, because
// `fields` keeps the first error only.
template <typename T>
T need(Fields& fields, std::string_view name, std::optional<T> value) {
  if (!value) fields.refuse(name, std::string(name) + " is missing.");
  return value ? std::move(*value) : T();
}

// A required member that is the name of an enumerator: a status, an action.
template <typename T>
T need_named(Fields& fields, std::string_view name, std::optional<T> (*named)(std::string_view)) {
  const std::string word = need(fields, name, fields.text(name));
  const auto meaning = named(word);
  if (!meaning) fields.refuse(name, "\"" + word + "\" is not a known " + std::string(name) + ".");
  return meaning.value_or(T());
}

// An optional member; empty when it is absent.
inline std::string text_in(Fields& fields, std::string_view name) { return fields.text(name).value_or(""); }

// Reads each element of the list `name` in `body` with `read`.
template <typename T>
Result<std::vector<T>> read_list(const JsonValue& body, const std::string& name,
                                 Result<T> (*read)(const JsonValue&, const std::string&)) {
  Fields fields(body, "", UnknownMembers::ignored);
  const auto values = need(fields, name, fields.array(name));
  if (auto fault = fields.fault()) return unreadable(*fault);
  std::vector<T> list;
  list.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto value = read(values[i], name + "[" + std::to_string(i) + "].");
    if (!value) return value.error();
    list.push_back(std::move(*value));
  }
  return list;
}

}  // namespace eventq::wire
