// query_fields_test.cc: which values of a query are accepted, and in which spellings.
#include "wire/query_fields.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/parsed.h"

namespace eventq::wire {
namespace {

using std::chrono::seconds;

class QueryFieldsTest : public ParsedTest {};

TEST_F(QueryFieldsTest, ABooleanIsTrueOneOrYesInAnyLetterCase) {
  for (const std::string text : {"true", "True", "TRUE", "1", "yes", "Yes", "YES"}) {
    const auto parameters = query("sync=" + text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.boolean("sync"), true) << text;
    EXPECT_FALSE(fields.fault().has_value()) << text;
  }
  for (const std::string text : {"false", "False", "FALSE", "0", "no", "No", "NO"}) {
    const auto parameters = query("sync=" + text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.boolean("sync"), false) << text;
    EXPECT_FALSE(fields.fault().has_value()) << text;
  }
}

TEST_F(QueryFieldsTest, ABooleanWithAnotherValueIsRefused) {
  for (const std::string text : {"", "2", "01", "t", "y", "on", "null", "true,false", "%20true"}) {
    const auto parameters = query("sync=" + text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.boolean("sync"), std::nullopt) << text;
    const auto fault = fields.fault();
    ASSERT_TRUE(fault.has_value()) << text;
    EXPECT_EQ(fault->field, "sync");
    EXPECT_EQ(fault->message, "sync must be true or false (or 1, 0, yes, no).");
  }
}

TEST_F(QueryFieldsTest, SecondsMayHaveAFraction) {
  const struct {
    std::string text;
    Millis time;
  } rows[] = {
      {"0", Millis(0)},
      {"30", seconds(30)},
      {"30.0", seconds(30)},
      {"0.5", Millis(500)},
      {"0.05", Millis(50)},
      {"0.005", Millis(5)},
      {"1.25", Millis(1250)},
      {"59.999", Millis(59'999)},
      {"0.0001", Millis(1)},
      {"0.9991", Millis(1000)},
      {"0.9990", Millis(999)},
      {"3600", seconds(3600)},
      {"3600.000", seconds(3600)},
  };
  for (const auto& row : rows) {
    const auto parameters = query("wait=" + row.text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.seconds("wait", seconds(3600)), row.time) << row.text;
    EXPECT_FALSE(fields.fault().has_value()) << row.text;
  }
}

TEST_F(QueryFieldsTest, SecondsHaveNoSignExponentOrUnit) {
  for (const std::string text : {"", "-1", "%2B5", ".5", "5.", ".", "1e3", "1.5e1", "30s", "0x10", "030",
                                 "1,5", "1.2.3", "1.-5", "inf", "nan", "%201", "99999999999999999999"}) {
    const auto parameters = query("wait=" + text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.seconds("wait", seconds(3600)), std::nullopt) << text;
    const auto fault = fields.fault();
    ASSERT_TRUE(fault.has_value()) << text;
    EXPECT_EQ(fault->field, "wait");
    EXPECT_EQ(fault->message, "wait must be seconds, such as 30 or 30.5.");
  }
}

TEST_F(QueryFieldsTest, SecondsOverTheMaximumAreRefusedWithTheRange) {
  for (const std::string text : {"3601", "3600.001", "9223372036854775807"}) {
    const auto parameters = query("wait=" + text);
    QueryFields fields(parameters);
    EXPECT_EQ(fields.seconds("wait", seconds(3600)), std::nullopt) << text;
    const auto fault = fields.fault();
    ASSERT_TRUE(fault.has_value()) << text;
    EXPECT_EQ(fault->message, "wait is " + text + "; it must be from 0 to 3600 seconds.");
  }
}

}  // namespace
}  // namespace eventq::wire
