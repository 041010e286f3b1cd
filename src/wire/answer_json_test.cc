// answer_json_test.cc: the exact bytes of answers.
#include "wire/answer_json.h"

#include <gtest/gtest.h>

#include <string>

#include "support/written.h"

namespace eventq::wire {
namespace {

Event event() {
  Event event;
  event.id = EventId{1001};
  event.event_id = "evt_1";
  event.queue = "main";
  event.title = "Send \"mail\"";
  event.tags = {"email", "priority-high"};
  event.payload = R"({"n": 12345678901234567890, "x": 1.0})";
  event.max_retries = 3;
  event.timestamp = kNoon;
  event.created_at = kNoon;
  event.updated_at = kNoon;
  event.due_at = kNoon;
  return event;
}

TEST(AnswerJson, AnEventIsWrittenWithItsPayloadByteForByte) {
  EXPECT_EQ(
      written([](JsonWriter& json) { write_event(json, event()); }),
      R"({"id":1001,"title":"Send \"mail\"","description":null,"tags":"email,priority-high",)"
      R"("status":"PENDING","payload":{"n": 12345678901234567890, "x": 1.0},"retry_count":0,"max_retries":3,)"
      R"("next_retry_at":null,"created_at":"2025-12-24T10:30:00.000Z","updated_at":"2025-12-24T10:30:00.000Z",)"
      R"("event_id":"evt_1","queue":"main","priority":0,"attempts":0,"worker_id":null,"correlation_id":null})");
}

TEST(AnswerJson, AClaimCarriesItsAttemptAndTheEndOfItsLease) {
  Claim claim{event(), kNoon + std::chrono::minutes(1)};
  claim.event.status = Status::processing;
  claim.event.attempts = 2;
  claim.event.worker_id = "w:1";

  const std::string json = written([&](JsonWriter& writer) { write_claim(writer, claim); });

  EXPECT_NE(json.find(R"("status":"PROCESSING")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("worker_id":"w:1")"), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with(R"("attempt":2,"lease_until":"2025-12-24T10:31:00.000Z"})")) << json;
}

TEST(AnswerJson, ALogEntryShowsOnlyReportedMembers) {
  LogEntry picked;
  picked.log_id = LogId{5001};
  picked.id = EventId{1001};
  picked.worker_id = "w:1";
  picked.action = Action::picked;
  picked.attempt = 1;
  picked.created_at = kNoon;

  const std::string json = written([&](JsonWriter& writer) { write_details(writer, event(), {picked}); });

  EXPECT_TRUE(json.ends_with(
      R"("logs":[{"id":5001,"event_id":1001,"worker_id":"w:1","action":"PICKED","attempt":1,)"
      R"("created_at":"2025-12-24T10:30:00.000Z"}],"pattern":null,"superseded_by":null,)"
      R"("processed_at":null,"finished_at":null,"error_message":null,"error_detail":null,"result":null})"))
      << json;
}

TEST(AnswerJson, AFailureThatIsRetriedSaysWhen) {
  LogEntry failed;
  failed.id = EventId{1001};
  failed.worker_id = "w:1";
  failed.action = Action::failed;
  failed.attempt = 1;
  failed.status_code = 500;
  failed.error_message = "timeout";
  failed.execution_time_ms = 5000;
  failed.retry_count = 1;
  failed.next_retry_at = kNoon + std::chrono::minutes(5);
  failed.created_at = kNoon;

  EXPECT_EQ(
      written([&](JsonWriter& json) { write_entry(json, failed, 3, std::nullopt); }),
      R"({"event_id":1001,"worker_id":"w:1","action":"FAILED","status_code":500,"error_message":"timeout",)"
      R"("execution_time_ms":5000,"retry_scheduled":true,"next_retry_at":"2025-12-24T10:35:00.000Z",)"
      R"("retry_count":1,"max_retries":3,"attempt":1,"created_at":"2025-12-24T10:30:00.000Z"})");
}

TEST(AnswerJson, AResultInAListCarriesItsStatusFirst) {
  LogEntry done;
  done.id = EventId{7};
  done.worker_id = "w:1";
  done.action = Action::completed;
  done.attempt = 1;
  done.created_at = kNoon;

  EXPECT_EQ(written([&](JsonWriter& json) { write_entry(json, done, 3, 200); }),
            R"({"status":200,"event_id":7,"worker_id":"w:1","action":"COMPLETED","attempt":1,)"
            R"("created_at":"2025-12-24T10:30:00.000Z"})");
}

TEST(AnswerJson, AFinalFailureHasTheErrorOfTheFirstApiAndIsAProblem) {
  EXPECT_EQ(written([](JsonWriter& json) { write_problem(json, last_failure_problem(EventId{1001}, 3, 3)); }),
            R"({"error":"Max retries exceeded","retry_count":3,"max_retries":3,)"
            R"("type":"urn:eventq:problem:max-retries-exceeded","title":"Max retries exceeded","status":400,)"
            R"("detail":"The failure was recorded and is the last: event 1001 stays FAILED. )"
            R"(POST /events/1001/retry makes it pending again."})");
}

