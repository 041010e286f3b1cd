// event_reader_test.cc: answers of answer_json.h are read back, and other bodies are refused.
#include "wire/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/written.h"
#include "wire/answer_json.h"
#include "wire/config_json.h"
#include "wire/queue_json.h"

namespace eventq::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class EventReader : public testing::Test {
 protected:
  JsonValue parse(const std::string& text) { return parser_.parse(text).value(); }

  // An event with every member that an answer may show.
  static Event full_event() {
    Event event;
    event.id = EventId{1001};
    event.event_id = "evt_1";
    event.queue = "mail";
    event.title = "Send \"mail\"";
    event.description = "d";
    event.tags = {"a", "b"};
    event.payload = R"({"n": 12345678901234567890})";
    event.correlation_id = "c";
    event.causation_id = "x";
    event.trace_id = "t";
    event.pattern = "p";
    event.version = "v";
    event.source = {"workflow", "7", "seven"};
    event.ordering_key = "o";
    event.supersede_key = "s";
    event.sequence = 3;
    event.priority = -2;
    event.max_retries = 5;
    event.max_attempts = 6;
    event.retry = RetryPolicy{RetryPolicy::Kind::exponential, Millis(10), Millis(20), 0.25};
    event.timestamp = kNoon - Millis(1);
    event.created_at = kNoon;
    event.status = Status::pending;
    event.attempts = 2;
    event.retry_count = 1;
    event.worker_id = "w:1";
    event.due_at = kNoon + Millis(7);
    event.updated_at = kNoon + Millis(1);
    event.superseded_by = EventId{1002};
    return event;
  }

  static std::string text_of(const Event& event) {
    return written([&](JsonWriter& json) { write_event(json, event); });
  }

  JsonParser parser_;
};

TEST_F(EventReader, AnEventIsReadBackWithAllWrittenMembers) {
  const Event event = full_event();
  const Event read = read_event(parse(text_of(event))).value();

  EXPECT_EQ(text_of(read), text_of(event));
  EXPECT_EQ(read.due_at, event.due_at);
  EXPECT_EQ(read.retry, event.retry);
  EXPECT_EQ(read.source, event.source);
  EXPECT_EQ(read.timestamp, event.timestamp);
  EXPECT_EQ(read.superseded_by, event.superseded_by);
}

TEST_F(EventReader, AbsentMembersOfAnEventHaveTheirDefaults) {
  Event event;
  event.id = EventId{1};
  event.payload = "null";
  event.created_at = event.timestamp = event.updated_at = event.due_at = kNoon;
  const Event read = read_event(parse(text_of(event))).value();

  EXPECT_EQ(read.description, std::nullopt);
  EXPECT_THAT(read.tags, SizeIs(0));
  EXPECT_EQ(read.payload, "null");
  EXPECT_EQ(read.timestamp, kNoon);
  EXPECT_EQ(read.due_at, kNoon);
  EXPECT_EQ(read.worker_id, "");
}

TEST_F(EventReader, UnknownMembersAreIgnored) {
  std::string text = text_of(full_event());
  text.pop_back();
  EXPECT_EQ(text_of(read_event(parse(text + R"(,"new":{"er":[1]}})")).value()), text_of(full_event()));
}

TEST_F(EventReader, EveryRequiredMemberMustBePresent) {
  for (const std::string name : {"id", "event_id", "queue", "title", "tags", "payload", "status", "priority",
                                 "attempts", "retry_count", "max_retries", "created_at", "updated_at"}) {
    std::string text = text_of(full_event());
    text.insert(text.find("\"" + name + "\"") + 1, "not_");
    const auto read = read_event(parse(text));
    ASSERT_FALSE(read) << name;
    EXPECT_EQ(read.error().code, ErrorCode::internal);
    EXPECT_EQ(read.error().message, "The server's answer cannot be read: " + name + " is missing.");
  }
}

TEST_F(EventReader, AMemberOfTheWrongTypeOrWithAnUnknownNameIsRefused) {
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string text = text_of(full_event());
    text.replace(text.find(from), from.size(), to);
    return read_event(parse(text)).error().message;
  };
  EXPECT_THAT(refusal(R"("id":1001)", R"("id":"1001")"), HasSubstr("id must be a whole number"));
  EXPECT_THAT(refusal(R"("PENDING")", R"("ODD")"), HasSubstr("\"ODD\" is not a known status"));
  EXPECT_THAT(refusal(R"("baseMs":10)", R"("baseMs":"10")"), HasSubstr("baseMs must be a whole number"));
  EXPECT_THAT(refusal(R"("id":"7")", R"("id":7)"), HasSubstr("source: id must be a string"));
  EXPECT_THAT(read_event(parse("[]")).error().message, HasSubstr("A JSON object is needed here"));
}

