// both_names_test.cc: an event is named by its number or by its event_id, in every path and in every body.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/percent.h"
#include "http/api/routes.h"
#include "support/local_api.h"
#include "support/raw_client.h"

namespace eventq {
namespace {

using testing::HasSubstr;

class BothNamesTest : public LocalApiTest {
 protected:
  // Publishes an event with this event_id and the tag t. Returns its number.
  std::string publish_named(std::string_view event_id, std::string_view queue = "mail") {
    return publish(queue, R"(,"event_id":")" + std::string(event_id) + '"');
  }
};

TEST_F(BothNamesTest, EveryRouteOfAnEventTakesItsEventId) {
  const std::string prefix = "/events/{id}";
  const http::RouteTable table({});
  int routes = 0;
  for (const http::Route& route : table.routes()) {
    if (!route.path.starts_with(prefix)) continue;
    const std::string name = "order-" + std::to_string(++routes);
    const std::string action(route.path.substr(prefix.size()));
    const std::string id = publish_named(name, name);
    const bool is_about_an_end = action == "/retry" || action == "/reset" || action == "/wait";
    const bool is_report = route.method == "POST" && !is_about_an_end && action != "/cancel";
    if (is_about_an_end) post("/events/" + id + "/cancel");
    if (is_report) claim(name);

    const HttpResponse response =
        request(route.method, "/events/" + name + action, is_report ? worker_body("w:1") : "");

    EXPECT_EQ(response.status, 200) << route.path << " " << response.body;
    EXPECT_TRUE(at(response, "id") == id || at(response, "event_id") == id) << route.path << response.body;
  }
  EXPECT_EQ(routes, 11);
}

TEST_F(BothNamesTest, AnEventIdMadeByTheServerOpensItsEvent) {
  const HttpResponse published = post("/events", R"({"title":"a","tags":"t"})");
  const std::string quoted = at(published, "event_id");

  const HttpResponse opened = get("/events/" + quoted.substr(1, quoted.size() - 2) + "?include_logs=true");

  EXPECT_THAT(quoted, HasSubstr("evt_"));
  EXPECT_EQ(opened.body, get("/events/1?include_logs=true").body);
}

TEST_F(BothNamesTest, DigitsAlwaysMeanTheNumber) {
  EXPECT_EQ(publish_named("2"), "1");
  EXPECT_EQ(publish_named("3"), "2");

  EXPECT_EQ(at(get("/events/2"), "id"), "2");
  EXPECT_EQ(at(get("/events/%32"), "id"), "2");
  EXPECT_EQ(get("/events/3").status, 404);
  EXPECT_EQ(at(get("/events?event_id=2"), "events[0].id"), "1");
  EXPECT_EQ(at(get("/events?event_id=2"), "total"), "1");
}

TEST_F(BothNamesTest, AnEventThatIsNamedLikeARouteIsFoundByTheQuery) {
  const std::string id = publish_named("batch");

  EXPECT_EQ(get("/events/batch").status, 405);
  EXPECT_EQ(get("/events/batch").header("Allow"), "POST");
  EXPECT_EQ(at(get("/events?event_id=batch"), "events[0].id"), id);
  EXPECT_EQ(post("/events/batch/cancel").status, 200) << "no fixed path has this form";
}

TEST_F(BothNamesTest, OtherCharactersArePercentEncoded) {
  for (const std::string_view name : {"a/b", "..", "50%", "a?b#c", "a+b", "x&y=z", "<'>"}) {
    const std::string id = publish_named(name);
    const std::string encoded = percent_encode(name);
    EXPECT_EQ(at(get("/events?event_id=" + encoded), "events[0].id"), id) << name;
    EXPECT_EQ(at(get("/events/" + encoded), "id"), id) << name;
  }
}

TEST_F(BothNamesTest, AListByEventIdStillAppliesTheOtherFilters) {
  publish_named("a");

  EXPECT_EQ(at(get("/events?event_id=a&queue=mail"), "total"), "1");
  EXPECT_EQ(at(get("/events?event_id=a&queue=other"), "total"), "0");
  EXPECT_EQ(at(get("/events?event_id=a&status=FAILED"), "total"), "0");
  EXPECT_EQ(at(get("/events?event_id=b"), "total"), "0");
  EXPECT_EQ(get("/events?event_id=").status, 400);
}

TEST_F(BothNamesTest, AnUnknownEventIdIsNamedInThe404) {
  const HttpResponse response = post("/events/evt_x/cancel");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(at(response, "error"), R"("There is no event "evt_x".")");
  EXPECT_EQ(at(response, "field"), R"("id")");
}

TEST_F(BothNamesTest, AWrongBodyIsRefusedBeforeTheEventIsLookedUp) {
  EXPECT_EQ(post("/events/evt_x/complete", "{}").status, 400);
  EXPECT_EQ(post("/events/evt_x/wait?timeout=x").status, 400);
  EXPECT_EQ(get("/events/evt_x?include_logs=2").status, 400);
}

TEST_F(BothNamesTest, ReportsInABodyNameEventsEitherWay) {
  const std::string id = publish_named("a");
  publish_named("b");
  publish_named("c");
  for (int i = 0; i < 3; ++i) claim("mail");

  const HttpResponse response = post(
      "/events/complete", worker_body("w:1", R"(,"events":[{"id":)" + id + R"(},{"id":"b"},{"id":"3"}])"));

  EXPECT_EQ(response.status, 200) << response.body;
  for (int i = 0; i < 3; ++i) {
    const std::string result = "results[" + std::to_string(i) + "]";
    EXPECT_EQ(at(response, result + ".status"), "200") << response.body;
    EXPECT_EQ(at(response, result + ".event_id"), std::to_string(i + 1));
    EXPECT_EQ(status_of(std::to_string(i + 1)), R"("COMPLETED")");
  }
}

TEST_F(BothNamesTest, AnUnknownNameInABodyIsRefusedAloneAndTheRestIsDone) {
  publish_named("a");
  publish_named("b");
  publish_named("c");
  for (int i = 0; i < 2; ++i) claim("mail");

  const HttpResponse response = post("/events/next", worker_body("w:1", R"(,"queue":"mail",
      "completed":[{"id":"x"},{"id":"a"}],"failed":[{"id":"y"}],"alive":[{"id":"z"},{"id":"b"}])"));

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(at(response, "results[0].status"), "404");
  EXPECT_EQ(at(response, "results[0].event_id"), R"("x")");
  EXPECT_EQ(at(response, "results[0].error"), R"("There is no event "x".")");
  EXPECT_EQ(at(response, "results[1].action"), R"("COMPLETED")");
  EXPECT_EQ(at(response, "results[1].event_id"), "1");
  EXPECT_EQ(at(response, "results[2].event_id"), R"("y")");
  EXPECT_EQ(at(response, "results[3].event_id"), R"("z")");
  EXPECT_EQ(at(response, "results[4].status"), "200");
  EXPECT_EQ(at(response, "results[4].event_id"), "2");
  EXPECT_NE(at(response, "results[4].lease_until"), "");
  EXPECT_EQ(at(response, "events[0].id"), "3") << "the claim of the same call";
}

TEST_F(BothNamesTest, ABodyWithUnknownNamesOnlyIsAnswered) {
  const HttpResponse response =
      post("/events/fail", worker_body("w:1", R"(,"events":[{"id":"x"},{"id":"y"}])"));

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(at(response, "results[0].status"), "404");
  EXPECT_EQ(at(response, "results[1].status"), "404");
}

TEST_F(BothNamesTest, AWaitByEventIdIsAnsweredWithTheEndedEvent) {
  publish_named("a");
  HttpClient waiter = waiting("POST", "/events/a/wait?timeout=20", "", {}, 2);

  complete(claim("mail"));

  const HttpResponse ended = waiter.receive().value();
  EXPECT_EQ(ended.status, 200);
  EXPECT_EQ(at(ended, "status"), R"("COMPLETED")");
}

TEST_F(BothNamesTest, AClientThatStopsSendingDuringTheLookupGetsNoClaim) {
  publish_named("a");
  claim("mail");
  const std::string body = worker_body("w:1", R"(,"queue":"mail","wait":60,"completed":[{"id":"a"}])");
  http::RawClient client(server_.port());
  client.send(
      "POST /events/next HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  client.finish_sending();
  EXPECT_EQ(client.read_to_end(), 0U);
  server_.settle();

  const std::string id = publish("mail");
  server_.settle();

  EXPECT_EQ(status_of(id), R"("PENDING")");
}

TEST_F(BothNamesTest, AClientThatStopsSendingDuringTheLookupStillGetsTheAnswerToItsReport) {
  publish_named("a");
  claim("mail");
  const std::string body = worker_body("w:1");
  http::RawClient client(server_.port());
  client.send(
      "POST /events/a/complete HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body);
  client.finish_sending();

  const auto reply = client.read_reply();

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
}

TEST_F(BothNamesTest, TheEventsOfAQueueCarryTheirNumber) {
  publish_named("a");
  publish_named("b", "other");
  publish_named("c");

  const HttpResponse queue = get("/queues/mail");

  EXPECT_EQ(at(queue, "events[0].id"), "1");
  EXPECT_EQ(at(queue, "events[0].eventId"), R"("a")");
  EXPECT_EQ(at(queue, "events[1].id"), "3");
}

}  // namespace
}  // namespace eventq
