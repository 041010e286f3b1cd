// json_writer.h: appends JSON to a string. Commas are its business, nesting the caller's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time_text.h"
#include "eventq/clock.h"

namespace eventq {

// Writes `text` as a JSON string with its quotes. `text` is valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();

  JsonWriter& key(std::string_view name);  // a name without characters to escape

  JsonWriter& string(std::string_view text);
  JsonWriter& integer(std::int64_t number);
  JsonWriter& number(double number);  // the shortest text that is read as the same; null if there is none
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& time(TimePoint time);
  JsonWriter& raw(std::string_view json);  // spliced in as it is

 private:
  void separate();

  std::string& out_;
  bool first_ = true;  // nothing stands before the next value at this level
};

}  // namespace eventq