TEST_F(EventReader, AClaimIsReadBackWithItsLease) {
  Claim claim{full_event(), kNoon + Millis(60'000)};
  claim.event.status = Status::processing;
  const std::string text = written([&](JsonWriter& json) { write_claim(json, claim); });
  const Claim read = read_claim(parse(text)).value();

  EXPECT_EQ(written([&](JsonWriter& json) { write_claim(json, read); }), text);
  EXPECT_EQ(read.event.due_at, claim.lease_until);
  EXPECT_EQ(read.event.picked_at, claim.event.updated_at);
  EXPECT_THAT(read_claim(parse(text_of(full_event()))).error().message, HasSubstr("lease_until is missing"));
}

LogEntry full_entry(Action action) {
  LogEntry entry;
  entry.log_id = LogId{9};
  entry.id = EventId{1001};
  entry.attempt = 2;
  entry.worker_id = "w:1";
  entry.action = action;
  entry.status_code = 500;
  entry.error_message = "m";
  entry.execution_time_ms = 12;
  entry.errors = {"one", "two"};
  entry.reason = "r";
  entry.next_retry_at = kNoon + Millis(5);
  entry.created_at = kNoon;
  return entry;
}

TEST_F(EventReader, ALogIsReadBack) {
  const std::vector<LogEntry> log{full_entry(Action::failed), full_entry(Action::picked)};
  const auto details = [&](const std::vector<LogEntry>& entries) {
    return written([&](JsonWriter& json) { write_details(json, full_event(), entries); });
  };
  EXPECT_EQ(details(read_log(parse(details(log))).value()), details(log));
  EXPECT_THAT(read_log(parse("{}")).error().message, HasSubstr("logs is missing"));
  EXPECT_THAT(read_log(parse(R"({"logs":[{}]})")).error().message, HasSubstr("logs[0]: event_id is missing"));
}

TEST_F(EventReader, AReportIsReadBackAsItsEntry) {
  LogEntry entry = full_entry(Action::failed);
  entry.retry_count = 1;
  const auto text = [](const LogEntry& shown) {
    return written([&](JsonWriter& json) { write_entry(json, shown, 3, std::nullopt); });
  };
  const LogEntry read = read_report(parse(text(entry))).value();
  EXPECT_EQ(text(read), text(entry));
  EXPECT_EQ(read.log_id, LogId{0});
}

TEST_F(EventReader, AFinalFailureIsReadAsAnEntry) {
  for (const int retry_count : {1, 3}) {  // a permanent failure, and the last of three
    const std::string text = written(
        [&](JsonWriter& json) { write_problem(json, last_failure_problem(EventId{7}, retry_count, 3)); });
    const LogEntry entry = read_report(parse(text)).value();
    EXPECT_EQ(entry.action, Action::failed);
    EXPECT_EQ(entry.retry_count, retry_count);
    EXPECT_EQ(entry.next_retry_at, std::nullopt);
  }
}

TEST_F(EventReader, TheAnswerToNextIsReadWithItsResultsInOrder) {
  Problem problem;
  problem.status = 409;
  problem.kind = "lease-lost";
  problem.message = "Gone.";
  problem.id = 7;
  const std::string text = written([&](JsonWriter& json) {
    json.begin_object().key("results").begin_array();
    write_entry(json, full_entry(Action::completed), 3, 200);
    write_problem(json, problem);
    json.end_array().key("events");
    write_claims(json, {Claim{full_event(), kNoon}});
    json.end_object();
  });
  const NextResult result = read_next(parse(text), 0).value();
  ASSERT_THAT(result.results, SizeIs(2));
  EXPECT_EQ(result.results[0].value().action, Action::completed);
  EXPECT_EQ(result.results[1].error().code, ErrorCode::lease_lost);
  EXPECT_EQ(result.results[1].error().message, "Gone.");
  EXPECT_THAT(result.claims, SizeIs(1));
}

TEST_F(EventReader, TheLastResultsOfNextBelongToItsHeartbeats) {
  Problem problem;
  problem.status = 404;
  problem.kind = "not-found";
  const std::string text = written([&](JsonWriter& json) {
    json.begin_object().key("results").begin_array();
    write_entry(json, full_entry(Action::completed), 3, 200);
    write_heartbeat(json, EventId{7}, "w:1", kNoon, 200);
    write_problem(json, problem);
    json.end_array().key("events").begin_array().end_array().end_object();
  });
  const NextResult result = read_next(parse(text), 2).value();
  EXPECT_THAT(result.results, SizeIs(1));
  ASSERT_THAT(result.leases, SizeIs(2));
  EXPECT_EQ(result.leases[0].value(), kNoon);
  EXPECT_EQ(result.leases[1].error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_next(parse(text), 4).has_value());
}

TEST_F(EventReader, AClaimThatCannotBeReadIsSkipped) {
  const std::string claim = written([&](JsonWriter& json) { write_claim(json, Claim{full_event(), kNoon}); });
  const auto claims = [&](const std::string& list) {
    return read_next(parse(R"({"results":[],"events":[)" + list + "]}"), 0);
  };
  EXPECT_THAT(claims("{}," + claim).value().claims, SizeIs(1));
  EXPECT_EQ(claims("{}").error().code, ErrorCode::internal);
}

TEST_F(EventReader, ABatchAHeartbeatAndSettingsAreReadBack) {
  const std::string batch = written([](JsonWriter& json) {
    write_batch(json, "c", {full_event(), full_event()});
  });
  EXPECT_THAT(read_batch(parse(batch)).value(), SizeIs(2));

  const std::string beat =
      written([](JsonWriter& json) { write_heartbeat(json, EventId{1}, "w", kNoon, std::nullopt); });
  EXPECT_EQ(read_lease_end(parse(beat)).value(), kNoon);
  EXPECT_THAT(read_lease_end(parse("{}")).error().message, HasSubstr("lease_until is missing"));

  const Policy policy = resolve("mail", {}, default_policy({}));
  std::string queue = written([&](JsonWriter& json) {
    json.begin_object().key("config");
    write_config(json, policy);
    json.end_object();
  });
  EXPECT_EQ(read_settings(parse(queue)).value(), in_force(policy));
  queue.insert(queue.find("\"batchSize\""), R"("newer":1,)");
  EXPECT_EQ(read_settings(parse(queue)).value(), in_force(policy));
  EXPECT_THAT(read_settings(parse("{}")).error().message, HasSubstr("config is missing"));
}

TEST(ReadProblem, ReadsBackEveryKind) {
  struct Case {
    std::string_view kind;
    int status;
    ErrorCode code;
  };
  for (const Case& c :
       {Case{"invalid-request", 400, ErrorCode::invalid_argument},
        Case{"forbidden", 403, ErrorCode::invalid_argument}, Case{"not-found", 404, ErrorCode::not_found},
        Case{"method-not-allowed", 405, ErrorCode::invalid_argument},
        Case{"timeout", 408, ErrorCode::timeout}, Case{"conflict", 409, ErrorCode::conflict},
        Case{"lease-lost", 409, ErrorCode::lease_lost}, Case{"too-large", 413, ErrorCode::too_large},
        Case{"head-too-large", 431, ErrorCode::too_large}, Case{"queue-full", 429, ErrorCode::queue_full},
        Case{"internal-error", 500, ErrorCode::internal}, Case{"store-corrupt", 500, ErrorCode::corrupt},
        Case{"store-unavailable", 503, ErrorCode::unavailable},
        Case{"overloaded", 503, ErrorCode::unavailable},
        Case{"outcome-unknown", 503, ErrorCode::unknown_outcome}, Case{"disk-full", 507, ErrorCode::no_space},
        Case{"of-a-newer-server", 409, ErrorCode::conflict}}) {
    Problem problem;
    problem.status = c.status;
    problem.kind = c.kind;
    problem.message = "What is wrong.";
    problem.field = "f";
    const std::string body = written([&](JsonWriter& json) { write_problem(json, problem); });
    const Error error = read_problem(c.status, body, "7");
    EXPECT_EQ(error.code, c.code) << c.kind;
    EXPECT_EQ(error.message, "What is wrong.");
    EXPECT_EQ(error.field, "f");
    EXPECT_EQ(error.retry_after, std::chrono::seconds(7));
  }
}

TEST(ReadProblem, ReadsTheStatusOfABodyThatIsNotAProblem) {
  EXPECT_EQ(read_problem(502, "<html>", "").code, ErrorCode::unknown_outcome);
  EXPECT_EQ(read_problem(504, "", "").code, ErrorCode::unknown_outcome);
  EXPECT_EQ(read_problem(503, "[]", "soon").code, ErrorCode::unavailable);
  EXPECT_EQ(read_problem(503, "[]", "soon").retry_after, std::chrono::seconds(0));
  EXPECT_EQ(read_problem(302, "", "").code, ErrorCode::internal);
  EXPECT_EQ(read_problem(418, "{}", "").message, "The server answered 418.");
}

}  // namespace
}  // namespace eventq::wire
