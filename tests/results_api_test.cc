// results_api_test.cc: what a worker may return with its report: the result of an event, the detail of a
// failure.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "eventq/limits.h"
#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

class ResultsApiTest : public LocalApiTest {
 protected:
  int complete_with(std::string_view id, std::string_view result) {
    return post("/events/" + std::string(id) + "/complete",
                worker_body("w:1", R"(,"result":)" + std::string(result)))
        .status;
  }
  HttpResponse fail_with(std::string_view id, std::string_view detail, std::string_view more = {}) {
    return post("/events/" + std::string(id) + "/fail",
                worker_body("w:1", R"(,"error_message":"away","error_detail":")" + std::string(detail) + '"' +
                                       std::string(more)));
  }
};

TEST_F(ResultsApiTest, ACompletedEventShowsItsResultEverywhere) {
  HttpClient publisher =
      waiting("POST", "/events", R"({"title":"a","tags":"t","queue":"q","correlation_id":"c"})",
              {{"Prefer", "wait=20"}});
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=20");
  HttpClient correlated = waiting("POST", "/events/correlation/c/wait?timeout=20");

  EXPECT_EQ(complete_with(claim("q"), R"({"sum": 1.50, "big": 12345678901234567890})"), 200);

  const std::string sum = "1.50";
  EXPECT_EQ(at(get("/events/1"), "result.sum"), sum);
  EXPECT_EQ(at(get("/events/1"), "result.big"), "12345678901234567890");
  EXPECT_EQ(at(publisher.receive().value(), "result.sum"), sum);
  EXPECT_EQ(at(waiter.receive().value(), "result.sum"), sum);
  EXPECT_EQ(at(correlated.receive().value(), "events[0].result.sum"), sum);
  EXPECT_EQ(at(get("/events/correlation/c"), "events[0].result.sum"), sum);
}

TEST_F(ResultsApiTest, ListsOfReportsAndNextTakeResults) {
  for (int i = 0; i < 2; ++i) publish("q");
  post("/events/subscribe", R"({"worker_id":"w:1","tags":"t","queue":"q","limit":2})");

  post("/events/complete", R"({"worker_id":"w:1","events":[{"id":1,"result":[1]}]})");
  post("/events/next", R"({"worker_id":"w:1","limit":0,"completed":[{"id":2,"attempt":1,"result":"two"}]})");

  EXPECT_EQ(at(get("/events/1"), "result[0]"), "1");
  EXPECT_EQ(at(get("/events/2"), "result"), R"("two")");
}

TEST_F(ResultsApiTest, AnEventWithoutAResultShowsNull) {
  publish("q");
  EXPECT_EQ(at(get("/events/1"), "result"), "null");
  EXPECT_EQ(complete_with(claim("q"), "null"), 200);
  EXPECT_EQ(at(get("/events/1"), "result"), "null");
}

TEST_F(ResultsApiTest, ARepeatedCompletionKeepsTheFirstResult) {
  publish("q");
  const std::string id = claim("q");
  EXPECT_EQ(complete_with(id, "1"), 200);
  EXPECT_EQ(complete_with(id, "2"), 200);

  EXPECT_EQ(at(get("/events/1"), "result"), "1");
}

TEST_F(ResultsApiTest, AReplayedCopyHasNoResult) {
  publish("q");
  complete_with(claim("q"), "1");

  EXPECT_EQ(post("/queues/q/replay", R"({"from":"2024-01-01T00:00:00Z"})").status, 200);
  EXPECT_EQ(complete(claim("q")), 200);

  EXPECT_EQ(at(get("/events/2"), "result"), "null");
}

TEST_F(ResultsApiTest, AResultHasAtMost65536Bytes) {
  for (int i = 0; i < 3; ++i) publish("q");
  const auto text_of = [](std::size_t bytes) { return '"' + std::string(bytes - 2, 'x') + '"'; };

  EXPECT_EQ(complete_with(claim("q"), text_of(limits::kResult - 1)), 200);
  EXPECT_EQ(complete_with(claim("q"), text_of(limits::kResult)), 200);
  const HttpResponse refused = post("/events/" + claim("q") + "/complete",
                                    worker_body("w:1", R"(,"result":)" + text_of(limits::kResult + 1)));

  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(at(refused, "field"), R"("result")");
  EXPECT_EQ(at(get("/events/2"), "result").size(), limits::kResult);
  EXPECT_EQ(status_of("3"), R"("PROCESSING")");
}

