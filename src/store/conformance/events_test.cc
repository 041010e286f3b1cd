// events_test.cc: insert, find, load and save of events, their guard, and rollback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe.h"
#include "support/describe_records.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using EventFields = Transaction::EventFields;

std::int64_t number(EventId id) { return static_cast<std::int64_t>(id); }

TEST_P(StoreConformance, InsertGivesAscendingIds) {
  std::vector<Stored> events = {new_event("a", now()), new_event("b", now()), new_event("c", now())};
  const auto transaction = begin();

  must(transaction->insert(events));

  EXPECT_GT(number(events[0].event.id), 0);
  EXPECT_LT(events[0].event.id, events[1].event.id);
  EXPECT_LT(events[1].event.id, events[2].event.id);
}

TEST_P(StoreConformance, InsertInALaterTransactionGivesHigherIds) {
  const EventId first = add("a");
  const EventId second = add("b");

  EXPECT_LT(first, second);
}

TEST_P(StoreConformance, AnIdIsNotReusedWhenItsInsertWasRolledBack) {
  add("a");
  Stored lost = new_event("b", now());
  must(begin()->insert({&lost, 1}));

  EXPECT_GT(add("c"), lost.event.id);
}

TEST_P(StoreConformance, TheHighestIdIsNotReusedWhenItsEventHasEnded) {
  const EventId first = add("a");
  end_as(first, Status::completed);

  EXPECT_GT(add("b"), first);
}

TEST_P(StoreConformance, InsertPutsADueEventIntoTheReadyIndex) {
  Stored stored = new_event("a", now());
  const auto transaction = begin();

  must(transaction->insert({&stored, 1}));

  EXPECT_EQ(stored_as(stored), "PENDING 0 - live ready");
  EXPECT_EQ(must(transaction->claim({"main", {}}, 10)).size(), 1U);
}

TEST_P(StoreConformance, InsertLeavesAnEventThatWaitsForATimeOutOfTheReadyIndex) {
  Stored stored = new_event("a", now() + 1ms);
  const auto transaction = begin();

  must(transaction->insert({&stored, 1}));

  EXPECT_EQ(stored_as(stored), "PENDING 0 - live");
  EXPECT_EQ(must(transaction->claim({"main", {}}, 10)).size(), 0U);
}

TEST_P(StoreConformance, AnInsertedEventCanBeSavedInTheSameTransaction) {
  Stored stored = new_event("a", now());
  auto transaction = begin();
  must(transaction->insert({&stored, 1}));

  hold(stored.event, "w:1", now() + 60s);
  must(transaction->save({&stored, 1}));
  commit(transaction);

  EXPECT_EQ(stored_as(load(*begin(), stored.event.id)), "PROCESSING 1 w:1 live");
}

TEST_P(StoreConformance, FindGivesTheIdOfAGlobalId) {
  const EventId a = add("evt_a");
  const EventId b = add("evt_b");
  const auto transaction = begin();

  EXPECT_EQ(must(transaction->find("evt_a")), a);
  EXPECT_EQ(must(transaction->find("evt_b")), b);
}

TEST_P(StoreConformance, FindSeesAnEventOfItsOwnTransaction) {
  Stored stored = new_event("evt_a", now());
  const auto transaction = begin();
  must(transaction->insert({&stored, 1}));

  EXPECT_EQ(must(transaction->find("evt_a")), stored.event.id);
}

TEST_P(StoreConformance, FindSeesAnEndedEvent) {
  const EventId id = add("evt_a");
  end_as(id, Status::completed);

  EXPECT_EQ(must(begin()->find("evt_a")), id);
}

TEST_P(StoreConformance, FindDistinguishesSimilarGlobalIds) {
  add("evt_a");
  const auto transaction = begin();

  EXPECT_FALSE(must(transaction->find("evt_A")));
  EXPECT_FALSE(must(transaction->find("evt_")));
  EXPECT_FALSE(must(transaction->find("evt_ab")));
  EXPECT_FALSE(must(transaction->find("")));
}

