// fields.h: the members of a JSON object, read by name and type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::wire {

// What is wrong with `field`.
Error invalid(std::string_view field, std::string message);

// Members that nobody asked for: a mistake in a request; in an answer, what a newer server says.
enum class UnknownMembers : bool { refused, ignored };

// Read every member there may be, then ask fault(). Null counts as absent.
class Fields {
 public:
  // `where` stands before the names in errors: "events[3].".
  Fields(const JsonValue& value, std::string where, UnknownMembers unknown = UnknownMembers::refused);

  std::optional<std::string> text(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name);
  std::optional<int> small_integer(std::string_view name);
  std::optional<double> number(std::string_view name);  // with or without a fraction
  std::optional<bool> boolean(std::string_view name);
  std::optional<TimePoint> time(std::string_view name);
  std::optional<Millis> delay();  // the member `delay`, in whole seconds
  std::optional<std::vector<std::string>> texts(std::string_view name);  // an array of strings
  std::optional<std::vector<JsonValue>> array(std::string_view name);
  std::optional<JsonValue> object(std::string_view name);
  std::optional<JsonValue> any(std::string_view name);  // also null

  // `name` as errors say it: with what stands before it.
  [[nodiscard]] std::string path(std::string_view name) const { return where_ + std::string(name); }

  // The first thing wrong: no object, a member of another type, a member not asked for unless those are
  // ignored.
  [[nodiscard]] std::optional<Error> fault();

  // Makes `message` about `name`, or an error found elsewhere, the first thing wrong, if nothing was before.
  void refuse(std::string_view name, std::string message);
  void refuse(const Error& error);

 private:
  const JsonMember* find(std::string_view name);
  void wrong_type(std::string_view name, std::string_view wanted);

  std::string where_;
  UnknownMembers unknown_;
  std::vector<JsonMember> members_;
  std::vector<bool> asked_;
  std::vector<std::string_view> known_;
  std::optional<Error> fault_;
};

// `error` with `where` before its field and, when there was one, its message.
Error at(std::string_view where, Error error);

}  // namespace eventq::wire
