// queue_requests_test.cc: which requests about queues, waits and failures are accepted.
#include "wire/queue_requests.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/parsed.h"
#include "support/written.h"

namespace eventq::wire {
namespace {

using std::chrono::seconds;

constexpr std::string_view kCheckpoint = "0192f0c1-7c1e-7abc-8def-0123456789ab";

class QueueRequests : public ParsedTest {};

TEST_F(QueueRequests, AChangeMayHaveAReasonAndAnAuthor) {
  const auto both = parse_actor(json(R"({"reason":"deploy","by":"alice"})"));
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->reason, "deploy");
  EXPECT_EQ(both->by, "alice");
  EXPECT_TRUE(parse_actor(json("{}")).has_value());

  EXPECT_TRUE(parse_actor(json(R"({"reason":")" + std::string(1000, 'x') + R"("})")).has_value());
  EXPECT_FALSE(parse_actor(json(R"({"reason":")" + std::string(1001, 'x') + R"("})")).has_value());
  EXPECT_TRUE(parse_actor(json(R"({"by":")" + std::string(512, 'x') + R"("})")).has_value());
  EXPECT_FALSE(parse_actor(json(R"({"by":")" + std::string(513, 'x') + R"("})")).has_value());
  EXPECT_FALSE(parse_actor(json(R"({"by":"a\nb"})")).has_value());
  EXPECT_FALSE(parse_actor(json(R"({"status":"paused"})")).has_value());
}

TEST_F(QueueRequests, AnAuthorAndAReasonInTheQueryAreCheckedAsInABody) {
  const auto both = parse_actor(std::vector<QueryParameter>{{"by", "ann"}, {"reason", "deploy"}});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->by, "ann");
  EXPECT_EQ(both->reason, "deploy");
  EXPECT_TRUE(parse_actor(std::vector<QueryParameter>{}).has_value());

  EXPECT_EQ(parse_actor(std::vector<QueryParameter>{{"by", "a\nb"}}).error().field, "by");
  EXPECT_EQ(parse_actor(std::vector<QueryParameter>{{"who", "ann"}}).error().field, "who");
}

TEST_F(QueueRequests, ALogIsReadFromTheNewestOrBeforeAnEntry) {
  using Query = std::vector<QueryParameter>;
  const auto newest = parse_queue_log_query({}, "mail");
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->queue, "mail");
  EXPECT_EQ(newest->before, "");
  EXPECT_EQ(newest->limit, 100U);
  EXPECT_EQ(parse_queue_log_query(Query{{"before", std::string(kCheckpoint)}}, "mail")->before, kCheckpoint);

  EXPECT_EQ(parse_queue_log_query(Query{{"before", "7"}}, "mail").error().field, "before");
  EXPECT_EQ(parse_queue_log_query(Query{{"limit", "0"}}, "mail").error().field, "limit");
  EXPECT_EQ(parse_queue_log_query(Query{{"limit", "1001"}}, "mail").error().field, "limit");
}

TEST_F(QueueRequests, SupersedingNeedsAKey) {
  const auto request =
      parse_supersede(json(R"({"supersede_key":"invoice 9","reason":"withdrawn","by":"ann"})"));
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->key, "invoice 9");
  EXPECT_EQ(request->actor.reason, "withdrawn");
  EXPECT_EQ(request->actor.by, "ann");

  for (const std::string_view body : {"{}", R"({"supersede_key":""})", R"({"supersede_key":7})"}) {
    const auto refused = parse_supersede(json(body));
    ASSERT_FALSE(refused.has_value()) << body;
    EXPECT_EQ(refused.error().field, "supersede_key") << body;
  }
}

TEST_F(QueueRequests, AReplayReadsEachMember) {
  const auto request = parse_replay(
      json(
          R"({"from":"2025-12-24T10:30:00Z","to":"2025-12-24T10:30:00.001Z","statuses":["FAILED","cancelled","failed"],
      "tags":"a,b","pattern":"invoice.created","limit":5,"dry_run":true})"),
      "mail");

  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->filter.queue, "mail");
  EXPECT_EQ(request->filter.from, kNoon);
  EXPECT_EQ(request->filter.to, kNoon + Millis(1));
  EXPECT_EQ(request->filter.statuses, (std::vector<Status>{Status::failed, Status::cancelled}));
  EXPECT_EQ(request->filter.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request->filter.pattern, "invoice.created");
  EXPECT_EQ(request->filter.limit, 5U);
  EXPECT_FALSE(request->checkpoint.has_value());
  EXPECT_TRUE(request->dry_run);
}

