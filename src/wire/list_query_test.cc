// list_query_test.cc: tests of list_query.h.
#include "wire/list_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace eventq::wire {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Result<ListFilter> parse(std::string_view text) {
  return parse_list_query(parse_query(text).value(), kStart);
}

TEST(ListQuery, ReadsEachParameter) {
  const auto filter = parse(
      "status=FAILED&tags=a,b&event_id=17&queue=q&worker_id=w&correlation_id=c&limit=5&offset=10&after_id=3&"
      "before_id=9&order=desc&pattern=invoice.*&since=2h&until=2025-12-31T23:00:00Z&include=payload,logs,"
      "result");

  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(filter->status, Status::failed);
  EXPECT_EQ(filter->tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(filter->event_id, "17");
  EXPECT_EQ(filter->queue, "q");
  EXPECT_EQ(filter->worker_id, "w");
  EXPECT_EQ(filter->correlation_id, "c");
  EXPECT_EQ(filter->limit, 5U);
  EXPECT_EQ(filter->offset, 10);
  EXPECT_EQ(filter->after, EventId{3});
  EXPECT_EQ(filter->before, EventId{9});
  EXPECT_EQ(filter->order, ListOrder::descending);
  EXPECT_EQ(filter->pattern, "invoice.*");
  EXPECT_EQ(filter->since, kStart - 2h);
  EXPECT_EQ(filter->until, kStart - 1h);
  EXPECT_EQ(filter->include, (ListIncludes{.payload = true, .result = true, .logs = true}));
}

TEST(ListQuery, WithoutParametersItIsTheFirstTwentyEvents) {
  const auto filter = parse("");

  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->limit, 20U);
  EXPECT_EQ(filter->after, EventId{});
  EXPECT_FALSE(filter->before);
  EXPECT_EQ(filter->order, ListOrder::ascending);
  EXPECT_FALSE(filter->include.any());
}

TEST(ListQuery, AStatusMayBeInAnyLetterCase) {
  for (const std::string_view text : {"status=completed_with_errors", "status=Completed_With_Errors"}) {
    EXPECT_EQ(parse(text).value().status, Status::completed_with_errors) << text;
  }
  EXPECT_EQ(parse("status=pending").value().status, Status::pending);
}

TEST(ListQuery, ReportsWhatIsWrong) {
  struct Row {
    std::string_view query;
    std::string_view field;
    std::string_view message;
  };
  const Row rows[] = {
      {"status=lost", "status", "There is no status \"lost\"; there are PENDING, "},
      {"status=", "status", "There is no status"},
      {"limit=0", "limit", "1 to 1000"},
      {"limit=1001", "limit", "1 to 1000"},
      {"offset=-1", "offset", "whole number"},
      {"offset=1000000001", "offset", "Use `next` for deep pages."},
      {"after_id=x", "after_id", "whole number"},
      {"before_id=x", "before_id", "whole number"},
      {"tags=", "tags", ""},
      {"event_id=", "event_id", ""},
      {"event_id=a%20b", "event_id", ""},
      {"page=2", "page", "no parameter \"page\" here; there are filter, status, "},
      {"order=up", "order", "asc (the oldest first) or desc (the newest first)"},
      {"since=yesterday", "since",
       "neither a time in UTC such as 2025-12-24T10:30:00Z, nor an age such as 1h"},
      {"until=", "until", "neither a time"},
      {"since=1h&until=2h", "until", "later than since"},
      {"pattern=a..b", "pattern", "empty word"},
      {"include=payload,body", "include", "no \"body\" to include. include takes payload, result and logs"},
      {"include=", "include", "no \"\" to include"},
      {"cursor=17", "cursor", "the `next` of an earlier page"},
      {"cursor=after-", "cursor", "the `next` of an earlier page"},
      {"cursor=after--1", "cursor", "the `next` of an earlier page"},
      {"cursor=after-9007199254740992", "cursor", "the `next` of an earlier page"},
      {"cursor=before-7&order=asc", "cursor", "in the other order"},
      {"cursor=after-7&order=desc", "cursor", "in the other order"},
      {"cursor=after-7&offset=1", "offset", "cannot be combined"},
      {"filter=", "filter", "needs a condition"},
      {"filter=staus:FAILED", "filter", "did you mean status?"},
      {"filter=status:FAILED&status=FAILED", "status", "is given twice"},
      {"filter=tag:a&tags=b", "tags", "is given twice"},
      {"filter=older:1h&until=1h", "until", "is given twice"},
  };
  for (const Row& row : rows) {
    const auto filter = parse(row.query);
    ASSERT_FALSE(filter.has_value()) << row.query;
    EXPECT_EQ(filter.error().field, row.field) << row.query;
    EXPECT_THAT(filter.error().message, HasSubstr(std::string(row.message))) << row.query;
  }
}

TEST(ListQuery, AFilterAndParametersSelectTogether) {
  const auto filter = parse("filter=tag:a+queue:q&status=FAILED&since=1h");

  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(filter->tags, (std::vector<std::string>{"a"}));
  EXPECT_EQ(filter->queue, "q");
  EXPECT_EQ(filter->status, Status::failed);
  EXPECT_EQ(filter->since, kStart - 1h);
}

TEST(ListQuery, ACursorContinuesBehindItsPageInItsOrder) {
  EventPage page;
  page.more = true;
  page.events.resize(1);
  page.events[0].id = EventId{7};
  EXPECT_EQ(next_cursor(page, {}), "after-7");
  EXPECT_EQ(next_cursor(page, {.order = ListOrder::descending}), "before-7");
  page.more = false;
  EXPECT_EQ(next_cursor(page, {}), std::nullopt);
  page.scanned_to = EventId{9};
  EXPECT_EQ(next_cursor(page, {}), "after-9");

  EXPECT_EQ(parse("cursor=after-7").value().after, EventId{7});
  EXPECT_EQ(parse("cursor=after-7&after_id=5").value().after, EventId{7});
  const ListFilter down = parse("cursor=before-7&before_id=9").value();
  EXPECT_EQ(down.before, EventId{7});
  EXPECT_EQ(down.order, ListOrder::descending);
}

}  // namespace
}  // namespace eventq::wire
