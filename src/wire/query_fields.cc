// query_fields.cc: see query_fields.h.
#include "wire/query_fields.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/numbers.h"
#include "wire/fields.h"

namespace eventq::wire {

void QueryFields::refuse(std::string_view name, std::string message) {
  if (!fault_) fault_ = invalid(name, std::move(message));
}

std::optional<std::string> QueryFields::text(std::string_view name) {
  known_.push_back(name);
  // parse_query() refuses a repeated name, so the first match is the only one.
  for (std::size_t i = 0; i < query_.size(); ++i) {
    if (query_[i].name != name) continue;
    asked_[i] = true;
    return query_[i].value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> QueryFields::whole(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  if (const auto number = parse_whole<std::int64_t>(*value)) return number;
  refuse(name, std::string(name) + " must be a whole number of digits only, such as 20.");
  return std::nullopt;
}

std::optional<bool> QueryFields::boolean(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto is = [&](std::string_view word) { return equals_ignoring_case(*value, word); };
  if (is("true") || is("1") || is("yes")) return true;
  if (is("false") || is("0") || is("no")) return false;
  refuse(name, std::string(name) + " must be true or false (or 1, 0, yes, no).");
  return std::nullopt;
}

std::optional<Millis> QueryFields::seconds(std::string_view name, std::chrono::seconds most) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  const auto time = parse_seconds(name, *value, most);
  if (time) return *time;
  refuse(name, time.error().message);
  return std::nullopt;
}

// Unknown parameters are found last, because only then all known names are in known_.
std::optional<Error> QueryFields::fault() {
  const auto unknown = std::find(asked_.begin(), asked_.end(), false);
  if (fault_ || unknown == asked_.end()) return fault_;
  const std::string& name = query_[static_cast<std::size_t>(unknown - asked_.begin())].name;
  refuse(name, unknown_name("parameter", name, known_));
  return fault_;
}

}  // namespace eventq::wire