TEST_P(StoreConformance, LoadGivesTheEventsInTheOrderAskedAndNothingForAMissingOne) {
  const EventId a = add("a");
  const EventId b = add("b");
  const EventId c = add("c");
  end_as(b, Status::completed);

  const auto loaded = must(begin()->load({{c, EventId{9'999'999}, a, b}}, EventFields::state));

  ASSERT_EQ(loaded.size(), 4U);
  EXPECT_EQ(loaded[0]->event.id, c);
  EXPECT_FALSE(loaded[1]);
  EXPECT_EQ(loaded[2]->event.id, a);
  EXPECT_EQ(loaded[3]->event.id, b);
}

TEST_P(StoreConformance, LoadOfNoIdsReturnsNoEvents) {
  EXPECT_TRUE(must(begin()->load({}, EventFields::state)).empty());
}

// An event with every field set, the only one in its line.
Stored full_event() {
  Stored stored;
  stored.line = Line::head;
  Event& event = stored.event;
  event.event_id = "evt_a";
  event.queue = "q";
  event.title = "Send mail";
  event.description = "to all";
  event.tags = {"z", "email", "a"};
  event.payload = R"({"n": 1})";
  event.correlation_id = "corr_1";
  event.priority = -5;
  event.max_retries = 7;
  event.created_at = TimePoint(1'000ms);
  event.status = Status::processing;
  event.attempts = 3;
  event.retry_count = 2;
  event.unreported = 1;
  event.worker_id = "host-a:1";
  event.due_at = TimePoint(3'000'000'000'000ms);
  event.updated_at = TimePoint(2'000ms);
  event.causation_id = "evt_0";
  event.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  event.pattern = "invoice.created";
  event.version = "2";
  event.source = {"workflow", "wf_1", "Gr\xC3\xBC\xC3\x9F"};
  event.timestamp = TimePoint(900ms);
  event.ordering_key = "customer 7";
  event.supersede_key = "cart 9";
  event.attributes = R"({"subject":"x"})";
  event.sequence = 0;
  event.retry = RetryPolicy{RetryPolicy::Kind::exponential, 1s, 60s, 0.25};
  event.picked_at = TimePoint(1'500ms);
  return stored;
}

TEST_P(StoreConformance, AWholeEventHasEveryFieldAsItWasStored) {
  const EventId id = add(full_event());

  const Stored whole = load(*begin(), id, EventFields::all);

  EXPECT_EQ(
      describe(whole.event),
      std::to_string(number(id)) +
          " PROCESSING evt_a queue=q title=Send mail description=to all tags=z,email,a payload={\"n\": 1} "
          "correlation_id=corr_1 priority=-5 max_retries=7 attempts=3 retry_count=2 unreported=1 "
          "worker_id=host-a:1 created_at=1000 due_at=3000000000000 updated_at=2000");
  EXPECT_EQ(stored_as(whole), "PROCESSING 3 host-a:1 live");
}

TEST_P(StoreConformance, StateFieldsAreTheFieldsThatRulesRead) {
  const EventId id = add(full_event());

  const Stored head = load(*begin(), id, EventFields::state);

  EXPECT_EQ(describe(head.event),
            std::to_string(number(id)) +
                " PROCESSING evt_a queue=q title= description=(none) tags=z,email,a payload= "
                "correlation_id=corr_1 priority=-5 max_retries=7 attempts=3 retry_count=2 unreported=1 "
                "worker_id=host-a:1 created_at=1000 due_at=3000000000000 updated_at=2000");
}

TEST_P(StoreConformance, AWholeEventHasEveryFieldThatItsPublisherSet) {
  const EventId id = add(full_event());
  const std::string live = describe_more(load(*begin(), id, EventFields::all).event);
  const std::string read = describe_more(*must(reader().get(id)));
  end_as(id, Status::completed);

  const std::string expected =
      "causation_id=evt_0 trace_id=4bf92f3577b34da6a3ce929d0e0e4736 pattern=invoice.created version=2 "
      "source=workflow/wf_1/Gr\xC3\xBC\xC3\x9F ordering_key=customer 7 supersede_key=cart 9 "
      "attributes={\"subject\":\"x\"} sequence=0 retry=exponential,1000,60000,0.25 timestamp=900 "
      "picked_at=1500 superseded_by=(none)";
  EXPECT_EQ(live, expected);
  EXPECT_EQ(read, expected);
  EXPECT_EQ(describe_more(load(*begin(), id, EventFields::all).event), expected);
  EXPECT_EQ(describe_more(*must(reader().get(id))), expected);
}

TEST_P(StoreConformance, FieldsThatThePublisherDidNotSetAreAbsent) {
  const EventId id = add("a");

  EXPECT_EQ(describe_more(*must(reader().get(id))),
            "causation_id= trace_id= pattern= version= source=// ordering_key= supersede_key= attributes= "
            "sequence=(none) retry=(none) timestamp=0 picked_at=0 superseded_by=(none)");
}

TEST_P(StoreConformance, StateFieldsIncludeThePublishersKeysAndRetry) {
  const EventId id = add(full_event());
  const std::string live = describe_more(load(*begin(), id, EventFields::state).event);
  end_as(id, Status::completed);

  const std::string expected =
      "causation_id= trace_id= pattern= version= source=// ordering_key=customer 7 supersede_key=cart 9 "
      "attributes= sequence=(none) retry=exponential,1000,60000,0.25 timestamp=0 picked_at=1500 "
      "superseded_by=(none)";
  EXPECT_EQ(live, expected);
  EXPECT_EQ(describe_more(load(*begin(), id, EventFields::state).event), expected);
}

TEST_P(StoreConformance, AnEventKeepsItsMaxAttemptsWithAndWithoutARetryPolicy) {
  const RetryPolicy policy{RetryPolicy::Kind::exponential, 10s, 60s, 0.25};
  const EventId both = add("both", [&](Event& event) {
    event.retry = policy;
    event.max_attempts = 7;
  });
  const EventId attempts = add("attempts", [](Event& event) { event.max_attempts = 1'000'000; });
  const EventId neither = add("neither");

  const auto transaction = begin();
  EXPECT_EQ(load(*transaction, both).event.max_attempts, 7);
  EXPECT_EQ(load(*transaction, both).event.retry, policy);
  EXPECT_EQ(load(*transaction, attempts).event.max_attempts, 1'000'000);
  EXPECT_EQ(load(*transaction, attempts).event.retry, std::nullopt);
  EXPECT_EQ(load(*transaction, neither).event.max_attempts, std::nullopt);
}

TEST_P(StoreConformance, SaveKeepsPickedAtAndSupersededBy) {
  const EventId id = add("a");

  change(id, [](Event& event) { event.picked_at = TimePoint(7ms); });
  EXPECT_EQ(describe(must(reader().get(id))->picked_at), "7");

  change(id, [&](Event& event) {
    event.superseded_by = EventId{12};
    end(event, Status::superseded, now());
  });
  EXPECT_EQ(describe(must(reader().get(id))->picked_at), "7");
  EXPECT_EQ(must(reader().get(id))->superseded_by, EventId{12});
  EXPECT_EQ(load(*begin(), id).event.superseded_by, EventId{12});
}

TEST_P(StoreConformance, AnEndedEventHasEveryFieldAsItWasSaved) {
  const EventId id = add(full_event());
  end_as(id, Status::completed_with_errors);

  const Stored whole = load(*begin(), id, EventFields::all);

  EXPECT_EQ(describe(whole.event),
            std::to_string(number(id)) +
                " COMPLETED_WITH_ERRORS evt_a queue=q title=Send mail description=to all tags=z,email,a "
                "payload={\"n\": 1} correlation_id=corr_1 priority=-5 max_retries=7 attempts=3 retry_count=2 "
                "unreported=1 worker_id=host-a:1 created_at=1000 due_at=1700000000000 "
                "updated_at=1700000000000");
  EXPECT_EQ(stored_as(whole), "COMPLETED_WITH_ERRORS 3 host-a:1 archived");
}

TEST_P(StoreConformance, AnEmptyDescriptionIsNotAnAbsentOne) {
  const EventId empty = add("a", [](Event& event) { event.description = ""; });
  const EventId absent = add("b");

  EXPECT_EQ(must(reader().get(empty))->description, "");
  EXPECT_EQ(must(reader().get(absent))->description, std::nullopt);
}

TEST_P(StoreConformance, APayloadIsReadBackByteForByte) {
  const std::string payloads[] = {
      "null",
      "\"\"",
      "0",
      "-0.0e-0",
      "1.000000000000000000000000000000001",
      "123456789012345678901234567890",
      "1e400",
      "{ \"b\" : [ 1 ,\t2 ] ,\n \"a\" : { } }",
      "\"\\u0000\\u00e9\\uD83D\\uDE00\"",
      "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80 \xE2\x80\xA8\"",
      "\"it's 100% -- ?1 ; DROP\"",
      "\"" + std::string(1'048'574, 'x') + "\"",
  };
  std::int64_t count = 0;
  for (const std::string& payload : payloads) {
    const EventId id = add("evt_" + std::to_string(++count), [&](Event& event) { event.payload = payload; });

    EXPECT_EQ(must(reader().get(id))->payload, payload);
    EXPECT_EQ(load(*begin(), id, EventFields::all).event.payload, payload);
  }
}

TEST_P(StoreConformance, ATitleAndADescriptionMayHoldAnyText) {
  const std::string text = "gr\xC3\xBC\xC3\x9F, \xF0\x9F\x98\x80 'quoted' \"twice\" \\ % _ \n\t;--";
  const EventId id = add("a", [&](Event& event) {
    event.title = text;
    event.description = text;
  });

  const Event stored = *must(reader().get(id));

  EXPECT_EQ(stored.title, text);
  EXPECT_EQ(stored.description, text);
}

TEST_P(StoreConformance, SaveKeepsALiveEventLive) {
  const EventId id = add("a");
  const auto transaction = begin();
  Stored stored = load(*transaction, id);
  hold(stored.event, "w:1", now() + 60s);
  stored.event.retry_count = 1;
  stored.event.updated_at = now() + 5s;

  must(transaction->save({&stored, 1}));

  EXPECT_EQ(stored_as(stored), "PROCESSING 1 w:1 live");
  EXPECT_EQ(describe(load(*transaction, id).event), describe(stored.event));
}

TEST_P(StoreConformance, SaveMovesAnEndedEventToTheArchive) {
  const EventId id = add("a");
  const auto transaction = begin();
  Stored stored = load(*transaction, id);
  end(stored.event, Status::cancelled, now());

  must(transaction->save({&stored, 1}));

  EXPECT_EQ(stored_as(stored), "CANCELLED 0 - archived");
  EXPECT_EQ(stored_as(load(*transaction, id)), "CANCELLED 0 - archived");
}

TEST_P(StoreConformance, SaveMovesALiveEventBackFromTheArchive) {
  const EventId id = add("a");
  end_as(id, Status::failed);
  const auto transaction = begin();
  Stored stored = load(*transaction, id);
  requeue(stored.event, now());

  must(transaction->save({&stored, 1}));

  EXPECT_EQ(stored_as(stored), "PENDING 0 - live ready");
  EXPECT_EQ(stored_as(load(*transaction, id)), "PENDING 0 - live ready");
}

TEST_P(StoreConformance, SaveChangesAnEndedEventWithinTheArchive) {
  const EventId id = add("a");
  end_as(id, Status::failed);
  end_as(id, Status::cancelled);

  EXPECT_EQ(stored_as(load(*begin(), id)), "CANCELLED 0 - archived");
}

TEST_P(StoreConformance, SavingStateFieldsKeepsTheOtherFields) {
  const EventId id = add(full_event());

  end_as(id, Status::failed);
  change_stored(id, [&](Stored& stored) {
    requeue(stored.event, now());
    stored.line = Line::head;
  });

  EXPECT_EQ(
      describe(*must(reader().get(id))),
      "1 PENDING evt_a queue=q title=Send mail description=to all tags=z,email,a payload={\"n\": 1} "
      "correlation_id=corr_1 priority=-5 max_retries=7 attempts=3 retry_count=2 unreported=1 worker_id= "
      "created_at=1000 due_at=1700000000000 updated_at=1700000000000");
}

TEST_P(StoreConformance, SaveWritesSeveralEventsOfOneTransaction) {
  const EventId a = add("a");
  const EventId b = add("b");
  auto transaction = begin();
  std::vector<Stored> events = {load(*transaction, a), load(*transaction, b)};
  hold(events[0].event, "w:1", now() + 60s);
  end(events[1].event, Status::completed, now());

  must(transaction->save(events));
  commit(transaction);

  EXPECT_EQ(name_of(must(reader().get(a))->status), "PROCESSING");
  EXPECT_EQ(name_of(must(reader().get(b))->status), "COMPLETED");
}

TEST_P(StoreConformance, AnEventMayBeSavedAgainAndAgainInOneTransaction) {
  const EventId id = add("a");
  auto transaction = begin();
  Stored stored = load(*transaction, id);

  hold(stored.event, "w:1", now() + 60s);
  must(transaction->save({&stored, 1}));
  requeue(stored.event, now());
  must(transaction->save({&stored, 1}));
  hold(stored.event, "w:2", now() + 60s);
  must(transaction->save({&stored, 1}));
  end(stored.event, Status::completed, now());
  must(transaction->save({&stored, 1}));
  commit(transaction);

  EXPECT_EQ(stored_as(load(*begin(), id)), "COMPLETED 2 w:2 archived");
}

TEST_P(StoreConformance, SaveUpdatesTheReadyIndex) {
  const EventId id = add("a");
  EXPECT_EQ(claimable(), "a");

  change(id, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(claimable(), "");

  change(id, [&](Event& event) { requeue(event, now() + 5min); });
  EXPECT_EQ(claimable(), "");

  change(id, [&](Event& event) { event.due_at = now(); });
  EXPECT_EQ(claimable(), "a");

  end_as(id, Status::cancelled);
  EXPECT_EQ(claimable(), "");

  change(id, [&](Event& event) { requeue(event, now() + 1s); });
  EXPECT_EQ(claimable(), "");

  change(id, [&](Event& event) { event.due_at = now(); });
  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, SaveIsRefusedWhenTheRowNoLongerMatchesItsGuard) {
  struct Row {
    std::string name;
    std::function<void(Guard&)> spoil;
    std::function<void(Event&)> edit;
  };
  const auto other_status = [](Guard& guard) { guard.status = Status::pending; };
  const auto earlier_attempt = [](Guard& guard) { guard.attempts = 1; };
  const auto other_holder = [](Guard& guard) { guard.worker_id = "x:9"; };
  const auto complete = [&](Event& event) { end(event, Status::completed, now()); };
  const auto extend = [&](Event& event) { event.due_at += 60s; };
  const Row rows[] = {
      {"complete, another status", other_status, complete},
      {"complete, an earlier attempt", earlier_attempt, complete},
      {"complete, another holder", other_holder, complete},
      {"extend, another status", other_status, extend},
      {"extend, an earlier attempt", earlier_attempt, extend},
      {"extend, another holder", other_holder, extend},
  };
  const EventId id = add("a", [&](Event& event) {
    hold(event, "w:1", now() + 60s);
    event.attempts = 2;
  });
  const std::string before = describe(*must(reader().get(id)));
  for (const Row& row : rows) {
    auto transaction = begin();
    Stored stored = load(*transaction, id);
    row.spoil(stored.guard);
    row.edit(stored.event);

    const auto saved = transaction->save({&stored, 1});
    transaction.reset();

    ASSERT_FALSE(saved) << row.name;
    EXPECT_EQ(describe(saved.error().code), "internal") << row.name;
    EXPECT_EQ(describe(*must(reader().get(id))), before) << row.name;
  }
}

TEST_P(StoreConformance, AnArchivedEventIsGuardedToo) {
  const EventId id = add("a");
  end_as(id, Status::failed);
  const auto transaction = begin();
  Stored stored = load(*transaction, id);
  stored.guard.attempts = 5;
  requeue(stored.event, now());

  EXPECT_FALSE(transaction->save({&stored, 1}));
}

TEST_P(StoreConformance, AStaleCopyOfAnEventIsRefusedAfterTheFirstSave) {
  const EventId id = add("a");
  const auto transaction = begin();
  Stored first = load(*transaction, id);
  Stored second = first;
  hold(first.event, "w:1", now());
  must(transaction->save({&first, 1}));

  hold(second.event, "w:2", now());

  EXPECT_FALSE(transaction->save({&second, 1}));
}

TEST_P(StoreConformance, ATransactionThatWasNotCommittedLeavesNothing) {
  const EventId kept = add("kept");
  const EventId ended = add("ended");
  append(new_entry(kept, Action::picked));
  end_as(ended, Status::failed);
  {
    const auto transaction = begin();
    std::vector<Stored> fresh = {new_event("lost", now())};
    must(transaction->insert(fresh));
    std::vector<Stored> changed = {load(*transaction, kept), load(*transaction, ended)};
    end(changed[0].event, Status::completed, now());
    requeue(changed[1].event, now());
    must(transaction->save(changed));
    std::vector<LogEntry> entries = {new_entry(kept, Action::completed),
                                     new_entry(fresh[0].event.id, Action::picked)};
    must(transaction->append(entries));
    must(transaction->put_key({"key", "print", {kept}, now()}));
  }

  EXPECT_FALSE(must(begin()->find("lost")));
  EXPECT_FALSE(must(begin()->find_key("key")));
  EXPECT_EQ(stored_as(load(*begin(), kept)), "PENDING 0 - live ready");
  EXPECT_EQ(stored_as(load(*begin(), ended)), "FAILED 0 - archived");
  EXPECT_EQ(claimable(), "kept");
  EXPECT_EQ(actions_of(must(reader().log(kept))), "PICKED");
  EXPECT_EQ(must(reader().list({})).total, 2);
  EXPECT_EQ(must(reader().list({.status = Status::pending})).total, 1);
  EXPECT_EQ(must(reader().list({.status = Status::completed})).total, 0);
  EXPECT_EQ(must(reader().list({.status = Status::failed})).total, 1);
}

TEST_P(StoreConformance, ARolledBackPromotionIsUndone) {
  add("a", [&](Event& event) { event.due_at = now() + 1s; });
  clock().advance(1s);
  EXPECT_EQ(names(must(begin()->promote(100))), "a");

  EXPECT_EQ(claimable(), "");
  EXPECT_EQ(must(begin()->next_due()), kStart + 1s);
}

TEST_P(StoreConformance, ATransactionAfterARollbackWorks) {
  {
    Stored lost = new_event("a", now());
    must(begin()->insert({&lost, 1}));
  }

  const EventId id = add("a");

  EXPECT_EQ(must(reader().get(id))->event_id, "a");
}

TEST_P(StoreConformance, ATransactionsTimeIsTheClocksWhenItBegan) {
  const auto transaction = begin();
  clock().advance(1h);

  EXPECT_EQ(describe(transaction->now()), "1700000000000");
}

TEST_P(StoreConformance, BeginCanSetTheTransactionsTime) {
  Stored stored = new_event("a", kStart + 1h);
  const auto transaction = must(store().begin(kStart + 1h));
  must(transaction->insert({&stored, 1}));

  EXPECT_EQ(describe(transaction->now()), "1700003600000");
  EXPECT_TRUE(stored.ready);
}

}  // namespace
}  // namespace eventq
