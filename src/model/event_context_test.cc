// event_context_test.cc: the context of an event in its attributes.
#include "model/event_context.h"

#include <gtest/gtest.h>

#include <string>

namespace eventq {
namespace {

constexpr const char* kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

NewEvent traced() {
  NewEvent event{.title = "mail", .tags = {"email"}};
  event.traceparent = kTraceparent;
  event.tracestate = "rojo=1,congo=2";
  return event;
}

EventContext packed(NewEvent event) {
  pack_context(event);
  return context_of(Event{.attributes = event.attributes});
}

TEST(EventContextTest, OnlyAWellFormedTraceparentHasATraceId) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  EXPECT_EQ(trace_id_of("00-" + trace + "-b7ad6b7169203331-01"), trace);
  EXPECT_EQ(trace_id_of("cc-" + trace + "-b7ad6b7169203331-01-what-the-future-will-be"), trace);
  for (const std::string& bad : {
           std::string(),
           "ff-" + trace + "-b7ad6b7169203331-01",
           "00-" + trace + "-b7ad6b7169203331-01-more",
           "cc-" + trace + "-b7ad6b7169203331-01.more",
           "00-" + trace + "-b7ad6b7169203331-1",
           "00-" + trace + "-0000000000000000-01",
           "00-" + std::string(32, '0') + "-b7ad6b7169203331-01",
           std::string("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"),
           "00_" + trace + "-b7ad6b7169203331-01",
           "0g-" + trace + "-b7ad6b7169203331-01",
           "00-" + trace + "-b7ad6b7169203331-01, 00-" + trace + "-b7ad6b7169203331-01",
       }) {
    EXPECT_EQ(trace_id_of(bad), "") << bad;
  }
}

TEST(EventContextTest, AnEventWithoutAContextHasNoAttributes) {
  NewEvent event{.title = "mail", .tags = {"email"}};

  pack_context(event);

  EXPECT_EQ(event.attributes, "");
  EXPECT_EQ(event.trace_id, "");
}

TEST(EventContextTest, AContextIsReadAsItWasPacked) {
  NewEvent event = traced();
  event.published_by = "Ada \"L\"";
  const EventContext context = packed(event);

  EXPECT_EQ(context.traceparent, kTraceparent);
  EXPECT_EQ(context.tracestate, "rojo=1,congo=2");
  EXPECT_EQ(context.published_by, "Ada \"L\"");
}

TEST(EventContextTest, ATraceparentGivesTheTraceIdOfAnEventWithoutOne) {
  NewEvent event = traced();
  pack_context(event);
  NewEvent own = traced();
  own.trace_id = "mine";
  pack_context(own);

  EXPECT_EQ(event.trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(own.trace_id, "mine");
}

TEST(EventContextTest, AContextReplacesMembersOfTheSameNameAndKeepsOthers) {
  NewEvent event = traced();
  event.attributes = R"({"data":"base64","id":"1","traceparent":"bad","a\"b":[1, 2]})";

  pack_context(event);

  EXPECT_EQ(event.attributes, R"({"data":"base64","id":"1","a\"b":[1, 2],"traceparent":")" +
                                  std::string(kTraceparent) + R"(","tracestate":"rojo=1,congo=2"})");
}

TEST(EventContextTest, AttributesThatAreNoObjectStayAsTheyAre) {
  NewEvent event = traced();
  event.attributes = "[1]";

  pack_context(event);

  EXPECT_EQ(event.attributes, "[1]");
  EXPECT_EQ(context_of(Event{.attributes = "[1]"}).traceparent, "");
}

TEST(EventContextTest, AMalformedTraceparentOfACloudEventIsNoContext) {
  const EventContext context = context_of(Event{.attributes = R"({"traceparent":"bad","tracestate":"a=b"})"});

  EXPECT_EQ(context.traceparent, "");
  EXPECT_EQ(context.tracestate, "");
}

}  // namespace
}  // namespace eventq
