// request_writer_test.cc: the server reads the written requests back.
#include "wire/request_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/written.h"
#include "wire/new_event_json.h"
#include "wire/request_json.h"

namespace eventq::wire {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RequestWriter : public testing::Test {
 protected:
  JsonValue parse(const std::string& text) { return parser_.parse(text).value(); }

  JsonParser parser_;
};

TEST_F(RequestWriter, ReportsHaveTheMembersOfTheirKind) {
  const Lease lease{EventId{7}, "w:1", 2};
  EXPECT_EQ(write_report(lease, Outcome{}), R"({"worker_id":"w:1","attempt":2})");
  EXPECT_EQ(write_report(lease, Outcome{200, 12, {"a", "b"}}),
            R"({"worker_id":"w:1","attempt":2,"status_code":200,"execution_time_ms":12,"errors":["a","b"]})");
  EXPECT_EQ(write_report(lease, Failure{500, 12, "no", true}),
            R"({"worker_id":"w:1","attempt":2,"status_code":500,"execution_time_ms":12,)"
            R"("error_message":"no","permanent":true})");
  EXPECT_EQ(write_report(lease, Outcome{.result = R"({"a": 1})"}),
            R"({"worker_id":"w:1","attempt":2,"result":{"a": 1}})");
  EXPECT_EQ(write_report(lease, Failure{.message = "no", .detail = "at\nline 7"}),
            R"({"worker_id":"w:1","attempt":2,"error_message":"no","error_detail":"at\nline 7"})");
  EXPECT_EQ(write_report(lease, Return{1500ms, "busy"}),
            R"({"worker_id":"w:1","attempt":2,"delay":2,"reason":"busy"})");
  EXPECT_EQ(write_heartbeat(Lease{EventId{7}, "w:1", std::nullopt}), R"({"worker_id":"w:1"})");
}

TEST_F(RequestWriter, EachReportHasItsPath) {
  EXPECT_EQ(path_of(Outcome{}), "complete");
  EXPECT_EQ(path_of(Failure{}), "fail");
  EXPECT_EQ(path_of(Return{}), "release");
}

TEST_F(RequestWriter, TheServerReadsReportsBack) {
  const Lease lease{EventId{7}, "w:1", 2};
  const auto complete =
      parse_report(parse(write_report(lease, Outcome{200, 12, {"a"}})), EventId{7}, ReportKind::complete)
          .value();
  EXPECT_THAT(std::get<Complete>(complete.what).outcome.errors, ElementsAre("a"));
  const auto fail =
      parse_report(parse(write_report(lease, Failure{1, 2, "m", true})), EventId{7}, ReportKind::fail)
          .value();
  EXPECT_TRUE(std::get<Fail>(fail.what).failure.permanent);
  const auto release =
      parse_report(parse(write_report(lease, Return{3s, "r"})), EventId{7}, ReportKind::release).value();
  EXPECT_EQ(std::get<Release>(release.what).delay, 3s);
  EXPECT_EQ(release.lease.attempt, 2);
}

TEST_F(RequestWriter, TheServerReadsNextBack) {
  eventq::NextRequest request;
  request.reports = {
      {EventId{1}, 1, Return{1s, "r"}}, {EventId{2}, 2, Failure{}}, {EventId{3}, 3, Outcome{}}};
  request.limit = 5;
  request.tags = {"a", "b"};
  request.queue = "mail";
  request.wait = 1001ms;
  const auto read = parse_next(parse(write_next(request, "w:1"))).value();

  ASSERT_THAT(read.reports.changes, SizeIs(3));
  EXPECT_EQ(read.reports.changes[0].lease.id, EventId{3});
  EXPECT_EQ(read.reports.changes[1].lease.id, EventId{2});
  EXPECT_EQ(read.reports.changes[2].lease.id, EventId{1});
  EXPECT_EQ(read.reports.changes[0].lease.worker_id, "w:1");
  EXPECT_EQ(read.subscription.limit, 5U);
  EXPECT_THAT(read.subscription.selector.tags, ElementsAre("a", "b"));
  EXPECT_EQ(read.subscription.selector.queue, "mail");
  EXPECT_EQ(read.subscription.wait, 2s);
}

TEST_F(RequestWriter, NextWithoutALimitWritesNoSubscription) {
  eventq::NextRequest request;
  request.reports = {{EventId{1}, 1, Outcome{}}};
  request.wait = 5s;
  EXPECT_EQ(write_next(request, "w"),
            R"({"worker_id":"w","limit":0,"completed":[{"id":1,"attempt":1}],"failed":[],"released":[]})");
}

TEST_F(RequestWriter, NextWithOnlyHeartbeatsWritesOnlyThose) {
  eventq::NextRequest request;
  request.alive = {{EventId{1}, 2}, {EventId{3}, 1}};
  EXPECT_EQ(write_next(request, "w"),
            R"({"worker_id":"w","limit":0,"alive":[{"id":1,"attempt":2},{"id":3,"attempt":1}]})");
}

TEST_F(RequestWriter, SecondsAreRoundedUpAndStayNegative) {
  EXPECT_EQ(whole_seconds(0ms), 0);
  EXPECT_EQ(whole_seconds(1ms), 1);
  EXPECT_EQ(whole_seconds(1000ms), 1);
  EXPECT_EQ(whole_seconds(1001ms), 2);
  EXPECT_EQ(whole_seconds(-1ms), -1);
}

NewEvent full_event() {
  NewEvent event;
  event.title = "t";
  event.description = "d";
  event.tags = {"a", "b"};
  event.payload = R"({"n": 1.0})";
  event.queue = "mail";
  event.priority = 3;
  event.max_retries = 0;
  event.event_id = "e";
  event.correlation_id = "c";
  event.causation_id = "x";
  event.trace_id = "t1";
  event.pattern = "p";
  event.version = "v";
  event.source = {"a", "b", "c"};
  event.timestamp = kNoon;
  event.ordering_key = "o";
  event.supersede_key = "s";
  event.run_at = kNoon + Millis(1);
  event.retry = RetryPolicy{RetryPolicy::Kind::exponential, Millis(1), Millis(2), 0.5};
  return event;
}

TEST_F(RequestWriter, TheServerReadsAnEventBack) {
  const NewEvent event = full_event();
  const NewEvent read = parse_event(parse(write_event_request(event))).value();
  EXPECT_EQ(write_new_event(read), write_new_event(event));
}

TEST_F(RequestWriter, ADelayIsSentInWholeSeconds) {
  NewEvent event;
  event.title = "t";
  event.tags = {"a"};
  event.delay = 1500ms;
  EXPECT_EQ(write_event_request(event),
            R"({"title":"t","tags":["a"],"payload":null,"queue":"main","priority":0,"delay":2})");
}

TEST_F(RequestWriter, ATagWithACommaDoesNotBecomeTwoTags) {
  NewEvent event;
  event.title = "t";
  event.tags = {"a,b"};
  EXPECT_EQ(parse_event(parse(write_event_request(event))).error().field, "tags");
}

TEST_F(RequestWriter, ABatchIsCorrelatedUnlessAnEventHasItsOwnCorrelation) {
  std::vector<NewEvent> events{full_event(), full_event()};
  events[1].correlation_id = "";
  const NewBatch own = parse_batch(parse(write_batch_request(events))).value();
  EXPECT_FALSE(own.correlated);
  EXPECT_EQ(own.events[0].correlation_id, "c");
  EXPECT_EQ(own.events[1].correlation_id, "");

  events[0].correlation_id = "";
  const NewBatch one = parse_batch(parse(write_batch_request(events))).value();
  EXPECT_TRUE(one.correlated);
  EXPECT_THAT(one.events, SizeIs(2));
}

}  // namespace
}  // namespace eventq::wire