TEST(AnswerJson, APermanentFailureIsNotCalledMaxRetriesExceeded) {
  EXPECT_EQ(written([](JsonWriter& json) { write_problem(json, last_failure_problem(EventId{1001}, 1, 3)); }),
            R"({"error":"Failed permanently","retry_count":1,"max_retries":3,)"
            R"("type":"urn:eventq:problem:failed-permanently","title":"Failed permanently","status":400,)"
            R"("detail":"The failure was recorded and is permanent: event 1001 stays FAILED. )"
            R"(POST /events/1001/retry makes it pending again."})");
}

TEST(AnswerJson, AProblemNamesFieldOutcomeAndRequest) {
  Problem problem;
  problem.status = 503;
  problem.kind = "outcome-unknown";
  problem.title = "Outcome unknown";
  problem.message = "Lost.";
  problem.field = "f";
  problem.outcome = "unknown";
  problem.request_id = "r-1";

  EXPECT_EQ(written([&](JsonWriter& json) { write_problem(json, problem); }),
            R"({"error":"Lost.","field":"f","outcome":"unknown","type":"urn:eventq:problem:outcome-unknown",)"
            R"("title":"Outcome unknown","status":503,"detail":"Lost.","request_id":"r-1"})");
}

TEST(AnswerJson, APageShowsSummariesItsLimitAndItsOffset) {
  EventPage page;
  page.events.push_back(event());
  page.events.front().status = Status::pending;
  page.events.front().retry_count = 1;
  page.total = 12;
  ListFilter filter;
  filter.limit = 10;
  filter.offset = 2;

  const std::string json = written([&](JsonWriter& writer) { write_page(writer, page, filter); });

  EXPECT_EQ(json.find("payload"), std::string::npos);
  EXPECT_NE(json.find(R"("next_retry_at":"2025-12-24T10:30:00.000Z")"), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with(R"("total":12,"total_exact":true,"limit":10,"offset":2,"next":null})")) << json;
}

TEST(AnswerJson, ABatchNamesItsCorrelation) {
  const std::string json = written([&](JsonWriter& writer) { write_batch(writer, "corr_1", {event()}); });

  EXPECT_TRUE(json.starts_with(R"({"correlation_id":"corr_1","events":[{"id":1001,)")) << json;
}

