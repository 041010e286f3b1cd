// fields.h: reads the members of a JSON object by name and type.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::wire {

// An invalid_argument error about `field`.
Error invalid(std::string_view field, std::string message);

// A time in seconds, such as "30" or "30.5": digits, and after a point more digits. More than three of these
// are rounded up to a millisecond. No sign and no exponent.
// Errors: invalid_argument about `field`, also for more than `most`.
Result<Millis> parse_seconds(std::string_view field, std::string_view text, std::chrono::seconds most);

// The sentence about a member or parameter that no reader asked for: `known` are those that one did ask for.
std::string unknown_name(std::string_view kind, const std::string& name,
                         const std::vector<std::string_view>& known);

// Members that the reader does not ask for. In a request they are a mistake; in an answer they come from a
// newer server.
enum class UnknownMembers : bool { refused, ignored };

// Call one method for every possible member, then fault(). A member that is null counts as absent.
class Fields {
 public:
  // `where` is written before the names of members in errors: "events[3].".
  Fields(const JsonValue& value, std::string where, UnknownMembers unknown = UnknownMembers::refused);

  std::optional<std::string> text(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<int> small_integer(std::string_view name);
  std::optional<double> number(std::string_view name);  // with or without a fraction
  std::optional<bool> boolean(std::string_view name);
  std::optional<TimePoint> time(std::string_view name);
  std::optional<Millis> seconds(std::string_view name, std::chrono::seconds most);  // as parse_seconds()
  std::optional<std::vector<std::string>> texts(std::string_view name);             // an array of strings
  std::optional<std::vector<JsonValue>> array(std::string_view name);
  std::optional<JsonValue> object(std::string_view name);
  std::optional<JsonValue> any(std::string_view name);  // of any type; null is not absent

  // What is written before the names of members in errors, and a name with it.
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] std::string path(std::string_view name) const { return where_ + std::string(name); }

  // The first error: the value is not an object, a member has the wrong type, or is unknown and unknown
  // members are refused.
  [[nodiscard]] std::optional<Error> fault();

  // Records an error, unless there is one already.
  void refuse(std::string_view name, std::string message);
  void refuse(const Error& error);

 private:
  const JsonMember* find(std::string_view name);
  template <typename Read>
  std::invoke_result_t<Read, const JsonValue&> read(std::string_view name, std::string_view wanted,
                                                    Read read);
  std::nullopt_t wrong_type(std::string_view name, std::string_view wanted);

  std::string where_;
  UnknownMembers unknown_;
  std::vector<JsonMember> members_;
  std::vector<bool> asked_;
  std::vector<std::string_view> known_;
  std::optional<Error> fault_;
};

// `error` with `where` written before its field and its message.
Error at(std::string_view where, Error error);

}  // namespace eventq::wire
