// fields.cc: see fields.h.
#include "wire/fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "base/range.h"
#include "base/time_text.h"
#include "eventq/limits.h"

namespace eventq::wire {

Error invalid(std::string_view field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::string(field)};
}

Error at(std::string_view where, Error error) {
  if (where.empty()) return error;
  error.message = std::string(where.substr(0, where.size() - 1)) + ": " + error.message;
  error.field = std::string(where) + error.field;
  if (error.field.ends_with('.')) error.field.pop_back();  // the error is about the object itself
  return error;
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

void Fields::wrong_type(std::string_view name, std::string_view wanted) {
  refuse(name, std::string(name) + " must be " + std::string(wanted) + ".");
}

std::optional<std::string> Fields::text(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (const auto value = member->value.string()) return std::string(*value);
  wrong_type(name, "a string");
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (const auto value = member->value.integer()) return value;
  wrong_type(name, "a whole number");
  return std::nullopt;
}

std::optional<int> Fields::small_integer(std::string_view name) {
  using Limits = std::numeric_limits<int>;
  const auto value = integer(name);
  if (!value) return std::nullopt;
  const auto fault = out_of_range(name, value, Limits::min(), Limits::max());
  if (!fault) return static_cast<int>(*value);
  refuse(name, fault->message);
  return std::nullopt;
}

std::optional<double> Fields::number(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  const std::string_view raw = member->value.raw();
  const JsonType type = member->value.type();
  double number = 0;
  // from_chars() accepts every JSON number.
  const bool read = (type == JsonType::integer || type == JsonType::number) &&
                    std::from_chars(raw.data(), raw.data() + raw.size(), number).ec == std::errc();
  if (read) return number;
  wrong_type(name, "a number");
  return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (const auto value = member->value.boolean()) return value;
  wrong_type(name, "true or false");
  return std::nullopt;
}

std::optional<TimePoint> Fields::time(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (const auto text = member->value.string()) {
    if (const auto time = parse_iso_time(*text)) return time;
  }
  wrong_type(name, "a time in UTC such as \"2025-12-24T10:30:00.000Z\"");
  return std::nullopt;
}

// Checks the range here, because a larger number of seconds could overflow as milliseconds.
std::optional<Millis> Fields::delay() {
  constexpr std::int64_t kLongest = std::chrono::seconds(limits::kDelay).count();
  const auto delay = integer("delay");
  if (!delay) return std::nullopt;
  const auto fault = out_of_range("delay", delay, 0, kLongest, "seconds");
  if (!fault) return std::chrono::seconds(*delay);
  refuse("delay", fault->message);
  return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view name) {
  const auto values = array(name);
  if (!values) return std::nullopt;
  std::vector<std::string> found;
  for (const JsonValue& value : *values) {
    const auto text = value.string();
    if (!text) {
      wrong_type(name, "an array of strings");
      return std::nullopt;
    }
    found.emplace_back(*text);
  }
  return found;
}

std::optional<std::vector<JsonValue>> Fields::array(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (member->value.type() == JsonType::array) return member->value.elements();
  wrong_type(name, "an array");
  return std::nullopt;
}

std::optional<JsonValue> Fields::object(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  if (member->value.type() == JsonType::object) return member->value;
  wrong_type(name, "an object");
  return std::nullopt;
}

std::optional<JsonValue> Fields::any(std::string_view name) {
  const JsonMember* member = find(name);
  if (!member) return std::nullopt;
  return member->value;
}

std::optional<Error> Fields::fault() {
  const auto unknown = std::find(asked_.begin(), asked_.end(), false);
  if (fault_ || unknown_ == UnknownMembers::ignored || unknown == asked_.end()) return fault_;
  const std::string name(members_[static_cast<std::size_t>(unknown - asked_.begin())].name);
  std::string message = "There is no member \"" + name + "\" here";
  if (!known_.empty()) message += "; there are ";
  for (std::size_t i = 0; i < known_.size(); ++i) {
    if (i > 0) message += i + 1 == known_.size() ? " and " : ", ";
    message += known_[i];
  }
  refuse(name, message + ".");
  return fault_;
}

}  // namespace eventq::wire
