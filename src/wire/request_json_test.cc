// request_json_test.cc: what bodies and queries are accepted, and what is said of the others.
#include "wire/request_json.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/json.h"

namespace eventq::wire {
namespace {

class RequestJson : public testing::Test {
 protected:
  JsonValue json(std::string_view text) {
    auto value = parser_.parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *value : JsonValue();
  }

  static std::vector<QueryParameter> query(std::string_view text) {
    auto parsed = parse_query(text);
    EXPECT_TRUE(parsed.has_value()) << text;
    return parsed ? *parsed : std::vector<QueryParameter>();
  }

  JsonParser parser_;
};

TEST_F(RequestJson, ACompletionCarriesItsLeaseAndOutcome) {
  const auto change = parse_report(
      json(R"({"worker_id":"w:1","attempt":2,"status_code":200,"execution_time_ms":15,"errors":["x"]})"),
      EventId{9}, Report::complete);

  ASSERT_TRUE(change.has_value()) << change.error().message;
  EXPECT_EQ(change->lease.event_id, EventId{9});
  EXPECT_EQ(change->lease.worker_id, "w:1");
  EXPECT_EQ(change->lease.attempt, 2);
  const auto& outcome = std::get<Complete>(change->what).outcome;
  EXPECT_EQ(outcome.status_code, 200);
  EXPECT_EQ(outcome.execution_time_ms, 15);
  EXPECT_EQ(outcome.errors, std::vector<std::string>{"x"});
}

TEST_F(RequestJson, AFailureCarriesItsMessage) {
  const auto change =
      parse_report(json(R"({"worker_id":"w:1","error_message":"no route"})"), EventId{9}, Report::fail);

  ASSERT_TRUE(change.has_value());
  EXPECT_FALSE(change->lease.attempt.has_value());
  EXPECT_EQ(std::get<Fail>(change->what).failure.message, "no route");
}

TEST_F(RequestJson, AReportTakesOnlyTheMembersOfItsKind) {
  EXPECT_TRUE(
      parse_report(json(R"({"worker_id":"w:1","attempt":1})"), EventId{1}, Report::start).has_value());
  EXPECT_FALSE(
      parse_report(json(R"({"worker_id":"w:1","status_code":1})"), EventId{1}, Report::start).has_value());
  EXPECT_FALSE(
      parse_report(json(R"({"worker_id":"w:1","errors":[]})"), EventId{1}, Report::fail).has_value());
  EXPECT_FALSE(parse_report(json(R"({"attempt":1})"), EventId{1}, Report::heartbeat).has_value());
}

TEST_F(RequestJson, ReportsOnManyKeepTheirOrder) {
  const auto changes =
      parse_reports(json(R"({"worker_id":"w:1","events":[{"id":5,"attempt":1},{"id":3,"status_code":204}]})"),
                    Report::complete);

  ASSERT_TRUE(changes.has_value()) << changes.error().message;
  ASSERT_EQ(changes->size(), 2U);
  EXPECT_EQ((*changes)[0].lease.event_id, EventId{5});
  EXPECT_EQ((*changes)[1].lease.event_id, EventId{3});
  EXPECT_EQ((*changes)[1].lease.worker_id, "w:1");
}

TEST_F(RequestJson, ATurnReportsCompletedThenFailedAndAsksForMore) {
  const auto turn = parse_turn(json(R"({"worker_id":"w:1","tags":"a","wait":5,"limit":10,
      "failed":[{"id":2,"error_message":"x"}],"completed":[{"id":1,"attempt":1}]})"));

  ASSERT_TRUE(turn.has_value()) << turn.error().message;
  ASSERT_EQ(turn->changes.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Complete>(turn->changes[0].what));
  EXPECT_TRUE(std::holds_alternative<Fail>(turn->changes[1].what));
  EXPECT_EQ(turn->subscription.limit, 10U);
  EXPECT_EQ(turn->subscription.wait, std::chrono::seconds(5));
}

TEST_F(RequestJson, ASubscriptionReadsTheSameFromQueryAndBody) {
  const auto from_query = parse_subscription(query("tags=a,b&worker_id=w:1&queue=q&wait=20&limit=7"));
  const auto from_body =
      parse_subscription(json(R"({"tags":"a,b","worker_id":"w:1","queue":"q","wait":20,"limit":7})"));

  for (const auto* subscription : {&from_query, &from_body}) {
    ASSERT_TRUE(subscription->has_value()) << subscription->error().message;
    EXPECT_EQ((*subscription)->selector.tags, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ((*subscription)->selector.queue, "q");
    EXPECT_EQ((*subscription)->worker_id, "w:1");
    EXPECT_EQ((*subscription)->limit, 7U);
    EXPECT_TRUE((*subscription)->many);
    EXPECT_EQ((*subscription)->wait, std::chrono::seconds(20));
  }
}

TEST_F(RequestJson, TheLimitsOfASubscriptionAreExact) {
  const struct {
    std::string_view query;
    bool accepted;
  } cases[] = {
      {"tags=a&worker_id=w&wait=59", true},
      {"tags=a&worker_id=w&wait=60", true},
      {"tags=a&worker_id=w&wait=61", false},
      {"tags=a&worker_id=w&wait=-1", false},
      {"tags=a&worker_id=w&wait=1.5", false},
      {"tags=a&worker_id=w&limit=0", false},
      {"tags=a&worker_id=w&limit=1", true},
      {"tags=a&worker_id=w&limit=999", true},
      {"tags=a&worker_id=w&limit=1000", true},
      {"tags=a&worker_id=w&limit=1001", false},
      {"tags=a&worker_id=w&limit=0x10", false},
      {"tags=a&worker_id=w&limit=99999999999999999999", false},
      {"tags=a&worker_id=", false},
      {"tags=&worker_id=w", false},
      {"worker_id=w", false},
      {"tags=a", false},
      {"tags=a&worker_id=w&color=red", false},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(parse_subscription(query(row.query)).has_value(), row.accepted) << row.query;
  }
}

TEST_F(RequestJson, AFilterReadsEachParameter) {
  const auto filter = parse_filter(
      query("status=FAILED&tags=a,b&queue=q&worker_id=w&correlation_id=c&limit=5&offset=10&after_id=3"));

  ASSERT_TRUE(filter.has_value()) << filter.error().message;
  EXPECT_EQ(filter->status, Status::failed);
  EXPECT_EQ(filter->tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(filter->queue, "q");
  EXPECT_EQ(filter->worker_id, "w");
  EXPECT_EQ(filter->correlation_id, "c");
  EXPECT_EQ(filter->limit, 5U);
  EXPECT_EQ(filter->offset, 10);
  EXPECT_EQ(filter->after, EventId{3});
}

TEST_F(RequestJson, AFilterRefusesWhatItDoesNotKnow) {
  for (const std::string_view text : {"status=pending", "status=", "limit=0", "limit=1001", "offset=-1",
                                      "offset=1000000001", "after_id=x", "tags=", "page=2"}) {
    EXPECT_FALSE(parse_filter(query(text)).has_value()) << text;
  }
}

TEST_F(RequestJson, AnIdIsTheWholeTokenAndInRange) {
  EXPECT_TRUE(parse_id("1").has_value());
  EXPECT_TRUE(parse_id("9007199254740991").has_value());
  for (const std::string_view text :
       {"0", "-1", "+1", "01", "1.0", "1e3", "0x1", "", " 1", "9007199254740992", "18446744073709551617"}) {
    EXPECT_FALSE(parse_id(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace eventq::wire