TEST_F(QueueRequests, AReplaySinceACheckpointMatchesCompletedEvents) {
  const auto request = parse_replay(json(R"({"checkpoint":")" + std::string(kCheckpoint) + R"("})"), "mail");

  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->checkpoint, kCheckpoint);
  EXPECT_EQ(request->filter.statuses,
            (std::vector<Status>{Status::completed, Status::completed_with_errors}));
  EXPECT_EQ(request->filter.limit, 1000U);
  EXPECT_FALSE(request->dry_run);
}

TEST_F(QueueRequests, AReplayWithTooFewOrTooManyMembersIsRefused) {
  const std::string checkpoint = R"("checkpoint":")" + std::string(kCheckpoint) + "\"";
  const struct {
    std::string body;
    std::string_view field;
  } cases[] = {
      {"{}", "checkpoint"},
      {R"({"checkpoint":"last"})", "checkpoint"},
      {R"({"checkpoint":"0192F0C1-7c1e-7abc-8def-0123456789ab"})", "checkpoint"},
      {"{" + checkpoint + R"(,"from":"2025-12-24T10:30:00Z"})", "from"},
      {R"({"from":"2025-12-24T10:30:00Z","to":"2025-12-24T10:30:00Z"})", "to"},
      {R"({"from":"now"})", "from"},
      {"{" + checkpoint + R"(,"statuses":[]})", "statuses"},
      {"{" + checkpoint + R"(,"statuses":["PENDING"]})", "statuses"},
      {"{" + checkpoint + R"(,"statuses":["DONE"]})", "statuses"},
      {"{" + checkpoint + R"(,"tags":""})", "tags"},
      {"{" + checkpoint + R"(,"limit":0})", "limit"},
      {"{" + checkpoint + R"(,"limit":10001})", "limit"},
      {"{" + checkpoint + R"(,"queue":"mail"})", "queue"},
      {"{" + checkpoint + R"(,"cause":"x"})", "cause"},
  };
  for (const auto& row : cases) {
    const auto request = parse_replay(json(row.body), "mail");
    ASSERT_FALSE(request.has_value()) << row.body;
    EXPECT_EQ(request.error().field, row.field) << row.body;
  }
  for (const int limit : {1, 2, 9'999, 10'000}) {
    EXPECT_TRUE(parse_replay(json("{" + checkpoint + R"(,"limit":)" + std::to_string(limit) + "}"), "mail"));
  }
}

