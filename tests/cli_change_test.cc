// cli_change_test.cc: the commands that change events: retry and cancel, by id and by filter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli_support.h"

namespace eventq {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(CliTest, RetryChangesFailedEventsAndNoneThatAWorkerHolds) {
  const std::string failed = failed_event("a", "no");
  const std::string held = publish("b");
  EXPECT_EQ(claim("b"), held);
  const std::string fresh = publish("c");
  const std::string later = publish("d");
  EXPECT_EQ(claim("d"), later);
  report(later, "fail");  // waits five minutes for its retry

  const Finished done = eventq({"retry", failed, held, fresh, later, "--reason", "fixed", "-o", "id"});

  EXPECT_EQ(done.exit_code, 1);
  EXPECT_EQ(done.out, failed + "\n" + later + "\n");
  EXPECT_THAT(done.err,
              HasSubstr("event 2 is PROCESSING, so it was not changed. `eventq retry --held 2` takes"));
  EXPECT_EQ(status_of(held), "PROCESSING");
  EXPECT_THAT(done.err, HasSubstr("event 3 is PENDING and does not wait for a retry"));
  EXPECT_EQ(status_of(failed), "PENDING");
  EXPECT_EQ(claim("d"), later);
  EXPECT_THAT(eventq({"logs", failed}).out, HasSubstr("\"reason\":\"fixed\""));
}

// Both workers picked the event, but only the second one holds it.
TEST_F(CliTest, AChangeByWorkerIsForTheEventsThatItHasNow) {
  const std::string id = publish("a");
  HttpClient client(server_.port());
  ASSERT_EQ(client.get("/events/subscribe?tags=a&worker_id=first")->status, 200);
  ASSERT_EQ(client.post("/events/" + id + "/release", R"({"worker_id":"first"})")->status, 200);
  ASSERT_EQ(client.get("/events/subscribe?tags=a&worker_id=second")->status, 200);

  const auto held_by = [&](const std::string& worker) {
    return eventq(
               {"retry", "--held", "--filter", "status:PROCESSING worker:" + worker, "--dry-run", "-o", "id"})
        .out;
  };
  EXPECT_EQ(held_by("first"), "");
  EXPECT_EQ(held_by("second"), id + "\n");
}

TEST_F(CliTest, RetryTakesAHeldEventOnlyWithHeld) {
  const std::string held = publish("b");
  EXPECT_EQ(claim("b"), held);

  EXPECT_EQ(eventq({"retry", held}).exit_code, 1);
  EXPECT_EQ(status_of(held), "PROCESSING");
  EXPECT_EQ(eventq({"retry", "--held", held}).exit_code, 0);
  EXPECT_EQ(status_of(held), "PENDING");
}

TEST_F(CliTest, ResetIsStillUnderstood) {
  const std::string held = publish("b");
  EXPECT_EQ(claim("b"), held);

  EXPECT_EQ(eventq({"reset", held}).exit_code, 0);
  EXPECT_EQ(status_of(held), "PENDING");
  EXPECT_THAT(eventq({"reset", "--help"}).out, HasSubstr("eventq retry"));
  EXPECT_THAT(eventq({"--help"}).out, testing::Not(HasSubstr("reset")));
}

TEST_F(CliTest, AChangeNamesItsAuthor) {
  const std::string id = publish("a");
  EXPECT_EQ(member(eventq({"cancel", id, "--by", "Ann Lee"}).out, "by"), "Ann Lee");

  ProcessSetup with_name = setup({"retry", id});
  with_name.environment.emplace_back("EVENTQ_BY=eve");
  EXPECT_EQ(member(run(with_name).out, "by"), "eve");

  EXPECT_THAT(member(eventq({"cancel", id}).out, "by"), testing::MatchesRegex("[^@]+@[^@]+"));
}

TEST_F(CliTest, CancelEndsEventsAndRetryMakesThemPending) {
  const std::string id = publish("a");

  EXPECT_EQ(eventq({"cancel", id, "--dry-run"}).err, "Would cancel 1 event. Nothing changed.\n");
  EXPECT_EQ(status_of(id), "PENDING");
  EXPECT_EQ(member(eventq({"cancel", id}).out, "action"), "CANCELLED");
  EXPECT_EQ(status_of(id), "CANCELLED");
  EXPECT_EQ(eventq({"retry", id}).exit_code, 0);
  EXPECT_EQ(status_of(id), "PENDING");
}

TEST_F(CliTest, ADryRunByIdCountsOnlyEventsThatWouldChange) {
  const std::string failed = failed_event("a", "no");
  const std::string held = publish("b");
  EXPECT_EQ(claim("b"), held);
  const std::string done = publish("c");
  EXPECT_EQ(claim("c"), done);
  report(done, "complete");

  const Finished cancel = eventq({"cancel", "99999", failed, done, "--dry-run"});
  EXPECT_EQ(cancel.exit_code, 1);
  EXPECT_THAT(cancel.err, HasSubstr("There is no event 99999."));
  EXPECT_THAT(cancel.err,
              HasSubstr("event 3 is COMPLETED: `eventq cancel` is for PENDING,PROCESSING,FAILED"));
  EXPECT_THAT(cancel.err, EndsWith("Would cancel 1 event. Nothing changed.\n"));

  const Finished retry = eventq({"retry", failed, held, "99999", "--dry-run"});
  EXPECT_EQ(retry.exit_code, 1);
  EXPECT_THAT(retry.err, EndsWith("Would retry 1 event. Nothing changed.\n"));
  EXPECT_EQ(status_of(failed), "FAILED");
}

TEST_F(CliTest, AFilterCanBeTriedAndThenLimitedToItsCount) {
  const std::string timeout = failed_event("email", "Timeout after 5 s");
  const std::string refused = failed_event("email", "refused");
  const std::string sms = failed_event("sms", "timeout");
  const std::string filter = "status:FAILED tag:email error:timeout";

  const Finished dry = eventq({"retry", "--filter", filter, "--dry-run", "-o", "id"});
  EXPECT_EQ(dry.exit_code, 0);
  EXPECT_EQ(dry.out, timeout + "\n");
  EXPECT_THAT(dry.err, StartsWith("Would retry 1 event (oldest "));
  EXPECT_THAT(dry.err, EndsWith(" in queue main. Nothing changed.\nRun again with --yes --expect 1.\n"));
  EXPECT_EQ(status_of(timeout), "FAILED");

  const Finished moved = eventq({"retry", "--filter", filter, "--yes", "--expect", "2"});
  EXPECT_EQ(moved.exit_code, 6);
  EXPECT_EQ(moved.err, "eventq: expected 2 events, but the filter matches 1 now. Nothing changed.\n");
  EXPECT_EQ(status_of(timeout), "FAILED");

  const Finished unconfirmed = eventq({"retry", "--filter", filter});
  EXPECT_EQ(unconfirmed.exit_code, 2);
  EXPECT_THAT(unconfirmed.err, HasSubstr("Give --yes, best with --expect 1"));
  EXPECT_EQ(status_of(timeout), "FAILED");

  const Finished done = eventq({"retry", "--filter", filter, "--yes", "--expect", "1", "-o", "id"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, timeout + "\n");
  EXPECT_EQ(done.err, "Retried 1 of 1 event.\n");
  EXPECT_EQ(status_of(timeout), "PENDING");
  EXPECT_EQ(status_of(refused), "FAILED");
  EXPECT_EQ(status_of(sms), "FAILED");
}

TEST_F(CliTest, AFilterWithoutStatusMatchesTheStatusesOfTheCommand) {
  const std::string failed = failed_event("a", "no");
  const std::string cancelled = publish("a");
  EXPECT_EQ(eventq({"cancel", cancelled}).exit_code, 0);
  const std::string held = publish("a");
  EXPECT_EQ(claim("a"), held);
  const std::string fresh = publish("a");
  const auto would = [&](const std::string& command) {
    return eventq({command, "--filter", "tag:a", "--dry-run", "-o", "id"}).out;
  };

  EXPECT_EQ(would("retry"), failed + "\n");
  EXPECT_EQ(would("cancel"), failed + "\n" + held + "\n" + fresh + "\n");
  EXPECT_EQ(eventq({"retry", "--held", "--filter", "tag:a", "--dry-run", "-o", "id"}).out,
            failed + "\n" + cancelled + "\n" + held + "\n" + fresh + "\n");
  EXPECT_EQ(eventq({"cancel", "--filter", "older:1h", "--yes"}).err, "No event matches. Nothing changed.\n");
  EXPECT_EQ(eventq({"cancel", "--filter", "status:CANCELLED", "--dry-run"}).err,
            "No event matches. Nothing changed.\n");
}

TEST_F(CliTest, AChangeNeedsIdsOrAFilter) {
  EXPECT_EQ(eventq({"retry"}).exit_code, 2);
  EXPECT_EQ(eventq({"retry", "1", "--filter", "tag:a"}).exit_code, 2);
  EXPECT_EQ(eventq({"retry", "1", "--expect", "1"}).exit_code, 2);
  EXPECT_EQ(eventq({"retry", "--filter", "staus:FAILED"}).exit_code, 2);
  EXPECT_EQ(eventq({"retry", "--filter", "tag:a", "--expect", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace eventq
