// new_event_json_test.cc: which events publishers may send, the errors for others, and the stored form.
#include "wire/new_event_json.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/json.h"
#include "support/parsed.h"
#include "support/written.h"

namespace eventq::wire {
namespace {

class NewEventJson : public ParsedTest {};

TEST_F(NewEventJson, AnEventKeepsEachMember) {
  const auto event = parse_event(json(R"({"title":"Mail","description":"d","tags":"a,b","payload":{"n": 1.0},
      "queue":"q","priority":-3,"max_retries":7,"max_attempts":9,"event_id":"my-1","correlation_id":"c-1"})"));

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->title, "Mail");
  EXPECT_EQ(event->description, "d");
  EXPECT_EQ(event->tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(event->payload, R"({"n": 1.0})");
  EXPECT_EQ(event->queue, "q");
  EXPECT_EQ(event->priority, -3);
  EXPECT_EQ(event->max_retries, 7);
  EXPECT_EQ(event->max_attempts, 9);
  EXPECT_EQ(event->event_id, "my-1");
  EXPECT_EQ(event->correlation_id, "c-1");
}

TEST_F(NewEventJson, AbsentMembersHaveTheirDefaults) {
  const auto event = parse_event(json(R"({"title":"Mail","tags":["a"]})"));

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->payload, "null");
  EXPECT_EQ(event->queue, "main");
  EXPECT_EQ(event->priority, 0);
  EXPECT_FALSE(event->description.has_value());
  EXPECT_FALSE(event->max_retries.has_value());
  EXPECT_EQ(event->event_id, "");
}

TEST_F(NewEventJson, TagsMayBeAStringOrAnArray) {
  const auto text = parse_event(json(R"({"title":"t","tags":" b , a,b"})"));
  const auto list = parse_event(json(R"({"title":"t","tags":[" b ","a","b"]})"));

  ASSERT_TRUE(text.has_value());
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(text->tags, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(list->tags, (std::vector<std::string>{"b", "a"}));
}

TEST_F(NewEventJson, ARefusalNamesTheBadMember) {
  const struct {
    std::string_view body;
    std::string_view field;
  } cases[] = {
      {R"({"tags":"a"})", "title"},
      {R"({"title":7,"tags":"a"})", "title"},
      {R"({"title":"t"})", "tags"},
      {R"({"title":"t","tags":""})", "tags"},
      {R"({"title":"t","tags":"a b"})", "tags"},
      {R"({"title":"t","tags":[1]})", "tags"},
      {R"({"title":"t","tags":7})", "tags"},
      {R"({"title":"t","tags":"a","priority":"1"})", "priority"},
      {R"({"title":"t","tags":"a","priority":1.5})", "priority"},
      {R"({"title":"t","tags":"a","priority":9223372036854775807})", "priority"},
      {R"({"title":"t","tags":"a","max_retries":-1})", "max_retries"},
      {R"({"title":"t","tags":"a","max_attempts":0})", "max_attempts"},
      {R"({"title":"t","tags":"a","event_id":""})", "event_id"},
      {R"({"title":"t","tags":"a","queue":"a b"})", "queue"},
      {R"({"title":"t","tags":"a","status":"COMPLETED"})", "status"},
      {R"({"title":"t","tags":"a","id":5})", "id"},
      {R"({"title":"t","tags":"a","ordering_key":""})", "ordering_key"},
      {R"({"title":"t","tags":"a","supersede_key":""})", "supersede_key"},
      {R"({"title":"t","tags":"a","source":"x"})", "source"},
      {R"({"title":"t","tags":"a","source":{"url":"x"}})", "source.url"},
      {R"({"title":"t","tags":"a","timestamp":"yesterday"})", "timestamp"},
      {R"({"title":"t","tags":"a","run_at":7})", "run_at"},
      {R"({"title":"t","tags":"a","delay":"5m"})", "delay"},
      {R"({"title":"t","tags":"a","delay":-1})", "delay"},
      {R"({"title":"t","tags":"a","delay":0,"run_at":"2025-12-24T10:30:00Z"})", "delay"},
      {R"({"title":"t","tags":"a","retry":{"kind":"linear"}})", "retry.kind"},
      {R"({"title":"t","tags":"a","retry":{"jitter":1.01}})", "retry.jitter"},
      {R"({"title":"t","tags":"a","retry":{"jitter":"0.5"}})", "retry.jitter"},
      {R"({"title":"t","tags":"a","retry":{"jitter":1e999}})", "retry.jitter"},
      {R"({"title":"t","tags":"a","retry":{"base":1}})", "retry.base"},
      {R"({"title":"t","tags":"a","ordered":true})", "ordered"},
      {R"({"title":"t","tags":"a","attributes":{}})", "attributes"},
  };
  for (const auto& row : cases) {
    const auto event = parse_event(json(row.body));
    ASSERT_FALSE(event.has_value()) << row.body;
    EXPECT_EQ(event.error().field, row.field) << row.body;
    EXPECT_EQ(event.error().code, ErrorCode::invalid_argument) << row.body;
  }
}

TEST_F(NewEventJson, AnUnknownMemberIsAnsweredWithTheKnownOnes) {
  const auto event = parse_event(json(R"({"title":"t","tags":"a","titel":"x"})"));

  ASSERT_FALSE(event.has_value());
  EXPECT_EQ(
      event.error().message,
      "There is no member \"titel\" here; there are title, description, tags, payload, queue, priority, "
      "max_retries, max_attempts, event_id, correlation_id, causation_id, trace_id, pattern, version, "
      "source, "
      "traceparent, tracestate, published_by, timestamp, "
      "ordering_key, supersede_key, run_at, retry and delay.");
}

TEST_F(NewEventJson, ANumberThatIsNotInDigitsIsAnsweredWithTheRule) {
  for (const std::string_view value : {"1.0", "1e3", "\"1\"", "true"}) {
    const auto event = parse_event(json(R"({"title":"t","tags":"a","priority":)" + std::string(value) + "}"));

    ASSERT_FALSE(event.has_value()) << value;
    EXPECT_EQ(event.error().message, "priority must be a whole number without quotes, fraction or exponent.");
  }
}

TEST_F(NewEventJson, ABodyThatIsNotAnObjectIsRefused) {
  for (const std::string_view body : {"[]", "7", "null", "\"x\""}) {
    EXPECT_FALSE(parse_event(json(body)).has_value()) << body;
  }
}

TEST_F(NewEventJson, AnErrorInABatchNamesTheEventByItsIndex) {
  const auto events = parse_batch(json(R"({"events":[{"title":"t","tags":"a"},{"title":"","tags":"a"}]})"));

  ASSERT_FALSE(events.has_value());
  EXPECT_EQ(events.error().field, "events[1].title");
  EXPECT_EQ(events.error().message, "events[1]: title is missing or empty; it needs 1 to 200 characters.");
}

TEST_F(NewEventJson, AnEmptyBatchIsRefused) {
  EXPECT_FALSE(parse_batch(json(R"({"events":[]})")).has_value());
  EXPECT_FALSE(parse_batch(json(R"({})")).has_value());
}

TEST_F(NewEventJson, ABatchOfTenThousandIsAcceptedAndOneMoreIsNot) {
  const auto batch = [](int count) {
    std::string body = R"({"events":[)";
    for (int i = 0; i < count; ++i) body += std::string(i > 0 ? "," : "") + R"({"title":"t","tags":"a"})";
    return body + "]}";
  };
  EXPECT_TRUE(parse_batch(json(batch(9'999))).has_value());
  EXPECT_TRUE(parse_batch(json(batch(10'000))).has_value());
  const auto over = parse_batch(json(batch(10'001)));
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::too_large);
}

TEST_F(NewEventJson, OneCorrelationIdIsGivenToTheWholeBatchOnly) {
  const auto shared = parse_batch(json(R"({"correlation_id":"c","events":[{"title":"t","tags":"a"}]})"));
  ASSERT_TRUE(shared.has_value());
  EXPECT_EQ(shared->events.front().correlation_id, "c");

  const auto own = parse_batch(json(R"({"events":[{"title":"t","tags":"a","correlation_id":"c"}]})"));
  ASSERT_FALSE(own.has_value());
  EXPECT_EQ(own.error().field, "events[0].correlation_id");
}

TEST_F(NewEventJson, AnEventKeepsItsOptionalMembers) {
  const auto event =
      parse_event(json(R"({"title":"t","tags":"a","pattern":"invoice.created","version":"1.0.0",
      "source":{"type":"integration","id":"xero_main","name":"Xero"},"causation_id":"evt_1","trace_id":"t1",
      "timestamp":"2025-12-24T10:30:00.5Z","ordering_key":"customer 7","supersede_key":"invoice 9",
      "run_at":"2025-12-24T10:30:00Z","retry":{"kind":"exponential","baseMs":100,"capMs":5000,"jitter":0.25}})"));

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->pattern, "invoice.created");
  EXPECT_EQ(event->version, "1.0.0");
  EXPECT_EQ(event->source, (Source{"integration", "xero_main", "Xero"}));
  EXPECT_EQ(event->causation_id, "evt_1");
  EXPECT_EQ(event->trace_id, "t1");
  EXPECT_EQ(event->timestamp, kNoon + Millis(500));
  EXPECT_EQ(event->ordering_key, "customer 7");
  EXPECT_EQ(event->supersede_key, "invoice 9");
  EXPECT_EQ(event->run_at, kNoon);
  EXPECT_EQ(event->retry, (RetryPolicy{RetryPolicy::Kind::exponential, Millis(100), Millis(5000), 0.25}));
}

TEST_F(NewEventJson, ADelayIsInSecondsUpToAYear) {
  const auto delayed = [&](std::int64_t delay) {
    return parse_event(json(R"({"title":"t","tags":"a","delay":)" + std::to_string(delay) + "}"));
  };
  for (const std::int64_t delay :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{31'535'999}, std::int64_t{31'536'000}}) {
    const auto event = delayed(delay);
    ASSERT_TRUE(event.has_value()) << delay;
    EXPECT_EQ(event->delay, std::chrono::seconds(delay));
  }
  const auto over = delayed(31'536'001);
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().message, "delay is 31536001; it must be from 0 to 31536000 seconds.");
  EXPECT_FALSE(delayed(9'223'372'036'854'775'807).has_value());
}

TEST_F(NewEventJson, ARetryPolicyWithFewMembersHasTheDefaultsForTheOthers) {
  const auto event = parse_event(json(R"({"title":"t","tags":"a","retry":{"baseMs":1000}})"));

  ASSERT_TRUE(event.has_value()) << event.error().message;
  EXPECT_EQ(event->retry, (RetryPolicy{RetryPolicy::Kind::fixed, Millis(1000), std::chrono::hours(1), 0}));
}

TEST_F(NewEventJson, ABatchMayBeOrderedAndHaveOnComplete) {
  const auto batch = parse_batch(json(R"({"ordered":true,"on_complete":{"title":"All sent","tags":"report"},
      "events":[{"title":"t","tags":"a","queue":"mail"},{"title":"t","tags":"a","queue":"mail"}]})"));

  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_TRUE(batch->ordered);
  ASSERT_TRUE(batch->on_complete.has_value());
  EXPECT_EQ(batch->on_complete->title, "All sent");
  EXPECT_EQ(batch->on_complete->queue, "mail");
}

TEST_F(NewEventJson, ABatchMayDeclineACorrelationAndItsEventsHaveTheirOwn) {
  const auto batch = parse_batch(json(R"({"correlated":false,"events":[{"title":"t","tags":"a"},
      {"title":"t","tags":"a","correlation_id":"own"}]})"));

  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_FALSE(batch->correlated);
  EXPECT_EQ(batch->events[0].correlation_id, "");
  EXPECT_EQ(batch->events[1].correlation_id, "own");
}

TEST_F(NewEventJson, MembersThatNeedACorrelationAreRefusedWithoutOne) {
  for (const char* member :
       {R"("correlation_id":"c")", R"("ordered":true)", R"("on_complete":{"title":"t","tags":"a"})"}) {
    const auto batch = parse_batch(
        json(R"({"correlated":false,"events":[{"title":"t","tags":"a"}],)" + std::string(member) + "}"));
    ASSERT_FALSE(batch.has_value()) << member;
    EXPECT_EQ(batch.error().field, "correlated");
  }
}

TEST_F(NewEventJson, ABatchIsUnorderedAndWithoutOnCompleteByDefault) {
  const auto batch = parse_batch(json(R"({"events":[{"title":"t","tags":"a"}],"on_complete":null})"));

  ASSERT_TRUE(batch.has_value()) << batch.error().message;
  EXPECT_FALSE(batch->ordered);
  EXPECT_FALSE(batch->on_complete.has_value());
}

TEST_F(NewEventJson, OnCompleteMayNotHaveMembersOfTheBatchOrSpanQueues) {
  const auto with = [&](std::string_view on_complete, std::string_view queue) {
    return parse_batch(json(R"({"events":[{"title":"t","tags":"a"},{"title":"t","tags":"a","queue":")" +
                            std::string(queue) + R"("}],"on_complete":)" + std::string(on_complete) + "}"));
  };
  const struct {
    std::string_view on_complete;
    std::string_view queue;
    std::string_view field;
  } cases[] = {
      {R"({"title":"t","tags":"a","queue":"main"})", "main", "on_complete.queue"},
      {R"({"title":"t","tags":"a","correlation_id":"c"})", "main", "on_complete.correlation_id"},
      {R"({"title":"t","tags":"a","event_id":"e"})", "main", "on_complete.event_id"},
      {R"({"title":"","tags":"a"})", "main", "on_complete.title"},
      {R"("done")", "main", "on_complete"},
      {R"({"title":"t","tags":"a"})", "other", "on_complete"},
  };
  for (const auto& row : cases) {
    const auto batch = with(row.on_complete, row.queue);
    ASSERT_FALSE(batch.has_value()) << row.on_complete;
    EXPECT_EQ(batch.error().field, row.field) << batch.error().message;
  }
}

TEST_F(NewEventJson, AStoredEventIsReadBack) {
  NewEvent event;
  event.title = "All \"sent\"";
  event.description = "";
  event.tags = {"a", "b"};
  event.payload = R"({"n": 1.0})";
  event.queue = "mail";
  event.priority = -3;
  event.max_retries = 0;
  event.max_attempts = 9;
  event.event_id = "e";
  event.correlation_id = "c";
  event.causation_id = "x";
  event.trace_id = "t1";
  event.pattern = "p";
  event.version = "v";
  event.source = {"", "i", ""};
  event.timestamp = kNoon;
  event.ordering_key = "o";
  event.supersede_key = "s";
  event.run_at = kNoon + Millis(1);
  event.delay = Millis(1500);
  event.retry = RetryPolicy{RetryPolicy::Kind::exponential, Millis(1), Millis(2), 0.1};
  event.attributes = R"({"specversion":"1.0"})";

  const std::string text = write_new_event(event);
  EXPECT_EQ(
      text,
      R"({"title":"All \"sent\"","description":"","tags":"a,b","payload":{"n": 1.0},"queue":"mail","priority":-3,)"
      R"("max_retries":0,"max_attempts":9,"event_id":"e","correlation_id":"c","causation_id":"x","trace_id":"t1","pattern":"p",)"
      R"("version":"v","source":{"id":"i"},"timestamp":"2025-12-24T10:30:00.000Z","ordering_key":"o",)"
      R"("supersede_key":"s","run_at":"2025-12-24T10:30:00.001Z",)"
      R"("retry":{"kind":"exponential","baseMs":1,"capMs":2,"jitter":0.1},"delay_ms":1500,)"
      R"("attributes":{"specversion":"1.0"}})");

  const auto read = parse_new_event(parser_, text);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(write_new_event(*read), text);
  EXPECT_EQ(read->delay, Millis(1500));
  EXPECT_EQ(read->attributes, event.attributes);
}

TEST_F(NewEventJson, AStoredEventHasOnlyMembersThatAreSet) {
  NewEvent event;
  event.title = "t";
  event.tags = {"a"};

  EXPECT_EQ(write_new_event(event), R"({"title":"t","tags":"a","payload":null,"queue":"main","priority":0})");
}

TEST_F(NewEventJson, AStoredEventThatCannotBeReadIsCorrupt) {
  for (const std::string_view text : {"", "{", "[]", R"({"title":7})", R"({"titel":"t"})"}) {
    const auto read = parse_new_event(parser_, text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << text;
  }
}

}  // namespace
}  // namespace eventq::wire