TEST_F(QueueRequests, ARetryMatchesFailedEventsOfAllQueuesUnlessItNamesOne) {
  const auto all = parse_retry(json("{}"));
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->filter.queue, "");
  EXPECT_EQ(all->filter.statuses, std::vector<Status>{Status::failed});
  EXPECT_FALSE(all->filter.cause.has_value());
  EXPECT_EQ(all->filter.limit, 1000U);

  const auto some = parse_retry(json(
      R"({"queue":"mail","cause":"Timeout after # ms","tags":["a"],"reason":"server is back","limit":7,"dry_run":true})"));
  ASSERT_TRUE(some.has_value()) << some.error().message;
  EXPECT_EQ(some->filter.queue, "mail");
  EXPECT_EQ(some->filter.cause, "Timeout after # ms");
  EXPECT_EQ(some->filter.tags, std::vector<std::string>{"a"});
  EXPECT_EQ(some->actor.reason, "server is back");
  EXPECT_EQ(some->filter.limit, 7U);
  EXPECT_TRUE(some->dry_run);

  for (const std::string_view body : {R"({"queue":"a b"})", R"({"queue":""})", R"({"statuses":["FAILED"]})",
                                      R"({"limit":10001})", R"({"reason":"a\nb"})"}) {
    EXPECT_FALSE(parse_retry(json(body)).has_value()) << body;
  }
}

TEST_F(QueueRequests, ATimeoutIsUpToAMinute) {
  EXPECT_EQ(*parse_timeout(query(""), seconds(30)), seconds(30));
  EXPECT_EQ(*parse_timeout(query("timeout=0"), seconds(30)), seconds(0));
  EXPECT_EQ(*parse_timeout(query("timeout=3599"), seconds(30)), seconds(3599));
  EXPECT_EQ(*parse_timeout(query("timeout=3600"), seconds(30)), seconds(3600));
  EXPECT_EQ(*parse_timeout(query("timeout=30.0"), seconds(10)), seconds(30));
  EXPECT_EQ(*parse_timeout(query("timeout=0.25"), seconds(30)), Millis(250));
  EXPECT_EQ(parse_timeout(query("timeout=3601"), seconds(30)).error().message,
            "timeout is 3601; it must be from 0 to 3600 seconds.");
  EXPECT_EQ(parse_timeout(query("timeout=3600.001"), seconds(30)).error().message,
            "timeout is 3600.001; it must be from 0 to 3600 seconds.");
  for (const std::string_view bad : {"timeout=-1", "timeout=1s", "timeout=", "wait=5"}) {
    EXPECT_FALSE(parse_timeout(query(bad), seconds(30)).has_value()) << bad;
  }
}

TEST_F(QueueRequests, TheNumberOfEventsToShowIsLimited) {
  EXPECT_EQ(*parse_event_count(query("")), 10U);
  EXPECT_EQ(*parse_event_count(query("events=0")), 0U);
  EXPECT_EQ(*parse_event_count(query("events=1")), 1U);
  EXPECT_EQ(*parse_event_count(query("events=999")), 999U);
  EXPECT_EQ(*parse_event_count(query("events=1000")), 1000U);
  EXPECT_FALSE(parse_event_count(query("events=1001")).has_value());
}

TEST_F(QueueRequests, ALimitIsFromOneToAThousand) {
  EXPECT_EQ(*parse_limit(query("")), 20U);
  for (const std::string_view good : {"limit=1", "limit=2", "limit=999", "limit=1000"}) {
    EXPECT_TRUE(parse_limit(query(good)).has_value()) << good;
    EXPECT_TRUE(parse_correlation_query(query(good)).has_value()) << good;
    EXPECT_TRUE(parse_failures_query(query(good)).has_value()) << good;
  }
  for (const std::string_view bad : {"limit=0", "limit=1001"}) {
    EXPECT_FALSE(parse_limit(query(bad)).has_value()) << bad;
    EXPECT_FALSE(parse_correlation_query(query(bad)).has_value()) << bad;
    EXPECT_FALSE(parse_failures_query(query(bad)).has_value()) << bad;
  }
}

TEST_F(QueueRequests, ListsReadTheirStartAndTheirQueue) {
  const auto correlation = parse_correlation_query(query("after_id=7"));
  ASSERT_TRUE(correlation.has_value());
  EXPECT_EQ(correlation->after, EventId{7});
  EXPECT_EQ(correlation->limit, 100U);

  const auto failures = parse_failures_query(query("queue=mail"));
  ASSERT_TRUE(failures.has_value());
  EXPECT_EQ(failures->queue, "mail");
  EXPECT_EQ(failures->limit, 100U);
  EXPECT_FALSE(parse_failures_query(query("")).value().queue.has_value());
  EXPECT_FALSE(parse_failures_query(query("queue=a+b")).has_value());
}

TEST_F(QueueRequests, PreferWaitIsFoundAmongOtherPreferences) {
  EXPECT_EQ(parse_prefer_wait("wait=10"), seconds(10));
  EXPECT_EQ(parse_prefer_wait("Wait = \"10\""), seconds(10));
  EXPECT_EQ(parse_prefer_wait("respond-async, wait=0;x=y"), seconds(0));
  EXPECT_EQ(parse_prefer_wait("wait=60, wait=5"), seconds(60));
  EXPECT_EQ(parse_prefer_wait("wait=3600"), seconds(3600));
  EXPECT_EQ(parse_prefer_wait("wait=3601"), seconds(3600));
  for (const std::string_view other : {"", "wait", "wait=", "wait=-1", "wait=1.5", "wait=ten", "waiting=5",
                                       "respond-async", "x=\"wait=5\"", ",;=,"}) {
    EXPECT_FALSE(parse_prefer_wait(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace eventq::wire
