// lifecycle_test.cc: each row of the table in lifecycle.h, and every pair of status and change besides.
// lifecycle_fencing_test.cc tests which reports are accepted.
#include "model/lifecycle.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kPublished{1'000'000s};
constexpr TimePoint kNow{2'000'000s};
const Policy kPolicy{
    .retry = {RetryPolicy::Kind::fixed, 5min, 1h}, .lease = 60s, .max_retries = 3, .max_attempts = 4};

Event new_event() {
  Event event = admit({.title = "mail", .tags = {"email"}, .payload = "{}"}, "evt_1", kPublished, kPolicy);
  event.id = EventId{7};
  return event;
}

// Claimed by x:9, which never reported, and then by w:1, whose lease has just expired.
Event processing_event() {
  Event event = new_event();
  event.status = Status::processing;
  event.attempts = 2;
  event.unreported = 2;
  event.worker_id = "w:1";
  event.due_at = kNow;
  event.updated_at = kNow - 60s;
  return event;
}

Event event_in(Status status) {
  if (status == Status::pending) return new_event();
  Event event = processing_event();
  event.status = status;
  return event;
}

const Lease kHolder{EventId{7}, "w:1", 2};
const Lease kPerson{EventId{7}, "", std::nullopt};

Change by_holder(decltype(Change::what) what) { return {kHolder, std::move(what)}; }
Change by_person(decltype(Change::what) what) { return {kPerson, std::move(what)}; }

Decision must(Result<Decision> decision) {
  EXPECT_TRUE(decision) << (decision ? "" : decision.error().message);
  return decision ? *decision : Decision{};
}

// The published fields that describe() leaves out.
std::string describe_envelope(const Event& event) {
  std::ostringstream out;
  out << " causation_id=" << event.causation_id << " trace_id=" << event.trace_id
      << " pattern=" << event.pattern << " version=" << event.version << " source=" << event.source.type
      << '/' << event.source.id << '/' << event.source.name << " ordering_key=" << event.ordering_key
      << " supersede_key=" << event.supersede_key << " attributes=" << event.attributes
      << " sequence=" << event.sequence.value_or(-1) << " retry=";
  if (event.retry) out << event.retry->base.count() << '/' << event.retry->jitter;
  out << " timestamp=" << describe(event.timestamp);
  return out.str();
}

// An event with a value in each field.
template <typename EventOrNew>
void fill_envelope(EventOrNew& event) {
  event.causation_id = "cause";
  event.trace_id = "trace";
  event.pattern = "a.b";
  event.version = "2";
  event.source = {"type", "id", "name"};
  event.ordering_key = "line";
  event.supersede_key = "place";
  event.attributes = "{}";
  event.retry = RetryPolicy{RetryPolicy::Kind::fixed, 1s, 1h, 0.5};
  event.timestamp = kPublished - 100'000s;
  if constexpr (std::is_same_v<EventOrNew, Event>) event.sequence = 4;
}

TEST(Admit, ANewEventIsPendingAndDueAtOnce) {
  const Event event = admit({.title = "mail",
                             .description = "a letter",
                             .tags = {"email", "b"},
                             .payload = "{\"a\": 1}",
                             .queue = "q",
                             .priority = 5,
                             .max_retries = 9,
                             .event_id = "ignored",
                             .correlation_id = "corr"},
                            "evt_1", kPublished, kPolicy);

  EXPECT_EQ(describe(event),
            "0 PENDING evt_1 queue=q title=mail description=a letter tags=email,b payload={\"a\": 1} "
            "correlation_id=corr priority=5 max_retries=9 attempts=0 retry_count=0 unreported=0 worker_id= "
            "created_at=1000000000 due_at=1000000000 updated_at=1000000000");
}

TEST(Admit, AnEventWithoutItsOwnLimitTakesTheQueuesMaxRetries) {
  EXPECT_EQ(admit({.title = "mail"}, "evt_1", kNow, kPolicy).max_retries, 3);
  EXPECT_EQ(admit({.title = "mail", .max_retries = 0}, "evt_1", kNow, kPolicy).max_retries, 0);
}

