// json_writer.h: appends JSON to a string.
//
// The writer places commas and quotes. The caller must open and close objects and arrays correctly; nothing
// checks that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_text.h"
#include "eventq/clock.h"

namespace eventq {

// Appends `text` as a JSON string with its quotes.
// REQUIRES: `text` is valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);  // REQUIRES: `name` has no characters to escape

  JsonWriter& string(std::string_view text);
  JsonWriter& string_or_null(std::string_view text) { return text.empty() ? null() : string(text); }
  JsonWriter& strings(const std::vector<std::string>& texts);  // as an array
  JsonWriter& integer(std::int64_t number);
  JsonWriter& integer_or_null(std::optional<std::int64_t> number) {
    return number ? integer(*number) : null();
  }
  JsonWriter& number(double number);  // the shortest text that reads back as the same; null if not finite
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& time(TimePoint time);
  JsonWriter& time_or_null(std::optional<TimePoint> at) { return at ? time(*at) : null(); }
  JsonWriter& raw(std::string_view json);  // appended unchanged

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string& out_;
  bool first_ = true;  // the next value needs no comma before it
};

// The text that `write(json)` writes.
template <typename Write>
[[nodiscard]] std::string json_text(Write write) {
  std::string text;
  JsonWriter json(text);
  write(json);
  return text;
}

}  // namespace eventq
