// cli_failures_test.cc: `eventq failures`: groups of failed events are listed, shown and retried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli_support.h"

namespace eventq {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CliFailuresTest : public CliTest {
 protected:
  // Two events with one cause and one with another.
  void SetUp() override {
    CliTest::SetUp();
    failed_event("a", "550 5.1.1 <alice@example.com>: no such user");
    failed_event("a", "550 5.1.1 <bob@example.com>: no such user");
    failed_event("b", "card_declined: 51");
  }

  [[nodiscard]] std::string group(const std::string& cause) const {
    return member(eventq({"failures", "show", cause}).out, "id");
  }

  const std::string no_user_ = "550 5.1.1 <#>: no such user";
};

TEST_F(CliFailuresTest, FailuresListsShowsAndRetriesGroups) {
  const Finished list = eventq({"failures", "-o", "table", "--fields", "queue,events,sample"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(list.out,
            "QUEUE  EVENTS  MESSAGE\n"
            "main        2  550 5.1.1 <bob@example.com>: no such user\n"
            "main        1  card_declined: 51\n");

  const std::string id = group(no_user_);
  const Finished shown = eventq({"failures", "show", id, "-o", "table"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(
      shown.out,
      AllOf(HasSubstr("Group " + id + ": 2 events of queue main failed, first "),
            HasSubstr("Message: 550 5.1.1 <bob@example.com>: no such user\nGrouped as: " + no_user_ + "\n"),
            HasSubstr("\nEvent 2 failed last:\n"), HasSubstr("\nEvents: 1, 2\n"),
            HasSubstr("\nRun them again: eventq failures retry " + id + "\n")));

  const Finished retried = eventq({"failures", "retry", id, "--yes", "--expect", "2", "--reason", "fixed"});
  EXPECT_EQ(retried.exit_code, 0) << retried.err;
  EXPECT_EQ(retried.out, "{\"id\":1}\n{\"id\":2}\n");
  EXPECT_EQ(retried.err, "Retried 2 of 2 events.\n");
  EXPECT_EQ(status_of("1"), "PENDING");
  EXPECT_EQ(status_of("3"), "FAILED");
  EXPECT_THAT(eventq({"logs", "1"}).out, HasSubstr("\"reason\":\"fixed\""));
}

TEST_F(CliFailuresTest, TheGroupAloneIsTheListAlsoWithOptions) {
  const std::string list = eventq({"failures", "ls"}).out;

  EXPECT_EQ(eventq({"failures"}).out, list);
  EXPECT_EQ(eventq({"failures", "--limit", "100"}).out, list);
  EXPECT_EQ(eventq({"failures", "--queue", "other"}).out, "");
  EXPECT_EQ(eventq({"failures", "--limit", "1001"}).exit_code, 2);
  EXPECT_THAT(eventq({"failures", "--help"}).out, HasSubstr("failures retry"));
}

TEST_F(CliFailuresTest, AGroupIsNamedByItsIdABeginningOfItOrItsCause) {
  const std::string id = group(no_user_);
  ASSERT_EQ(id.size(), 8U);

  for (const std::string& name : {id, id.substr(0, 4), no_user_}) {
    EXPECT_EQ(member(eventq({"failures", "show", name}).out, "events"), "2") << name;
  }
  for (const std::string& name : {id.substr(0, 3), std::string("no such user")}) {
    const Finished unknown = eventq({"failures", "show", name});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.err,
                HasSubstr("there is no group of failures \"" + name + "\"; `eventq failures` lists them."));
  }
}

TEST_F(CliFailuresTest, ACauseInTwoQueuesNeedsTheQueue) {
  publish("c", {"--retries", "0", "--queue", "mail"});
  HttpClient client(server_.port());
  ASSERT_EQ(client.get("/events/subscribe?worker_id=w1&queue=mail&tags=c")->status, 200);
  report("4", "fail", R"(,"error_message":"card_declined: 51")");

  const Finished both = eventq({"failures", "show", "card_declined: 51"});

  EXPECT_EQ(both.exit_code, 1);
  EXPECT_THAT(both.err,
              AllOf(HasSubstr("names several groups"), HasSubstr("(queue mail)"), HasSubstr("(queue main)")));
  EXPECT_EQ(member(eventq({"failures", "show", "card_declined: 51", "--queue", "mail"}).out, "last_event_id"),
            "4");
}

TEST_F(CliFailuresTest, AGroupShowsItsFirstTenEvents) {
  for (int i = 0; i < 10; ++i) failed_event("c", "disk full");
  EXPECT_THAT(eventq({"failures", "show", "disk full", "-o", "table"}).out,
              testing::ContainsRegex("Events: ([0-9]+, ){9}[0-9]+\n"));
  failed_event("c", "disk full");
  EXPECT_THAT(eventq({"failures", "show", "disk full", "-o", "table"}).out,
              testing::ContainsRegex("Events: ([0-9]+, ){10}…\n"));
}

TEST_F(CliFailuresTest, ADryRunAndAWrongExpectationChangeNothing) {
  const Finished dry = eventq({"failures", "retry", no_user_, "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0);
  EXPECT_EQ(dry.out, "{\"id\":1}\n{\"id\":2}\n");
  EXPECT_EQ(
      dry.err,
      "Would retry 2 events of queue main: 550 5.1.1 <bob@example.com>: no such user. Nothing changed.\n"
      "Run again with --yes --expect 2.\n");

  const Finished other = eventq({"failures", "retry", no_user_, "--yes", "--expect", "3"});
  EXPECT_EQ(other.exit_code, 6);
  EXPECT_THAT(other.err, HasSubstr("expected 3 events, but the group has 2 now. Nothing changed."));

  const Finished unconfirmed = eventq({"failures", "retry", no_user_});
  EXPECT_EQ(unconfirmed.exit_code, 2);
  EXPECT_THAT(unconfirmed.err,
              HasSubstr("there is no terminal to confirm on. Give --yes, best with --expect 2;"));
  EXPECT_EQ(status_of("1"), "FAILED");
}

TEST_F(CliFailuresTest, AListOfFailedEventsHasAnErrorColumn) {
  publish("c");

  EXPECT_THAT(eventq({"ls", "--status", "FAILED", "-o", "table", "--time", "iso"}).out,
              AllOf(HasSubstr("  ERROR\n"), HasSubstr("  card_declined: 51\n")));
  EXPECT_THAT(eventq({"ls", "--status", "PENDING", "-o", "table"}).out, Not(HasSubstr("ERROR")));
}

}  // namespace
}  // namespace eventq
