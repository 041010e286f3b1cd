// parsed.h: a fixture that parses JSON and queries, for tests of functions that read them.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/percent.h"

namespace eventq::wire {

class ParsedTest : public testing::Test {
 protected:
  // The value is valid until the next call.
  JsonValue json(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *value : JsonValue();
  }

  static std::vector<QueryParameter> query(std::string_view text) {
    auto parsed = parse_query(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    return parsed ? *parsed : std::vector<QueryParameter>();
  }

  JsonParser parser_;
};

}  // namespace eventq::wire