TEST(Admit, EveryFieldOfThePublisherIsKept) {
  NewEvent published{.title = "mail"};
  fill_envelope(published);

  EXPECT_EQ(describe_envelope(admit(std::move(published), "evt_1", kPublished, kPolicy)),
            " causation_id=cause trace_id=trace pattern=a.b version=2 source=type/id/name ordering_key=line "
            "supersede_key=place attributes={} sequence=-1 retry=1000/0.5 timestamp=900000000");
}

TEST(Admit, AnEventWithoutATimestampHappenedWhenItWasPublished) {
  EXPECT_EQ(admit({.title = "mail"}, "evt_1", kNow, kPolicy).timestamp, kNow);
}

TEST(Admit, ADelayedEventIsDueWhenItsDelayHasPassed) {
  const Event event = admit({.title = "mail", .delay = 90s}, "evt_1", kNow, kPolicy);

  EXPECT_EQ(describe(event.due_at), describe(kNow + 90s));
  EXPECT_FALSE(is_due(event, kNow + 90s - 1ms));
  EXPECT_TRUE(is_due(event, kNow + 90s));
}

TEST(Admit, AnEventWithARunAtIsDueThen) {
  const Event event = admit({.title = "mail", .run_at = kNow + 1h}, "evt_1", kNow, kPolicy);

  EXPECT_EQ(describe(event.due_at), describe(kNow + 1h));
  EXPECT_EQ(describe(event.updated_at), describe(kNow));
}

TEST(Admit, AnEventWithAPastRunAtIsDueAtOnce) {
  EXPECT_EQ(describe(admit({.title = "mail", .run_at = kNow - 1h}, "evt_1", kNow, kPolicy).due_at),
            describe(kNow));
}