TEST(AnswerJson, OptionalMembersComeLast) {
  Event full = event();
  full.status = Status::superseded;
  full.causation_id = "x";
  full.trace_id = "t1";
  full.pattern = "invoice.created";
  full.version = "1.0.0";
  full.source = {"integration", "", "Xero"};
  full.timestamp = kNoon - Millis(1);
  full.ordering_key = "o";
  full.supersede_key = "s";
  full.superseded_by = EventId{1002};
  full.sequence = 0;
  full.retry = RetryPolicy{RetryPolicy::Kind::exponential, Millis(100), Millis(5000), 0.25};
  full.updated_at = kNoon + Millis(7);

  const std::string json = written([&](JsonWriter& writer) { write_event(writer, full); });

  EXPECT_TRUE(json.ends_with(
      R"("correlation_id":null,"causation_id":"x","trace_id":"t1","pattern":"invoice.created","version":"1.0.0",)"
      R"("source":{"type":"integration","name":"Xero"},"timestamp":"2025-12-24T10:29:59.999Z","ordering_key":"o",)"
      R"("supersede_key":"s","superseded_by":1002,"sequence":0,)"
      R"("retry":{"kind":"exponential","baseMs":100,"capMs":5000,"jitter":0.25}})"))
      << json;
}

TEST(AnswerJson, AProcessedEventSaysWhen) {
  Event done = event();
  done.status = Status::completed;
  done.updated_at = kNoon + Millis(7);

  const std::string json = written([&](JsonWriter& writer) { write_event(writer, done); });

  EXPECT_TRUE(json.ends_with(R"("correlation_id":null,"processed_at":"2025-12-24T10:30:00.007Z"})")) << json;
}

TEST(AnswerJson, ASummarySaysWhyTheEventEnded) {
  EventPage page;
  page.events = {event(), event(), event()};
  Event& failed = page.events[0];
  failed.status = Status::failed;
  failed.pattern = "invoice.created";
  failed.worker_id = "w:1";
  failed.updated_at = kNoon + Millis(7);
  Event& superseded = page.events[1];
  superseded.id = EventId{1002};
  superseded.status = Status::superseded;
  superseded.superseded_by = EventId{1003};
  page.events[2].id = EventId{1003};
  page.last_errors = {{EventId{1001}, "timeout"}};

  const std::string json = written([&](JsonWriter& writer) { write_page(writer, page, {}); });

  EXPECT_NE(json.find(R"("worker_id":"w:1","correlation_id":null,"pattern":"invoice.created",)"
                      R"("superseded_by":null,"processed_at":"2025-12-24T10:30:00.007Z",)"
                      R"("finished_at":"2025-12-24T10:30:00.007Z","error_message":"timeout"},{"id":1002,)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("worker_id":null,"correlation_id":null,"pattern":null,"superseded_by":1003,)"
                      R"("processed_at":null,"finished_at":"2025-12-24T10:30:00.000Z",)"
                      R"("error_message":null},{"id":1003,)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("pattern":null,"superseded_by":null,"processed_at":null,"finished_at":null,)"
                      R"("error_message":null}],"total")"),
            std::string::npos)
      << json;
}

TEST(AnswerJson, AnEventThatWaitsForItsTimeSaysWhen) {
  const auto shows_run_at = [](const Event& shown) {
    const std::string json = written([&](JsonWriter& writer) { write_event(writer, shown); });
    return json.find(R"("run_at":"2025-12-24T10:30:00.001Z")") != std::string::npos;
  };
  Event waiting = event();
  waiting.due_at = kNoon + Millis(1);
  EXPECT_TRUE(shows_run_at(waiting));

  Event failed = waiting;
  failed.retry_count = 1;
  EXPECT_FALSE(shows_run_at(failed));
  Event working = waiting;
  working.status = Status::processing;
  EXPECT_FALSE(shows_run_at(working));
}

TEST(AnswerJson, AnEventShowsItsResultAndTheDetailOfItsLastFailure) {
  LogEntry failed;
  failed.action = Action::failed;
  failed.error_detail = "at line 7";
  Event done = event();
  done.result = R"({"a": 1})";

  const std::string json = written([&](JsonWriter& writer) { write_details(writer, done, {failed}); });

  EXPECT_TRUE(json.ends_with(R"("error_detail":"at line 7","result":{"a": 1}})")) << json;
  EXPECT_NE(json.find(R"("action":"FAILED","attempt":0,"error_detail":"at line 7",)"), std::string::npos)
      << json;
}

