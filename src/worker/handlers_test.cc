// handlers_test.cc: which registrations are accepted, which events are claimed, and which handlers run.
#include "worker/handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace eventq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Handled nothing(const Event&, const std::stop_token&) { return Handled::done(); }

// A handler that returns its name as an error.
Handler named(std::string name) {
  return [name](const Event&, const std::stop_token&) { return Handled::error(name); };
}

std::vector<std::string> names(const Handlers& handlers, const Event& event) {
  std::vector<std::string> found;
  const auto handled = handlers.run(event, {});
  for (const Handled& one : handled.value()) found.push_back(one.message());
  return found;
}

Event event(std::vector<std::string> tags, std::string pattern = "") {
  Event made;
  made.tags = std::move(tags);
  made.pattern = std::move(pattern);
  return made;
}

TEST(Handlers, AllMatchingHandlersRunInTheOrderOfRegistration) {
  Handlers handlers;
  handlers.on_pattern("invoice.>", named("archive"));
  handlers.on_tag("email", named("mail"));
  handlers.on_tag("print", named("print"));
  handlers.on_tag("email", named("count"));

  EXPECT_THAT(names(handlers, event({"email"}, "invoice.created")), ElementsAre("archive", "mail", "count"));
  EXPECT_THAT(names(handlers, event({"print", "email"})), ElementsAre("mail", "print", "count"));
  EXPECT_THAT(names(handlers, event({"fax"}, "order.created")), IsEmpty());
}

TEST(Handlers, AnExceptionsDetailHasItsTypeAndTheExceptionsNestedInIt) {
  Handlers handlers;
  handlers.on_tag("a", [](const Event&, const std::stop_token&) -> Handled {
    try {
      throw std::invalid_argument("no address");
    } catch (...) {
      std::throw_with_nested(std::runtime_error("cannot send"));
    }
  });

  const auto handled = handlers.run(event({"a"}), {}).value();

  EXPECT_EQ(handled.at(0).message(), "cannot send");
  EXPECT_THAT(handled.at(0).detail(), HasSubstr("std::runtime_error"));
  EXPECT_THAT(handled.at(0).detail(),
              HasSubstr(": cannot send\ncaused by std::invalid_argument: no address"));
}

TEST(Handlers, AnExceptionIsARetryAndTheOtherHandlersRun) {
  Handlers handlers;
  handlers.on_tag("a", [](const Event&, const std::stop_token&) -> Handled {
    throw std::runtime_error("no connection");
  });
  handlers.on_tag("a", [](const Event&, const std::stop_token&) -> Handled { throw 7; });
  handlers.on_tag("a", named("last"));

  const auto handled = handlers.run(event({"a"}), {}).value();

  ASSERT_EQ(handled.size(), 3U);
  EXPECT_EQ(handled[0].kind(), Handled::HandledKind::retry);
  EXPECT_EQ(handled[0].message(), "no connection");
  EXPECT_EQ(handled[1].kind(), Handled::HandledKind::retry);
  EXPECT_EQ(handled[1].message(), "The handler threw something that is not a std::exception.");
  EXPECT_EQ(handled[2].message(), "last");
}

TEST(Handlers, NoHandlerIsCalledAfterTheStopWasRequested) {
  std::stop_source stop;
  int runs = 0;
  Handlers handlers;
  const auto fire = [&](const Event&, const std::stop_token&) {
    ++runs;
    stop.request_stop();
    return Handled::done();
  };
  handlers.on_tag("a", fire);
  handlers.on_tag("a", fire);

  EXPECT_FALSE(handlers.run(event({"a"}), stop.get_token()));
  EXPECT_EQ(runs, 1);
}

TEST(Handlers, AStopDuringTheLastHandlerKeepsTheResults) {
  std::stop_source stop;
  Handlers handlers;
  handlers.on_tag("a", [&](const Event&, const std::stop_token&) {
    stop.request_stop();
    return Handled::done();
  });

  EXPECT_EQ(handlers.run(event({"a"}), stop.get_token()).value().size(), 1U);
}

TEST(Handlers, TheSubscriptionHasEachTagOnce) {
  Handlers handlers;
  handlers.on_tag("email", nothing);
  handlers.on_tag(" print ", nothing);
  handlers.on_tag("email", nothing);

  EXPECT_THAT(handlers.subscription({}).value(), ElementsAre("email", "print"));
  EXPECT_EQ(handlers.run(event({"print"}), {}).value().size(), 1U);
}

TEST(Handlers, APatternSeesEveryEventUnlessTagsRestrictIt) {
  Handlers handlers;
  handlers.on_tag("email", nothing);
  handlers.on_pattern("invoice.*", nothing);

  EXPECT_THAT(handlers.subscription({}).value(), IsEmpty());
  EXPECT_THAT(handlers.subscription({"billing"}).value(), ElementsAre("billing", "email"));
}

TEST(Handlers, AWorkerWithoutRegistrationsIsRefused) {
  EXPECT_THAT(Handlers().subscription({}).error().message, HasSubstr("has no handler"));
}

TEST(Handlers, BadRegistrationsAreRefused) {
  Handlers tag;
  tag.on_tag("two words", nothing);
  EXPECT_EQ(tag.subscription({}).error().field, "tags");

  Handlers pattern;
  pattern.on_pattern("invoice..created", nothing);
  EXPECT_EQ(pattern.subscription({}).error().field, "pattern");

  Handlers empty;
  empty.on_tag("email", Handler());
  EXPECT_EQ(empty.subscription({}).error().message, "The handler for \"email\" is empty.");
}

TEST(Handlers, TagsWithoutAPatternAreRefused) {
  Handlers handlers;
  handlers.on_tag("email", nothing);

  EXPECT_EQ(handlers.subscription({"billing"}).error().field, "tags");
}

}  // namespace
}  // namespace eventq