TEST(Lifecycle, EveryRowOfTheTableHolds) {
  struct Row {
    std::string name;
    Event from;
    std::function<std::vector<LogEntry>(Event&)> change;
    std::string_view to;
    std::optional<Millis> due_in;  // from now; absent for an ended event
    std::string_view entries;
    std::string_view state;  // worker attempts/retry_count/unreported
  };
  const auto claimed = [](Event& event) { return claim(event, "y:2", kNow, kPolicy); };
  const auto decided = [](Change change) {
    return [change](Event& event) {
      const Decision decision = must(decide(event, change, {}, kNow, kPolicy));
      if (decision.effect == ChangeEffect::touched) return std::vector<LogEntry>();
      return std::vector<LogEntry>{decision.entry};
    };
  };
  const auto with_failures = [](int failures) {
    Event event = processing_event();
    event.retry_count = failures;
    return event;
  };
  const Row rows[] = {
      {"claim", new_event(), claimed, "PROCESSING", 60s, "PICKED", "y:2 1/0/1"},
      {"claim, lease over", processing_event(), claimed, "PROCESSING", 60s, "ABANDONED,PICKED", "y:2 3/0/3"},
      {"give up",
       processing_event(),
       [](Event& event) { return give_up(event, kNow); },
       "FAILED",
       {},
       "ABANDONED,FAILED",
       "w:1 2/0/2"},
      {"start", processing_event(), decided(by_holder(Start{})), "PROCESSING", 60s, "STARTED", "w:1 2/0/2"},
      {"heartbeat", processing_event(), decided(by_holder(Heartbeat{})), "PROCESSING", 60s, "", "w:1 2/0/2"},
      {"complete",
       processing_event(),
       decided(by_holder(Complete{})),
       "COMPLETED",
       {},
       "COMPLETED",
       "w:1 2/0/0"},
      {"complete, with errors",
       processing_event(),
       decided(by_holder(Complete{{.errors = {"e"}}})),
       "COMPLETED_WITH_ERRORS",
       {},
       "COMPLETED",
       "w:1 2/0/0"},
      {"fail, first of three", processing_event(), decided(by_holder(Fail{})), "PENDING", 5min, "FAILED",
       " 2/1/0"},
      {"fail, second of three", with_failures(1), decided(by_holder(Fail{})), "PENDING", 5min, "FAILED",
       " 2/2/0"},
      {"fail, third of three",
       with_failures(2),
       decided(by_holder(Fail{})),
       "FAILED",
       {},
       "FAILED",
       "w:1 2/3/0"},
      {"fail, permanent",
       processing_event(),
       decided(by_holder(Fail{{.permanent = true}})),
       "FAILED",
       {},
       "FAILED",
       "w:1 2/1/0"},
      {"release", with_failures(1), decided(by_holder(Release{})), "PENDING", 0s, "RELEASED", " 2/1/1"},
      {"reset pending", new_event(), decided(by_person(Reset{})), "PENDING", 0s, "RESET", " 0/0/0"},
      {"reset processing", with_failures(2), decided(by_person(Reset{})), "PENDING", 0s, "RESET", " 2/0/0"},
      {"reset failed", event_in(Status::failed), decided(by_person(Reset{})), "PENDING", 0s, "RESET",
       " 2/0/0"},
      {"reset cancelled", event_in(Status::cancelled), decided(by_person(Reset{})), "PENDING", 0s, "RESET",
       " 2/0/0"},
      {"cancel pending", new_event(), decided(by_person(Cancel{})), "CANCELLED", {}, "CANCELLED", " 0/0/0"},
      {"cancel processing",
       processing_event(),
       decided(by_person(Cancel{})),
       "CANCELLED",
       {},
       "CANCELLED",
       "w:1 2/0/2"},
      {"cancel failed",
       event_in(Status::failed),
       decided(by_person(Cancel{})),
       "CANCELLED",
       {},
       "CANCELLED",
       "w:1 2/0/2"},
      {"supersede", new_event(), decided(by_person(Supersede{})), "SUPERSEDED", {}, "SUPERSEDED", " 0/0/0"},
  };
  for (const Row& row : rows) {
    Event event = row.from;

    const std::vector<LogEntry> entries = row.change(event);

    EXPECT_EQ(name_of(event.status), row.to) << row.name;
    EXPECT_EQ(describe(event.due_at), describe(kNow + row.due_in.value_or(0s))) << row.name;
    EXPECT_EQ(describe(event.updated_at), describe(kNow)) << row.name;
    EXPECT_EQ(actions_of(entries), row.entries) << row.name;
    EXPECT_EQ(event.worker_id + " " + std::to_string(event.attempts) + "/" +
                  std::to_string(event.retry_count) + "/" + std::to_string(event.unreported),
              row.state)
        << row.name;
  }
}

constexpr std::array<Status, 7> kStatuses = {
    Status::pending, Status::processing, Status::completed, Status::completed_with_errors,
    Status::failed,  Status::superseded, Status::cancelled,
};

// The result of a change: "recorded PENDING", or the code of the error.
std::string outcome_of(const Result<Decision>& decision) {
  if (!decision) return describe(decision.error().code);
  constexpr std::array<std::string_view, 3> kEffects = {"recorded ", "touched ", "repeated "};
  return std::string(kEffects.at(static_cast<std::size_t>(decision->effect))) +
         std::string(name_of(decision->status));
}

constexpr std::string_view kLost = "lease_lost";
constexpr std::string_view kConflict = "conflict";

struct PairRow {
  std::string_view name;
  Change change;
  // On pending, processing, completed, completed_with_errors, failed, superseded, cancelled.
  std::array<std::string_view, 7> outcomes;
};

