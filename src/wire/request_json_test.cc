// request_json_test.cc: which bodies and queries are accepted, and the errors for others.
#include "wire/request_json.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/json.h"
#include "support/parsed.h"

namespace eventq::wire {
namespace {

class RequestJson : public ParsedTest {};

TEST_F(RequestJson, ACompletionCarriesItsLeaseAndOutcome) {
  const auto change = parse_report(
      json(R"({"worker_id":"w:1","attempt":2,"status_code":200,"execution_time_ms":15,"errors":["x"]})"),
      EventId{9}, ReportKind::complete);

  ASSERT_TRUE(change.has_value()) << change.error().message;
  EXPECT_EQ(change->lease.id, EventId{9});
  EXPECT_EQ(change->lease.worker_id, "w:1");
  EXPECT_EQ(change->lease.attempt, 2);
  const auto& outcome = std::get<Complete>(change->what).outcome;
  EXPECT_EQ(outcome.status_code, 200);
  EXPECT_EQ(outcome.execution_time_ms, 15);
  EXPECT_EQ(outcome.errors, std::vector<std::string>{"x"});
}

TEST_F(RequestJson, AFailureCarriesItsMessage) {
  const auto change =
      parse_report(json(R"({"worker_id":"w:1","error_message":"no route"})"), EventId{9}, ReportKind::fail);

  ASSERT_TRUE(change.has_value());
  EXPECT_FALSE(change->lease.attempt.has_value());
  EXPECT_EQ(std::get<Fail>(change->what).failure.message, "no route");
}

TEST_F(RequestJson, AFailureIsPermanentWhenItSaysSo) {
  const auto permanent = [this](std::string_view text) {
    const auto change = parse_report(json(text), EventId{9}, ReportKind::fail);
    return change && std::get<Fail>(change->what).failure.permanent;
  };
  EXPECT_TRUE(permanent(R"({"worker_id":"w:1","permanent":true})"));
  EXPECT_FALSE(permanent(R"({"worker_id":"w:1","permanent":false})"));
  EXPECT_FALSE(permanent(R"({"worker_id":"w:1"})"));
  EXPECT_FALSE(parse_report(json(R"({"worker_id":"w:1","permanent":"yes"})"), EventId{9}, ReportKind::fail)
                   .has_value());
}

TEST_F(RequestJson, AReleaseCarriesItsDelayAndReason) {
  const auto change = parse_report(json(R"({"worker_id":"w:1","attempt":2,"delay":60,"reason":"later"})"),
                                   EventId{9}, ReportKind::release);

  ASSERT_TRUE(change.has_value()) << change.error().message;
  EXPECT_EQ(change->lease.attempt, 2);
  EXPECT_EQ(std::get<Release>(change->what).delay, std::chrono::seconds(60));
  EXPECT_EQ(std::get<Release>(change->what).reason, "later");
}

TEST_F(RequestJson, AWaitAndADelayMayHaveAFraction) {
  const auto released =
      parse_report(json(R"({"worker_id":"w:1","delay":1.5})"), EventId{9}, ReportKind::release);
  ASSERT_TRUE(released.has_value()) << released.error().message;
  EXPECT_EQ(std::get<Release>(released->what).delay, Millis(1500));
  const auto next = parse_next(json(R"({"worker_id":"w:1","wait":30.0})"));
  ASSERT_TRUE(next.has_value()) << next.error().message;
  EXPECT_EQ(next->subscription.wait, Millis(30'000));
  EXPECT_EQ(parse_next(json(R"({"worker_id":"w:1","wait":"30"})")).error().message,
            "wait must be seconds, such as 30 or 30.5.");
}

TEST_F(RequestJson, TheDelayOfAReleaseIsFrom0ToAYear) {
  const struct {
    std::string_view delay;
    bool accepted;
  } cases[] = {
      {"-1", false},      {"0", true},        {"1", true},
      {"31535999", true}, {"31536000", true}, {"31536001", false},
      {"1.5", true},      {"\"1\"", false},   {"9223372036854775807", false},
      {"1e3", false},     {"true", false},    {"31536000.001", false},
  };
  for (const auto& row : cases) {
    const std::string body = R"({"worker_id":"w:1","delay":)" + std::string(row.delay) + "}";
    const auto change = parse_report(json(body), EventId{9}, ReportKind::release);
    EXPECT_EQ(change.has_value(), row.accepted) << body;
    EXPECT_EQ(change ? "" : change.error().field, row.accepted ? "" : "delay") << body;
  }
}

TEST_F(RequestJson, AReportAcceptsOnlyTheMembersOfItsKind) {
  EXPECT_TRUE(
      parse_report(json(R"({"worker_id":"w:1","attempt":1})"), EventId{1}, ReportKind::start).has_value());
  EXPECT_FALSE(parse_report(json(R"({"worker_id":"w:1","status_code":1})"), EventId{1}, ReportKind::start)
                   .has_value());
  EXPECT_FALSE(
      parse_report(json(R"({"worker_id":"w:1","errors":[]})"), EventId{1}, ReportKind::fail).has_value());
  EXPECT_FALSE(parse_report(json(R"({"attempt":1})"), EventId{1}, ReportKind::heartbeat).has_value());
}

TEST_F(RequestJson, ReportsOnManyKeepTheirOrder) {
  const auto reports =
      parse_reports(json(R"({"worker_id":"w:1","events":[{"id":5,"attempt":1},{"id":3,"status_code":204}]})"),
                    ReportKind::complete);

  ASSERT_TRUE(reports.has_value()) << reports.error().message;
  ASSERT_EQ(reports->changes.size(), 2U);
  EXPECT_EQ(reports->changes[0].lease.id, EventId{5});
  EXPECT_EQ(reports->changes[1].lease.id, EventId{3});
  EXPECT_EQ(reports->changes[1].lease.worker_id, "w:1");
  EXPECT_TRUE(reports->names.empty());
}

TEST_F(RequestJson, AReportNamesItsEventByNumberOrByEventId) {
  const auto next = parse_next(json(R"({"worker_id":"w:1","completed":[{"id":5},{"id":"a/b"},{"id":"7"}],
      "alive":[{"id":"evt_1"}]})"));

  ASSERT_TRUE(next.has_value()) << next.error().message;
  ASSERT_EQ(next->reports.changes.size(), 4U);
  EXPECT_EQ(next->reports.changes[0].lease.id, EventId{5});
  EXPECT_EQ(next->reports.changes[1].lease.id, EventId{});
  EXPECT_EQ(next->reports.changes[2].lease.id, EventId{7});
  ASSERT_EQ(next->reports.names.size(), 2U);
  EXPECT_EQ(next->reports.names[0].change, 1U);
  EXPECT_EQ(next->reports.names[0].event_id, "a/b");
  EXPECT_EQ(next->reports.names[1].change, 3U);
  EXPECT_EQ(next->reports.names[1].event_id, "evt_1");
}

TEST_F(RequestJson, AReportWithoutAUsableIdIsRefused) {
  for (const std::string id : {"0", "-1", "1.5", "\"\"", "\"0\"", "\"a b\"", "\"\u00e9\"", "true", "[1]",
                               "null", "9007199254740992", "\"9007199254740992\""}) {
    const auto reports =
        parse_reports(json(R"({"worker_id":"w:1","events":[{"id":)" + id + "}]}"), ReportKind::complete);
    ASSERT_FALSE(reports.has_value()) << id;
    EXPECT_EQ(reports.error().field, "events[0].id") << id;
  }
  const std::string too_long(129, 'x');
  EXPECT_FALSE(parse_reports(json(R"({"worker_id":"w:1","events":[{"id":")" + too_long + "\"}]}"),
                             ReportKind::complete)
                   .has_value());
}

TEST_F(RequestJson, NextReportsCompletedFailedAndReleasedAndAsksForMore) {
  const auto next = parse_next(json(R"({"worker_id":"w:1","tags":"a","wait":5,"limit":10,
      "released":[{"id":3,"delay":7}],"failed":[{"id":2,"error_message":"x"}],
      "completed":[{"id":1,"attempt":1}]})"));

  ASSERT_TRUE(next.has_value()) << next.error().message;
  ASSERT_EQ(next->reports.changes.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Complete>(next->reports.changes[0].what));
  EXPECT_TRUE(std::holds_alternative<Fail>(next->reports.changes[1].what));
  EXPECT_EQ(std::get<Release>(next->reports.changes[2].what).delay, std::chrono::seconds(7));
  EXPECT_EQ(next->subscription.limit, 10U);
  EXPECT_EQ(next->subscription.wait, std::chrono::seconds(5));
}

TEST_F(RequestJson, HeartbeatsAreTheLastChangesOfNext) {
  const auto next = parse_next(json(R"({"worker_id":"w:1","limit":0,"alive":[{"id":4,"attempt":2},{"id":5}],
      "released":[{"id":3}]})"));

  ASSERT_TRUE(next.has_value()) << next.error().message;
  ASSERT_EQ(next->reports.changes.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Release>(next->reports.changes[0].what));
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(next->reports.changes[1].what));
  EXPECT_EQ(next->reports.changes[1].lease.id, EventId{4});
  EXPECT_EQ(next->reports.changes[1].lease.attempt, 2);
  EXPECT_EQ(next->reports.changes[2].lease.attempt, std::nullopt);

  const auto wrong = parse_next(json(R"({"worker_id":"w:1","alive":[{"id":1},{"id":1,"reason":"x"}]})"));
  EXPECT_EQ(wrong.error().field, "alive[1].reason");
}

TEST_F(RequestJson, HeartbeatsCountTowardsTheReportsOfNext) {
  const auto next_with = [this](int alive) {
    std::string body = R"({"worker_id":"w:1","completed":[{"id":1}],"alive":[{"id":2})";
    for (int i = 1; i < alive; ++i) body += R"(,{"id":2})";
    return parse_next(json(body + "]}"));
  };
  EXPECT_TRUE(next_with(9998).has_value());
  EXPECT_TRUE(next_with(9999).has_value());
  EXPECT_EQ(next_with(10'000).error().code, ErrorCode::too_large);
}

TEST_F(RequestJson, NextMayHaveLimit0AndNoTags) {
  const auto report = parse_next(json(R"({"worker_id":"w:1","limit":0})"));
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(report->subscription.limit, 0U);

  const auto any = parse_next(json(R"({"worker_id":"w:1"})"));
  ASSERT_TRUE(any.has_value()) << any.error().message;
  EXPECT_EQ(any->subscription.limit, 1U);
  EXPECT_TRUE(any->subscription.selector.tags.empty());

  for (const std::string_view wrong :
       {R"({"worker_id":"w:1","tags":""})", R"({"worker_id":"w:1","tags":[]})",
        R"({"worker_id":"w:1","limit":-1})", R"({"worker_id":"w:1","limit":1001})",
        R"({"worker_id":"w:1","limit":0,"wait":3601})", R"({"limit":0})"}) {
    EXPECT_FALSE(parse_next(json(wrong)).has_value()) << wrong;
  }
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
      {"tags=a&worker_id=w&wait=3599", true},
      {"tags=a&worker_id=w&wait=3600", true},
      {"tags=a&worker_id=w&wait=3601", false},
      {"tags=a&worker_id=w&wait=3600.001", false},
      {"tags=a&worker_id=w&wait=-1", false},
      {"tags=a&worker_id=w&wait=1.5", true},
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

TEST_F(RequestJson, AStreamNeedsOnlyItsWorker) {
  const auto least = parse_stream(query("worker_id=w:1"));
  ASSERT_TRUE(least.has_value()) << least.error().message;
  EXPECT_EQ(least->selector.queue, "main");
  EXPECT_TRUE(least->selector.tags.empty());
  EXPECT_EQ(least->limit, 1U);

  const auto most = parse_stream(query("worker_id=w:1&tags=a,b&queue=q&prefetch=7"));
  ASSERT_TRUE(most.has_value()) << most.error().message;
  EXPECT_EQ(most->selector.queue, "q");
  EXPECT_EQ(most->selector.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(most->limit, 7U);
}

TEST_F(RequestJson, TheLimitsOfAStreamAreExact) {
  const struct {
    std::string_view query;
    bool accepted;
  } cases[] = {
      {"worker_id=w&prefetch=0", false},
      {"worker_id=w&prefetch=1", true},
      {"worker_id=w&prefetch=2", true},
      {"worker_id=w&prefetch=999", true},
      {"worker_id=w&prefetch=1000", true},
      {"worker_id=w&prefetch=1001", false},
      {"worker_id=w&prefetch=-1", false},
      {"worker_id=w&tags=", false},
      {"worker_id=", false},
      {"tags=a", false},
      {"worker_id=w&wait=1", false},
      {"worker_id=w&limit=1", false},
      {"worker_id=w&queue=no%20no", false},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(parse_stream(query(row.query)).has_value(), row.accepted) << row.query;
  }
}

TEST_F(RequestJson, TheNameOfAnEventInAPathIsItsNumberOrItsDecodedEventId) {
  const auto named = [](std::string_view text) { return parse_event_name(text).value(); };
  EXPECT_EQ(named("17").id, EventId{17});
  EXPECT_EQ(named("%317").id, EventId{17});
  EXPECT_EQ(named("17").event_id, "");
  EXPECT_EQ(named("a%2Fb+c").event_id, "a/b+c");
  EXPECT_EQ(named("-1").event_id, "-1");
  EXPECT_EQ(named(std::string(128, 'x')).event_id, std::string(128, 'x'));
  for (const std::string& text :
       {std::string("0"), std::string("a%20b"), std::string("%"), std::string("%C3%A9"),
        std::string(129, 'x'), std::string("9007199254740992")}) {
    EXPECT_FALSE(parse_event_name(text).has_value()) << text;
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
