// json_writer.h: appends JSON to a string.
//
// The writer places commas and quotes. The caller must open and close objects and arrays correctly; nothing
// checks that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time_text.h"
#include "eventq/clock.h"

namespace eventq {

// Appends `text` as a JSON string with its quotes.
// REQUIRES: `text` is valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();

  JsonWriter& key(std::string_view name);  // REQUIRES: `name` has no characters to escape

  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& number(double number);  // the shortest text that reads back as the same; null if not finite
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& time(TimePoint time);
  JsonWriter& raw(std::string_view json);  // appended unchanged

 private:
  void separate();

  std::string& out_;
  bool first_ = true;  // the next value needs no comma before it
};

}  // namespace eventq
