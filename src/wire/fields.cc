// fields.cc: see fields.h.
#include "wire/fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/numbers.h"
#include "base/range.h"
#include "base/time_text.h"
#include "eventq/limits.h"

namespace eventq::wire {

Error invalid(std::string_view field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::string(field)};
}

Error at(std::string_view where, Error error) {
  if (where.empty()) return error;
  // `where` ends with '.', which is for the field only.
  error.message = std::string(where.substr(0, where.size() - 1)) + ": " + error.message;
  error.field = std::string(where) + error.field;
  if (error.field.ends_with('.')) error.field.pop_back();  // the error is about the object itself
  return error;
}

std::string unknown_name(std::string_view kind, const std::string& name,
                         const std::vector<std::string_view>& known) {
  std::string message = "There is no " + std::string(kind) + " \"" + name + "\" here";
  if (!known.empty()) message += "; there are ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i > 0) message += i + 1 == known.size() ? " and " : ", ";
    message += known[i];
  }
  return message + ".";
}

Fields::Fields(const JsonValue& value, std::string where, UnknownMembers unknown)
    : where_(std::move(where)), unknown_(unknown) {
  if (value.type() != JsonType::object) {
    fault_ = at(where_, {ErrorCode::invalid_argument, "A JSON object is needed here.", ""});
    return;
  }
  members_ = value.members();
  asked_.resize(members_.size());
}

const JsonMember* Fields::find(std::string_view name) {
  known_.push_back(name);  // for the error about an unknown member, which lists the known ones
  // The parser refuses duplicate members, so the first match is the only one.
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].name != name) continue;
    asked_[i] = true;
    return &members_[i];
  }
  return nullptr;
}

void Fields::refuse(std::string_view name, std::string message) {
  if (fault_) return;
  fault_ = at(where_, {ErrorCode::invalid_argument, std::move(message), std::string(name)});
}

void Fields::refuse(const Error& error) {
  if (!fault_) fault_ = error;
}

std::nullopt_t Fields::wrong_type(std::string_view name, std::string_view wanted) {
  refuse(name, std::string(name) + " must be " + std::string(wanted) + ".");
  return std::nullopt;
}

// The member as `read` returns it. Nothing from `read` means that the member has the wrong type.
template <typename Read>
std::invoke_result_t<Read, const JsonValue&> Fields::read(std::string_view name, std::string_view wanted,
                                                          Read read) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (auto value = read(member->value)) return value;
  return wrong_type(name, wanted);
}

std::optional<std::string> Fields::text(std::string_view name) {
  return read(name, "a string",
              [](const JsonValue& value) { return std::optional<std::string>(value.string()); });
}

std::optional<std::int64_t> Fields::integer(std::string_view name) {
  return read(name, "a whole number without quotes, fraction or exponent",
              [](const JsonValue& value) { return value.integer(); });
}

std::optional<std::int64_t> Fields::integer_in(std::string_view name, std::int64_t least, std::int64_t most,
                                               std::string_view unit) {
  const auto value = integer(name);
  const auto fault = out_of_range(name, value, least, most, unit);
  if (!fault) return value;
  refuse(name, fault->message);
  return std::nullopt;
}

std::optional<int> Fields::small_integer(std::string_view name) {
  using Limits = std::numeric_limits<int>;
  const auto value = integer_in(name, Limits::min(), Limits::max());
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<double> Fields::number(std::string_view name) {
  return read(name, "a number", [](const JsonValue& value) -> std::optional<double> {
    const JsonType type = value.type();
    if (type != JsonType::integer && type != JsonType::number) return std::nullopt;
    return parse_all<double>(value.raw());  // accepts every JSON number, unless it does not fit
  });
}

std::optional<bool> Fields::boolean(std::string_view name) {
  return read(name, "true or false", [](const JsonValue& value) { return value.boolean(); });
}

std::optional<TimePoint> Fields::time(std::string_view name) {
  return read(name, "a time in UTC such as \"2025-12-24T10:30:00.000Z\"", [](const JsonValue& value) {
    const auto text = value.string();
    return text ? parse_iso_time(*text) : std::nullopt;
  });
}

// Checks the range here, because a larger number of seconds could overflow as milliseconds.
std::optional<Millis> Fields::delay() {
  constexpr std::int64_t kLongest = std::chrono::seconds(limits::kDelay).count();
  const auto delay = integer_in("delay", 0, kLongest, "seconds");
  return delay ? std::optional<Millis>(std::chrono::seconds(*delay)) : std::nullopt;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name) {
  const auto values = array(name);
  if (!values) return std::nullopt;
  std::vector<std::string> found;
  for (const JsonValue& value : *values) {
    const auto text = value.string();
    if (!text) return wrong_type(name, "an array of strings");
    found.emplace_back(*text);
  }
  return found;
}

std::optional<std::vector<JsonValue>> Fields::array(std::string_view name) {
  return read(name, "an array", [](const JsonValue& value) {
    return value.type() == JsonType::array ? std::optional(value.elements()) : std::nullopt;
  });
}

std::optional<JsonValue> Fields::object(std::string_view name) {
  return read(name, "an object", [](const JsonValue& value) {
    return value.type() == JsonType::object ? std::optional(value) : std::nullopt;
  });
}

std::optional<JsonValue> Fields::any(std::string_view name) {
  const JsonMember* member = find(name);
  return member ? std::optional(member->value) : std::nullopt;
}

// Unknown members are found last, because only then all known names are in known_.
std::optional<Error> Fields::fault() {
  const auto unknown = std::find(asked_.begin(), asked_.end(), false);
  if (fault_ || unknown_ == UnknownMembers::ignored || unknown == asked_.end()) return fault_;
  const std::string name(members_[static_cast<std::size_t>(unknown - asked_.begin())].name);
  refuse(name, unknown_name("member", name, known_));
  return fault_;
}

}  // namespace eventq::wire
