// event_filter_test.cc: tests of event_filter.h.
#include "cli/commands/event_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace eventq::cli {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(EventFilter, ReadsEveryCondition) {
  const auto filter = parse_event_filter(
      "  status:FAILED tag:email,sms queue:main worker:host:1 correlation:c1 error:timeout older:1h30m ");

  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_THAT(filter->status, Optional(std::string("FAILED")));
  EXPECT_THAT(filter->tag, Optional(std::string("email,sms")));
  EXPECT_THAT(filter->queue, Optional(std::string("main")));
  EXPECT_THAT(filter->worker, Optional(std::string("host:1")));
  EXPECT_THAT(filter->correlation, Optional(std::string("c1")));
  EXPECT_THAT(filter->error, Optional(std::string("timeout")));
  EXPECT_THAT(filter->older, Optional(Millis(std::chrono::minutes(90))));
}

TEST(EventFilter, AStatusMayBeInAnyLetterCase) {
  EXPECT_THAT(parse_event_filter("status:failed").value().status, Optional(std::string("FAILED")));
  EXPECT_THAT(parse_event_filter("status:Completed_with_errors").value().status,
              Optional(std::string("COMPLETED_WITH_ERRORS")));
}

TEST(EventFilter, LeavesAbsentConditionsUnset) {
  const auto filter = parse_event_filter("queue:a/b");

  ASSERT_TRUE(filter);
  EXPECT_EQ(query_of(*filter, "FAILED").text(), "status=FAILED&queue=a%2Fb");
}

TEST(EventFilter, ReportsWhatIsWrong) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& row : {
           Case{"", "needs a condition"},
           Case{"   ", "needs a condition"},
           Case{"FAILED", "no condition \"FAILED\""},
           Case{"staus:FAILED", "no condition \"staus\"; did you mean status?"},
           Case{"status:", "status: needs a value"},
           Case{"status:foo", "no status \"foo\"; there are PENDING, PROCESSING, COMPLETED, "},
           Case{"status:FAILD", "no status \"FAILD\"; did you mean FAILED?"},
           Case{"tag:a tag:b", "tag: is given twice"},
           Case{"older:1h older:2h", "older: is given twice"},
           Case{"older:long", "such as older:1h, not \"long\""},
       }) {
    const auto filter = parse_event_filter(row.text);

    ASSERT_FALSE(filter) << row.text;
    EXPECT_THAT(filter.error().message, HasSubstr(row.message));
  }
}

TEST(EventFilter, ContainsIgnoringCaseFindsAPart) {
  EXPECT_TRUE(contains_ignoring_case("Connection Timeout after 5 s", "timeout"));
  EXPECT_TRUE(contains_ignoring_case("x", ""));
  EXPECT_FALSE(contains_ignoring_case("Connection refused", "timeout"));
  EXPECT_FALSE(contains_ignoring_case("", "x"));
}

}  // namespace
}  // namespace eventq::cli