TEST_F(ResultsApiTest, AnOnCompleteEventWithoutAPayloadHasTheResults) {
  post("/events/batch",
       R"({"events":[{"title":"a","tags":"t","queue":"q"},{"title":"b","tags":"t","queue":"q"}],
                            "correlation_id":"c","on_complete":{"title":"end","tags":"end"}})");
  complete_with(claim("q"), R"({"n": 1})");
  complete_with(claim("q"), "2");

  const HttpResponse end = get("/events/subscribe?tags=end&queue=q&worker_id=w:1");
  const std::string payload = at(end, "payload");
  EXPECT_EQ(at(payload, "correlation_id"), R"("c")");
  EXPECT_EQ(at(payload, "total"), "2");
  EXPECT_EQ(at(payload, "results[0].result.n"), "1");
  EXPECT_EQ(at(payload, "results[1].result"), "2");
  EXPECT_EQ(at(payload, "results_complete"), "true");
}

TEST_F(ResultsApiTest, AFailureShowsItsDetailInTheEventAndItsLog) {
  publish("q");
  const HttpResponse failed = fail_with(claim("q"), "Traceback:\\n line 7");

  EXPECT_EQ(failed.status, 200);
  EXPECT_EQ(at(failed, "error_detail"), "") << "the worker has it";
  const HttpResponse event = get("/events/1?include_logs=true");
  EXPECT_EQ(at(event, "error_detail"), "\"Traceback:\n line 7\"");
  EXPECT_EQ(at(event, "logs[0].error_detail"), "");
  EXPECT_EQ(at(event, "logs[1].error_detail"), "\"Traceback:\n line 7\"");
}

TEST_F(ResultsApiTest, AnEventShowsTheDetailOfItsLastFailureOnly) {
  publish("q");
  EXPECT_EQ(at(get("/events/1"), "error_detail"), "null");
  fail_with(claim("q"), "first");
  advance(300s);
  fail(claim("q"));

  EXPECT_EQ(at(get("/events/1"), "error_detail"), "null");
}

TEST_F(ResultsApiTest, ListsOfReportsAndNextTakeDetails) {
  for (int i = 0; i < 2; ++i) publish("q");
  post("/events/subscribe", R"({"worker_id":"w:1","tags":"t","queue":"q","limit":2})");

  post("/events/fail", R"({"worker_id":"w:1","events":[{"id":1,"error_detail":"one"}]})");
  post("/events/next",
       R"({"worker_id":"w:1","limit":0,"failed":[{"id":2,"attempt":1,"error_detail":"two"}]})");

  EXPECT_EQ(at(get("/events/1"), "error_detail"), R"("one")");
  EXPECT_EQ(at(get("/events/2"), "error_detail"), R"("two")");
}

TEST_F(ResultsApiTest, ADetailHasAtMost65536Bytes) {
  for (int i = 0; i < 3; ++i) publish("q");

  EXPECT_EQ(fail_with(claim("q"), std::string(limits::kErrorDetail - 1, 'x')).status, 200);
  EXPECT_EQ(fail_with(claim("q"), std::string(limits::kErrorDetail, 'x')).status, 200);
  const HttpResponse refused = fail_with(claim("q"), std::string(limits::kErrorDetail + 1, 'x'));

  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(at(refused, "field"), R"("error_detail")");
}

TEST_F(ResultsApiTest, TheAnswerToARepeatedFailureHasTheSameBytes) {
  publish("q");
  const std::string id = claim("q");
  const HttpResponse first = fail_with(id, "detail");

  EXPECT_EQ(fail_with(id, "detail").body, first.body);
}

}  // namespace
}  // namespace eventq