const std::vector<PairRow>& every_pair() {
  constexpr std::string_view kReset = "recorded PENDING";
  constexpr std::string_view kCancelled = "recorded CANCELLED";
  static const std::vector<PairRow> rows = {
      {"start", by_holder(Start{}), {kLost, "recorded PROCESSING", kLost, kLost, kLost, kLost, kLost}},
      {"heartbeat", by_holder(Heartbeat{}), {kLost, "touched PROCESSING", kLost, kLost, kLost, kLost, kLost}},
      {"complete", by_holder(Complete{}), {kLost, "recorded COMPLETED", kLost, kLost, kLost, kLost, kLost}},
      {"complete with errors",
       by_holder(Complete{{.errors = {"e"}}}),
       {kLost, "recorded COMPLETED_WITH_ERRORS", kLost, kLost, kLost, kLost, kLost}},
      {"fail", by_holder(Fail{}), {kLost, "recorded PENDING", kLost, kLost, kLost, kLost, kLost}},
      {"fail for good",
       by_holder(Fail{{.permanent = true}}),
       {kLost, "recorded FAILED", kLost, kLost, kLost, kLost, kLost}},
      {"release", by_holder(Release{}), {kLost, "recorded PENDING", kLost, kLost, kLost, kLost, kLost}},
      {"reset", by_person(Reset{}), {kReset, kReset, kConflict, kConflict, kReset, kConflict, kReset}},
      {"reset that spares what is in work",
       by_person(Reset{.reason = "", .spare_processing = true}),
       {kReset, kConflict, kConflict, kConflict, kReset, kConflict, kReset}},
      {"cancel",
       by_person(Cancel{}),
       {kCancelled, kCancelled, kConflict, kConflict, kCancelled, kConflict, "repeated CANCELLED"}},
      {"supersede",
       by_person(Supersede{EventId{8}, ""}),
       {"recorded SUPERSEDED", kConflict, kConflict, kConflict, kConflict, kConflict, kConflict}},
  };
  return rows;
}

// The entries of its claims, and for a cancelled event also the CANCELLED entry.
std::vector<LogEntry> log_of(Status status) {
  std::vector<LogEntry> log = {
      {.log_id = LogId{1}, .id = EventId{7}, .attempt = 1, .worker_id = "x:9", .action = Action::picked},
      {.log_id = LogId{2}, .id = EventId{7}, .attempt = 1, .worker_id = "x:9", .action = Action::abandoned},
      {.log_id = LogId{3}, .id = EventId{7}, .attempt = 2, .worker_id = "w:1", .action = Action::picked},
  };
  if (status == Status::cancelled) {
    log.push_back({.log_id = LogId{4}, .id = EventId{7}, .attempt = 2, .action = Action::cancelled});
  }
  return log;
}

TEST(Lifecycle, EveryChangeToEveryStatusHasItsOutcome) {
  for (const PairRow& row : every_pair()) {
    for (std::size_t i = 0; i < kStatuses.size(); ++i) {
      Event event = event_in(kStatuses[i]);

      const auto decision = decide(event, row.change, log_of(kStatuses[i]), kNow, kPolicy);

      EXPECT_EQ(outcome_of(decision), row.outcomes[i]) << row.name << " on " << name_of(kStatuses[i]);
    }
  }
}

TEST(Lifecycle, AnEventChangesOnlyByAChangeThatIsRecordedOrTouchesIt) {
  for (const PairRow& row : every_pair()) {
    for (std::size_t i = 0; i < kStatuses.size(); ++i) {
      Event event = event_in(kStatuses[i]);
      const std::string before = describe(event);

      static_cast<void>(decide(event, row.change, log_of(kStatuses[i]), kNow, kPolicy));

      const bool may_change =
          row.outcomes[i].starts_with("recorded") || row.outcomes[i].starts_with("touched");
      EXPECT_EQ(describe(event) != before, may_change) << row.name << " on " << name_of(kStatuses[i]);
    }
  }
}

// The event without its state, so that only the published fields are compared.
std::string published_part(Event event) {
  event.status = Status::pending;
  event.attempts = event.retry_count = event.unreported = 0;
  event.worker_id.clear();
  event.due_at = event.updated_at = TimePoint();
  return describe(event) + describe_envelope(event);
}

TEST(Lifecycle, AChangeNeverTouchesThePublishedFields) {
  for (const PairRow& row : every_pair()) {
    for (const Status status : kStatuses) {
      Event event = event_in(status);
      event.description = "d";
      event.correlation_id = "c";
      fill_envelope(event);

      static_cast<void>(decide(event, row.change, log_of(status), kNow, kPolicy));

      EXPECT_EQ(
          published_part(event),
          "7 PENDING evt_1 queue=main title=mail description=d tags=email payload={} correlation_id=c "
          "priority=0 max_retries=3 attempts=0 retry_count=0 unreported=0 worker_id= "
          "created_at=1000000000 due_at=0 updated_at=0 causation_id=cause trace_id=trace pattern=a.b "
          "version=2 source=type/id/name ordering_key=line supersede_key=place attributes={} sequence=4 "
          "retry=1000/0.5 timestamp=900000000")
          << row.name << " on " << name_of(status);
    }
  }
}