TEST(AnswerJson, AResultThatWasLeftOutIsMarked) {
  Correlation correlation;
  correlation.events = {event()};
  correlation.left_out = {event().id};

  const std::string json = written([&](JsonWriter& writer) { write_correlation(writer, correlation); });

  EXPECT_TRUE(json.ends_with(R"("result_left_out":true}]})")) << json;
}

TEST(AnswerJson, AnEventShowsTheMessageOfItsLastFailure) {
  LogEntry first, last, done;
  first.action = last.action = Action::failed;
  first.error_message = "first";
  last.error_message = "last";
  done.action = Action::completed;
  const std::vector<LogEntry> log = {first, last, done};

  const std::string json =
      written([&](JsonWriter& writer) { write_details(writer, event(), log, Logs::left_out); });
  EXPECT_TRUE(
      json.ends_with(R"("finished_at":null,"error_message":"last","error_detail":null,"result":null})"))
      << json;

  const std::string none =
      written([&](JsonWriter& writer) { write_details(writer, event(), {done}, Logs::left_out); });
  EXPECT_TRUE(none.ends_with(R"("finished_at":null,"error_message":null,"error_detail":null,"result":null})"))
      << none;
}

TEST(AnswerJson, AFailureWithoutAMessageShowsItsReason) {
  LogEntry told, given_up, silent;
  told.action = given_up.action = silent.action = Action::failed;
  told.error_message = "told";
  told.created_at = kNoon;
  given_up.reason = "Out of attempts.";
  given_up.created_at = kNoon + Millis(1);
  silent.error_message = "";

  const auto failure = last_failure({told, given_up, silent});
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->at, kNoon + Millis(1));
  EXPECT_FALSE(last_failure({silent}).has_value());
  EXPECT_FALSE(last_failure({}).has_value());
}

TEST(AnswerJson, ACorrelationShowsItsCountsAndTheOrderOfItsEvents) {
  Correlation correlation;
  correlation.id = "c";
  correlation.total = 4;
  correlation.completed = 2;
  correlation.failed = 1;
  correlation.pending = 1;
  correlation.events = {event()};
  correlation.events.front().sequence = 3;

  const std::string json = written([&](JsonWriter& writer) { write_correlation(writer, correlation); });

  EXPECT_TRUE(json.starts_with(
      R"({"correlation_id":"c","total":4,"completed":2,"failed":1,"pending":1,"events":[{"id":1001,"title":)"))
      << json;
  EXPECT_TRUE(json.ends_with(R"("error_message":null,"sequence":3,"result":null}]})")) << json;
}

TEST(AnswerJson, TheEntriesOfAWorkersLogAreSortedByTime) {
  const auto entry = [](int event_id, int log_id, Millis at) {
    return LogEntry{.log_id = LogId(log_id),
                    .id = EventId(event_id),
                    .attempt = 1,
                    .worker_id = "w:1",
                    .created_at = kNoon + at};
  };
  WorkerLogPage page;
  page.entries = {entry(2, 3, Millis(1)), entry(1, 4, Millis(2)), entry(1, 2, Millis(1))};
  page.next = LogCursor{EventId{1}, LogId{2}};
  page.complete = false;

  const std::string json = written([&](JsonWriter& writer) { write_worker_log(writer, "w:1", page); });

  EXPECT_TRUE(json.starts_with(R"({"worker_id":"w:1","entries":[{"id":4,"event_id":1,)")) << json;
  EXPECT_LT(json.find(R"("id":3,)"), json.find(R"("id":2,)")) << json;
  EXPECT_TRUE(json.ends_with(R"(],"next":"1-2","complete":false})")) << json;
}

TEST(MarkPartial, NamesTheShardsThatAreMissing) {
  std::string object = R"({"events":[]})";
  mark_partial(object, {1});
  EXPECT_EQ(object, R"({"events":[],"partial":true,"missing_shards":[1]})");
  std::string empty = "{}";
  mark_partial(empty, {0, 2});
  EXPECT_EQ(empty, R"({"partial":true,"missing_shards":[0,2]})");
}

}  // namespace
}  // namespace eventq::wire
