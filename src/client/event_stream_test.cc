// event_stream_test.cc: events are found wherever the bytes are split.
#include "client/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eventq::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kBytes =
    "retry: 1000\n\n: keep-alive\nid: 1\nevent: event\ndata: {\"a\":1}\n\n"
    "event:event\r\ndata:one\r\ndata: two\r\n\r\nevent: other\ndata: no\n\ndata: unnamed\n\nevent: "
    "event\ndata";

TEST(EventStream, FindsTheSameEventsHoweverTheBytesAreCut) {
  for (std::size_t size = 1; size <= kBytes.size(); ++size) {
    std::vector<std::string> seen;
    EventStream stream([&](std::string_view data) {
      seen.emplace_back(data);
      return Result<void>();
    });
    for (std::size_t at = 0; at < kBytes.size(); at += size) {
      ASSERT_TRUE(stream.feed(kBytes.substr(at, size)));
    }
    EXPECT_THAT(seen, ElementsAre("{\"a\":1}", "one\ntwo")) << size;
  }
}

TEST(EventStream, EndsWithTheFirstError) {
  int calls = 0;
  EventStream stream([&](std::string_view) -> Result<void> {
    ++calls;
    return Error{ErrorCode::internal, "no", ""};
  });
  EXPECT_EQ(stream.feed(kBytes).error().message, "no");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace eventq::client