TEST(Lifecycle, ARefusalNamesTheHolderAndTheCaller) {
  Event event = processing_event();

  const auto refused =
      decide(event, {{EventId{7}, "x:9", 1}, Complete{}}, log_of(event.status), kNow, kPolicy);

  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "Event 7 is PROCESSING, held by w:1 as attempt 2; x:9 with attempt 1 does not hold it, and no such "
      "report is on record. Nothing was changed.");
}

TEST(Lifecycle, ARefusedResetSaysWhichStatusesCanBeReset) {
  Event event = event_in(Status::completed);

  const auto refused = decide(event, by_person(Reset{}), {}, kNow, kPolicy);

  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "Event 7 is COMPLETED; only PENDING, PROCESSING, FAILED and CANCELLED events can be reset. Publish "
      "it again to have the work done once more.");
}

TEST(Lifecycle, AResetThatSparesProcessingEventsDoesNotChangeThem) {
  Event event = processing_event();
  const Event before = event;

  const auto refused =
      decide(event, by_person(Reset{.reason = "", .spare_processing = true}), {}, kNow, kPolicy);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Event 7 is PROCESSING; a worker holds it, and spare_processing is set.");
  EXPECT_EQ(event.status, Status::processing);
  EXPECT_EQ(event.worker_id, before.worker_id);
  EXPECT_EQ(event.unreported, before.unreported);
}

