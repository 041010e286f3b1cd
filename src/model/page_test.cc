// page_test.cc: how a page ends by its bytes, and how errors are searched.
#include "model/page.h"

#include <gtest/gtest.h>

#include <string>

namespace eventq {
namespace {

// Events 1, 2 and 3, each with `entries` log entries that have no text.
EventPage page_with_logs(std::size_t entries) {
  EventPage page;
  for (const std::int64_t number : {1, 2, 3}) {
    Event event;
    event.id = EventId{number};
    page.events.push_back(event);
    page.logs[event.id].resize(entries);
  }
  return page;
}

TEST(Page, LogsOfManyShortEntriesEndAPage) {
  EventPage page = page_with_logs(100);
  limit_bytes(page, 50'000);
  EXPECT_EQ(page.events.size(), 2U) << "an entry counts 256 bytes";
  EXPECT_EQ(page.logs.size(), 2U);
  EXPECT_EQ(page.next(), EventId{2});
}

TEST(Page, AnErrorIsFoundInAnyCase) {
  EXPECT_TRUE(contains_ignoring_case("Connection TIMEOUT [7]", "timeout [7]"));
  EXPECT_TRUE(contains_ignoring_case("any", ""));
  EXPECT_FALSE(contains_ignoring_case("Connection {7}", "[7]")) << "only letters have a case";
  EXPECT_FALSE(contains_ignoring_case("out", "timeout"));
}

}  // namespace
}  // namespace eventq
