// event_filter_test.cc: tests of event_filter.h.
#include "wire/event_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "support/times.h"

namespace eventq::wire {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(EventFilter, ReadsEveryCondition) {
  const auto filter = parse_event_filter(
      "  status:FAILED tag:email,sms queue:main worker:host:1 correlation:c1 event_id:e1 pattern:a.> "
      "error:timeout older:1h30m newer:2d ",
      kStart);

  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->status, Status::failed);
  EXPECT_EQ(filter->tags, (std::vector<std::string>{"email", "sms"}));
  EXPECT_EQ(filter->queue, "main");
  EXPECT_EQ(filter->worker_id, "host:1");
  EXPECT_EQ(filter->correlation_id, "c1");
  EXPECT_EQ(filter->event_id, "e1");
  EXPECT_EQ(filter->pattern, "a.>");
  EXPECT_EQ(filter->error, "timeout");
  EXPECT_EQ(filter->since, kStart - 48h);
  EXPECT_EQ(filter->until, kStart - 90min + 1ms);
}

TEST(EventFilter, ATimeMayBeAnAge) {
  const auto filter = parse_event_filter("since:2h until:2025-12-31T23:00:00Z", kStart);

  ASSERT_TRUE(filter) << filter.error().message;
  EXPECT_EQ(filter->since, kStart - 2h);
  EXPECT_EQ(filter->until, kStart - 1h);
}

TEST(EventFilter, AValueInQuotesMayHaveBlanks) {
  EXPECT_EQ(parse_event_filter(R"(error:"timed out" queue:main)", kStart).value().error, "timed out");
  EXPECT_EQ(parse_event_filter(R"(error:"a \"b\" \\ \n")", kStart).value().error, R"(a "b" \ \n)");
  EXPECT_EQ(parse_event_filter(R"(error:it"s)", kStart).value().error, R"(it"s)");
}

TEST(EventFilter, AStatusMayBeInAnyLetterCase) {
  EXPECT_EQ(parse_event_filter("status:failed", kStart).value().status, Status::failed);
  EXPECT_EQ(parse_event_filter("status:Completed_with_errors", kStart).value().status,
            Status::completed_with_errors);
}

TEST(EventFilter, LeavesAbsentConditionsUnset) {
  const auto filter = parse_event_filter("queue:a/b", kStart);

  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->queue, "a/b");
  EXPECT_FALSE(filter->status);
  EXPECT_FALSE(filter->since);
  EXPECT_TRUE(filter->tags.empty());
}

TEST(EventFilter, ReportsWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& row : {
           Case{"", "needs a condition"},
           Case{"   ", "needs a condition"},
           Case{"FAILED",
                "At character 1 of the filter: a filter has no condition \"FAILED\"; there are "
                "status:, tag:, queue:, worker:, correlation:, event_id:, pattern:, error:, since:, "
                "until:, older: and newer:"},
           Case{"tag:a staus:FAILED",
                "At character 7 of the filter: a filter has no condition \"staus\"; did you mean status?"},
           Case{"status:", "status: needs a value"},
           Case{"status", "status: needs a value"},
           Case{"status:foo", "no status \"foo\"; there are PENDING, PROCESSING, COMPLETED, "},
           Case{"status:FAILD", "no status \"FAILD\"; did you mean FAILED?"},
           Case{"tag:a tag:b", "At character 7 of the filter: tag: is given twice"},
           Case{"older:1h older:2h", "older: is given twice"},
           Case{"older:1h until:2h", "only one of until: and older:"},
           Case{"older:long", "such as older:1h, not \"long\""},
           Case{"newer:-1h", "such as newer:1h, not \"-1h\""},
           Case{"since:now", "neither a time in UTC such as 2025-12-24T10:30:00Z, nor an age such as 1h"},
           Case{"pattern:a..b", "empty word"},
           Case{"error:\"x", "no closing \""},
           Case{"error:\"x\"y", "after a closing \" there must be a blank or the end"},
       }) {
    const auto filter = parse_event_filter(row.text, kStart);

    ASSERT_FALSE(filter) << row.text;
    EXPECT_EQ(filter.error().field, "filter");
    EXPECT_THAT(filter.error().message, HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace eventq::wire