TEST(Claim, TheEntriesNameTheOldWorkerAndTheNew) {
  Event event = processing_event();

  const std::vector<LogEntry> entries = claim(event, "y:2", kNow, kPolicy);

  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(describe(entries[0]),
            "0 ABANDONED event_id=7 attempt=2 worker_id=w:1 status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason= retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
  EXPECT_EQ(describe(entries[1]),
            "0 PICKED event_id=7 attempt=3 worker_id=y:2 status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason= retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
}

TEST(ClaimDeathTest, AnEventStillLeasedIsNeverClaimed) {
  Event event = processing_event();
  event.due_at = kNow + 1ms;

  EXPECT_DEATH(claim(event, "y:2", kNow, kPolicy), "assertion failed");
}

TEST(ClaimDeathTest, AnEventThatEndedIsNeverClaimed) {
  Event event = event_in(Status::completed);

  EXPECT_DEATH(claim(event, "y:2", kNow, kPolicy), "assertion failed");
}

TEST(Complete, TheEntryHoldsTheReportedOutcome) {
  Event event = processing_event();

  const Decision decision = must(decide(
      event, by_holder(Complete{{.status_code = 207, .execution_time_ms = 1250, .errors = {"a", "b"}}}), {},
      kNow, kPolicy));

  EXPECT_EQ(describe(decision.entry),
            "0 COMPLETED event_id=7 attempt=2 worker_id=w:1 status_code=207 error_message=(none) "
            "execution_time_ms=1250 errors=[<a><b>] reason= retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
}

TEST(Fail, TheEntryHoldsTheReportedFailureAndTheRetryTime) {
  Event event = processing_event();

  const Decision decision = must(
      decide(event, by_holder(Fail{{.status_code = 500, .execution_time_ms = 5000, .message = "timeout"}}),
             {}, kNow, kPolicy));

  EXPECT_EQ(describe(decision.entry),
            "0 FAILED event_id=7 attempt=2 worker_id=w:1 status_code=500 error_message=timeout "
            "execution_time_ms=5000 errors=[] reason= retry_count=1 next_retry_at=2000300000 "
            "created_at=2000000000");
}

TEST(Fail, TheEntryOfAFinalFailureHasNoRetryTime) {
  Event event = processing_event();
  event.retry_count = 2;

  const Decision decision = must(decide(event, by_holder(Fail{}), {}, kNow, kPolicy));

  EXPECT_EQ(describe(decision.entry),
            "0 FAILED event_id=7 attempt=2 worker_id=w:1 status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason= retry_count=3 next_retry_at=(none) "
            "created_at=2000000000");
}

TEST(Fail, TheFirstFailureOfAnEventWithoutRetriesIsFinal) {
  Event event = processing_event();
  event.max_retries = 0;

  EXPECT_EQ(must(decide(event, by_holder(Fail{}), {}, kNow, kPolicy)).status, Status::failed);
}

TEST(Fail, TheWaitGrowsWithTheFailuresUnderAnExponentialPolicy) {
  Policy policy = kPolicy;
  policy.retry = {RetryPolicy::Kind::exponential, 1s, 1h};
  Event event = processing_event();
  event.retry_count = 1;

  must(decide(event, by_holder(Fail{}), {}, kNow, policy));

  EXPECT_EQ(describe(event.due_at), describe(kNow + 2s));
}

TEST(Fail, AnEventsRetryPolicyOverridesTheQueues) {
  Event event = processing_event();
  event.retry = RetryPolicy{RetryPolicy::Kind::fixed, 7s, 1h};

  must(decide(event, by_holder(Fail{}), {}, kNow, kPolicy));

  EXPECT_EQ(describe(event.due_at), describe(kNow + 7s));
}

TEST(Supersede, TheEntryNamesTheNewerEvent) {
  Event event = new_event();

  const LogEntry entry = must(decide(event, by_person(Supersede{EventId{8}, ""}), {}, kNow, kPolicy)).entry;

  EXPECT_EQ(describe(entry),
            "0 SUPERSEDED event_id=7 attempt=0 worker_id= status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason=By event 8. retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
  EXPECT_EQ(event.superseded_by, EventId{8});
}

TEST(Supersede, APersonsEntryHoldsTheReasonAndNoNewerEvent) {
  Event event = new_event();

  const LogEntry entry =
      must(decide(event, by_person(Supersede{std::nullopt, "sent by hand"}), {}, kNow, kPolicy)).entry;

  EXPECT_EQ(entry.reason, "sent by hand");
  EXPECT_EQ(event.superseded_by, std::nullopt);
}

TEST(Supersede, AnEventThatWaitsForItsRetryIsSuperseded) {
  Event event = processing_event();
  must(decide(event, by_holder(Fail{}), {}, kNow, kPolicy));

  EXPECT_EQ(must(decide(event, by_person(Supersede{EventId{8}, ""}), {}, kNow, kPolicy)).status,
            Status::superseded);
}

TEST(Supersede, ARefusalSaysWhichEventsCanBeSuperseded) {
  Event event = processing_event();

  const auto refused = decide(event, by_person(Supersede{EventId{8}, ""}), {}, kNow, kPolicy);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "Event 7 is PROCESSING; only PENDING events can be superseded.");
}

TEST(Cancel, ARefusalSaysWhichEventsCanBeCancelled) {
  Event event = event_in(Status::completed);

  const auto refused = decide(event, by_person(Cancel{}), {}, kNow, kPolicy);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "Event 7 is COMPLETED; only PENDING, PROCESSING and FAILED events can be cancelled.");
}

TEST(ResetAndCancel, TheEntryNamesThePerson) {
  Event reset = processing_event();
  Event cancelled = processing_event();
  Event superseded = processing_event();
  superseded.status = Status::pending;

  EXPECT_EQ(must(decide(reset, by_person(Reset{.author = "ann"}), {}, kNow, kPolicy)).entry.by, "ann");
  EXPECT_EQ(must(decide(cancelled, by_person(Cancel{"", "bob"}), {}, kNow, kPolicy)).entry.by, "bob");
  EXPECT_EQ(must(decide(superseded, by_person(Supersede{{}, "", "eve"}), {}, kNow, kPolicy)).entry.by, "eve");
}

TEST(ResetAndCancel, TheEntryHoldsTheReasonAndNoWorker) {
  Event reset = processing_event();
  Event cancelled = processing_event();

  const LogEntry reset_entry = must(decide(reset, by_person(Reset{"stuck"}), {}, kNow, kPolicy)).entry;
  const LogEntry cancel_entry = must(decide(cancelled, by_person(Cancel{"wrong"}), {}, kNow, kPolicy)).entry;

  EXPECT_EQ(describe(reset_entry),
            "0 RESET event_id=7 attempt=2 worker_id= status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason=stuck retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
  EXPECT_EQ(describe(cancel_entry),
            "0 CANCELLED event_id=7 attempt=2 worker_id= status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason=wrong retry_count=0 next_retry_at=(none) "
            "created_at=2000000000");
}

TEST(GiveUp, TheEntriesNameTheAbandoningWorkerAndTheReason) {
  Event event = processing_event();
  event.unreported = 4;

  const std::vector<LogEntry> entries = give_up(event, kNow);

  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].worker_id, "w:1");
  EXPECT_EQ(entries[0].attempt, 2);
  EXPECT_EQ(entries[1].worker_id, "");
  EXPECT_EQ(entries[1].reason, "Claimed 4 times in a row without a report.");
}

// Four claims in a row without a report are the limit of kPolicy.
class PoisonTest : public testing::Test {
 protected:
  void claim_times(int times) {
    for (int i = 0; i < times; ++i) {
      now_ += 60s;
      claim(event_, "w:1", now_, kPolicy);
    }
  }

  void report(decltype(Change::what) what) {
    must(decide(event_, {{EventId{7}, "w:1", event_.attempts}, std::move(what)}, {}, now_, kPolicy));
    now_ += 5min;
  }

  Event event_ = new_event();
  TimePoint now_ = kNow;
};

TEST_F(PoisonTest, AnEventIsOutOfAttemptsWithTheLastClaimOfTheLimit) {
  claim_times(3);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));

  claim_times(1);
  EXPECT_TRUE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AStartAndAHeartbeatDoNotResetTheCount) {
  claim_times(4);
  report(Start{});
  report(Heartbeat{});

  EXPECT_TRUE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AReportedFailureResetsTheCount) {
  claim_times(3);
  report(Fail{});

  claim_times(3);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));
  EXPECT_EQ(event_.attempts, 6);

  claim_times(1);
  EXPECT_TRUE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AResetResetsTheCount) {
  claim_times(3);
  must(decide(event_, by_person(Reset{}), {}, now_, kPolicy));

  claim_times(3);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));

  claim_times(1);
  EXPECT_TRUE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AResetMakesAnEventOutOfAttemptsPendingAgain) {
  claim_times(4);
  give_up(event_, now_ + 60s);
  must(decide(event_, by_person(Reset{}), {}, now_ + 60s, kPolicy));

  EXPECT_FALSE(out_of_attempts(event_, kPolicy));
  claim_times(3);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AReleasedClaimDoesNotCount) {
  claim_times(3);
  report(Release{});

  claim_times(1);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));

  claim_times(1);
  EXPECT_TRUE(out_of_attempts(event_, kPolicy));
}

TEST_F(PoisonTest, AnEventReleasedEveryTimeNeverRunsOut) {
  for (int i = 0; i < 100; ++i) {
    claim_times(1);
    report(Release{});
  }

  claim_times(3);
  EXPECT_FALSE(out_of_attempts(event_, kPolicy));
}

TEST(NextRetryAt, IsTheDueTimeOfAFailedEvent) {
  Event event = processing_event();
  must(decide(event, by_holder(Fail{}), {}, kNow, kPolicy));

  EXPECT_EQ(next_retry_at(event), kNow + 5min);
}

TEST(NextRetryAt, IsNothingForAnEventThatDoesNotWaitForARetry) {
  Event held = processing_event();
  held.retry_count = 1;
  Event ended = event_in(Status::failed);
  ended.retry_count = 3;

  EXPECT_FALSE(next_retry_at(new_event()));
  EXPECT_FALSE(next_retry_at(held));
  EXPECT_FALSE(next_retry_at(ended));
}

}  // namespace
}  // namespace eventq
