// lists_api_test.cc: lists for people over HTTP: order, cursors, times, patterns, filters, and what events
// include.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ListsApiTest : public LocalApiTest {
 protected:
  void publish_with(const std::string& title, const std::string& more = "") {
    ASSERT_EQ(post("/events", R"({"title":")" + title + R"(","tags":"t")" + more + "}").status, 201);
  }

  static std::string text_at(const HttpResponse& response, const std::string& where) {
    const std::string json = at(response, where);
    return json.size() < 2 || json == "null" ? "" : json.substr(1, json.size() - 2);
  }

  // The titles on all pages: "a b | c".
  std::string pages(const std::string& query) {
    std::string text, cursor;
    do {
      const HttpResponse page = get("/events?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
      EXPECT_EQ(page.status, 200) << page.body;
      if (!cursor.empty()) text += " | ";
      for (int i = 0; !text_at(page, "events[" + std::to_string(i) + "].title").empty(); ++i) {
        text += (i > 0 ? " " : "") + text_at(page, "events[" + std::to_string(i) + "].title");
      }
      cursor = text_at(page, "next");
    } while (!cursor.empty());
    return text;
  }
};

TEST_F(ListsApiTest, ListsForPeople) {
  publish_with("a", R"(,"pattern":"invoice.created","payload":{"n":1})");
  advance(1h);
  publish_with("b", R"(,"pattern":"invoice.paid")");
  advance(1h);
  publish_with("c");

  EXPECT_EQ(pages("limit=2"), "a b | c");
  EXPECT_EQ(pages("limit=3"), "a b c") << "a full last page has no next";
  EXPECT_EQ(pages("order=desc&limit=2"), "c b | a");
  EXPECT_EQ(pages("order=desc&before_id=3"), "b a");
  EXPECT_EQ(pages("since=1h"), "b c");
  EXPECT_EQ(pages("until=1h"), "a");
  EXPECT_EQ(pages("since=2024-03-15T01:00:00Z&until=2024-03-15T01:00:00.001Z"), "b");
  EXPECT_EQ(pages("pattern=invoice.*&order=desc"), "b a");
  EXPECT_EQ(pages("filter=pattern:invoice.*%20older:2h"), "a");
  const HttpResponse page = get("/events?include=payload,logs&limit=1");
  EXPECT_THAT(page.body, HasSubstr(R"("payload":{"n":1})"));
  EXPECT_THAT(page.body, HasSubstr(R"("logs":[]})"));
}

TEST_F(ListsApiTest, AListThatIncludesAllShowsEventsAsGetDoes) {
  publish_with("a", R"(,"payload":[1],"description":"d","ordering_key":"k","source":{"type":"t"})");
  post("/events/" + claim("main") + "/fail", R"({"worker_id":"w:1","error_message":"m","error_detail":"d"})");
  const std::string one = get("/events/1").body;
  const std::string members = one.substr(0, one.size() - 1);

  const HttpResponse page = get("/events?include=payload,result,logs");
  EXPECT_THAT(page.body, StartsWith(R"({"events":[)" + members + R"(,"logs":[{)"));
  EXPECT_THAT(page.body, HasSubstr(R"("error_detail":"d","result":null,"logs":)"));
  EXPECT_THAT(get("/events").body, Not(HasSubstr("payload")));
}

TEST_F(ListsApiTest, AListShowsResultsOnlyWhenItIsAskedTo) {
  publish_with("a");
  publish_with("b");
  post("/events/" + claim("main") + "/complete", R"({"worker_id":"w:1","result":{"n":1}})");

  const HttpResponse page = get("/events?include=result");
  EXPECT_EQ(at(page, "events[0].result.n"), "1");
  EXPECT_EQ(at(page, "events[1].result"), "null");
  EXPECT_THAT(page.body, Not(HasSubstr("payload")));
  EXPECT_THAT(get("/events?include=payload,logs").body, Not(HasSubstr("result")));
}

TEST_F(ListsApiTest, AFilterFindsAPartOfTheLastErrorMessage) {
  publish_with("a", R"(,"max_retries":0)");
  post("/events/" + claim("main") + "/fail", R"({"worker_id":"w:1","error_message":"Connection timed out"})");
  publish_with("b");

  EXPECT_EQ(pages("filter=error:%22TIMED%20out%22"), "a");
  EXPECT_EQ(pages("filter=error:refused"), "");
  EXPECT_EQ(pages("filter=status:failed%20tag:t%20queue:main%20worker:w:1%20newer:1h"), "a");
}

TEST_F(ListsApiTest, AWrongFilterNamesThePositionAndWhatWouldBeRight) {
  const HttpResponse wrong = get("/events?filter=tag:a%20stat:FAILED");

  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(at(wrong, "field"), "\"filter\"");
  EXPECT_THAT(at(wrong, "detail"), HasSubstr("At character 7 of the filter: a filter has no condition"));
  EXPECT_THAT(at(get("/events?filter=x:1"), "detail"), HasSubstr("there are status:, tag:, queue:, "));
}

TEST_F(ListsApiTest, AnOverviewHasTheDocumentsOfItsRoutes) {
  publish("mail");
  publish("mail");
  fail(claim("mail"));

  const HttpResponse overview = get("/overview?limit=1");

  ASSERT_EQ(overview.status, 200) << overview.body;
  EXPECT_EQ(at(overview, "ready"), "true");
  EXPECT_EQ(at(overview, "problem"), "null");
  EXPECT_EQ(at(overview, "server.time"), "\"2024-03-15T00:00:00.000Z\"");
  const auto body_of = [&](const std::string& target) {
    return request("GET", target, "", {{"Accept", "application/json"}}).body;
  };
  for (const std::string name : {"queues", "workers", "failures"}) {
    const std::string members = body_of("/" + name);
    EXPECT_THAT(overview.body, HasSubstr(members.substr(1, members.size() - 2))) << name;
  }
  EXPECT_THAT(overview.body, HasSubstr("\"events\":" + body_of("/events?order=desc&limit=1") + "}"));
  EXPECT_EQ(at(overview, "metrics.queues[0].counts.PENDING"), "2");
  EXPECT_EQ(at(overview, "metrics.queues[0].published"), "2");
  EXPECT_EQ(at(get("/overview?limit=0"), "field"), "\"limit\"");
  EXPECT_EQ(pages("order=desc&limit=1"), "event | event");
}

}  // namespace
}  // namespace eventq
