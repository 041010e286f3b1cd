// fields.cc: see fields.h.
#include "wire/fields.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "base/numbers.h"
#include "base/range.h"
#include "base/time_text.h"

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

Result<Millis> parse_seconds(std::string_view field, std::string_view text, std::chrono::seconds most) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  const auto whole = parse_whole<std::int64_t>(text.substr(0, point));
  const bool ends_with_point = point < text.size() && fraction.empty();
  if (!whole || ends_with_point || !std::all_of(fraction.begin(), fraction.end(), is_digit)) {
    return invalid(field, std::string(field) + " must be seconds, such as 30 or 30.5.");
  }
  // Before the conversion, because a larger number of seconds could overflow as milliseconds.
  if (auto fault = out_of_range(field, whole, 0, most.count(), "seconds")) return *fault;
  Millis time = std::chrono::seconds(*whole);
  Millis place(100);
  for (const char digit : fraction.substr(0, 3)) {
    time += (digit - '0') * place;
    place /= 10;
  }
  const bool has_more = fraction.size() > 3 && fraction.find_first_not_of('0', 3) != fraction.npos;
  if (has_more) time += Millis(1);
  const double seconds = std::chrono::duration<double>(time).count();
  const auto longest = static_cast<double>(most.count());
  if (auto fault = fraction_out_of_range(field, seconds, 0, longest, "seconds")) return *fault;
  return time;
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
  known_.reserve(24);  // the members of a new event, so that reading one allocates once
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

std::optional<int> Fields::small_integer(std::string_view name) {
  using Limits = std::numeric_limits<int>;
  const auto value = integer(name);
  const auto fault = out_of_range(name, value, Limits::min(), Limits::max());
  if (!fault) return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
  refuse(name, fault->message);
  return std::nullopt;
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

std::optional<Millis> Fields::seconds(std::string_view name, std::chrono::seconds most) {
  const JsonMember* member = find(name);
  if (!member || member->value.type() == JsonType::null) return std::nullopt;
  // The quotes of a string are part of raw(), so a string is refused like every other type.
  const auto time = parse_seconds(name, member->value.raw(), most);
  if (time) return *time;
  refuse(name, time.error().message);
  return std::nullopt;
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
