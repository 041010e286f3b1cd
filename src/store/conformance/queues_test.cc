// queues_test.cc: queues, workers and archive files, and what recall() returns of them.
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe_records.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

QueueRow new_queue(std::string id) {
  QueueRow row;
  row.id = std::move(id);
  row.created_at = TimePoint(1s);
  row.updated_at = TimePoint(2s);
  return row;
}

// The n-th checkpoint of a queue, created in millisecond n.
Checkpoint checkpoint(const std::string& queue, int n) {
  return {queue + "-" + std::to_string(n), queue, "evt_" + std::to_string(n), n, TimePoint(Millis(n))};
}

auto put(const QueueRow& row) {
  return [row](Transaction& transaction) { must(transaction.put_queue(row)); };
}

auto add_totals(const std::string& queue, const Totals& change, std::optional<EventId> last = {}) {
  return [=](Transaction& transaction) { must(transaction.add_totals(queue, change, last)); };
}

std::string ids_of(const std::vector<Checkpoint>& checkpoints) {
  std::string ids;
  for (const Checkpoint& one : checkpoints) ids += (ids.empty() ? "" : " ") + one.id;
  return ids;
}

TEST_P(StoreConformance, AQueueIsKeptAsItWasPut) {
  QueueRow row = new_queue("main");
  row.config.max_queue_depth = 5;
  row.status = QueueStatus::paused;
  row.status_by = "anna";
  row.status_reason = "it's \"late\"";
  row.status_at = TimePoint(3s);
  commit_with(put(row));

  EXPECT_EQ(describe(must(reader().queue("main", 0))),
            "main paused config={\"maxQueueDepth\":5} by=anna reason=it's \"late\" at=3000 created_at=1000 "
            "updated_at=2000 counts=[] totals=0,0,0,0,0,0,0,0,0,0,0,0,0 checkpoint_id= events=[]");
}

TEST_P(StoreConformance, APutQueueReplacesTheOneOfTheSameId) {
  QueueRow row = new_queue("main");
  row.status = QueueStatus::draining;
  row.status_at = TimePoint(3s);
  commit_with(put(row));
  commit_with(add_totals("main", {.published = 7}));
  commit_with(put(new_queue("main")));

  EXPECT_EQ(describe(must(reader().queues())),
            "main active config={} by= reason= at=(none) created_at=1000 updated_at=2000 counts=[] "
            "totals=7,0,0,0,0,0,0,0,0,0,0,0,0 checkpoint_id= events=[] changed_at=1700000000000");
}

TEST_P(StoreConformance, AddQueueAddsANewQueueAndKeepsAnExistingOne) {
  QueueRow row = new_queue("main");
  row.status = QueueStatus::paused;
  row.status_at = TimePoint(3s);
  commit_with(put(row));
  commit_with([](Transaction& transaction) {
    for (const char* name : {"main", "other", "other"}) must(transaction.add_queue(new_queue(name)));
  });
  QueueRow later = new_queue("other");
  later.config.max_queue_depth = 5;
  commit_with([&](Transaction& transaction) { must(transaction.add_queue(later)); });

  const std::vector<QueueDocument> queues = must(reader().queues());

  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].row.status, QueueStatus::paused);
  EXPECT_EQ(queues[1].row.id, "other");
  EXPECT_EQ(queues[1].row.config, QueueConfig());
}

TEST_P(StoreConformance, AQueueThatWasNotPutIsNotFoundEvenWithEvents) {
  add("a");
  commit_with(add_totals("main", {.published = 1}));
  commit_with(put(new_queue("other")));

  EXPECT_FALSE(must(reader().queue("main", 10)));
  EXPECT_FALSE(must(reader().queue("Other", 10)));
  EXPECT_EQ(must(reader().queues()).size(), 1U);
}

TEST_P(StoreConformance, QueuesComeInTheOrderOfTheirNamesWithoutEvents) {
  for (const char* name : {"b", "a", "B"}) commit_with(put(new_queue(name)));
  add("event", [](Event& event) { event.queue = "a"; });

  const std::vector<QueueDocument> queues = must(reader().queues());

  ASSERT_EQ(queues.size(), 3U);
  EXPECT_EQ(queues[0].row.id, "B");
  EXPECT_EQ(queues[1].row.id, "a");
  EXPECT_EQ(queues[2].row.id, "b");
  EXPECT_EQ(describe(queues[1].counts), "PENDING=1");
  EXPECT_TRUE(queues[1].events.empty());
}

TEST_P(StoreConformance, AQueuesCountsAreItsEventsByStatus) {
  commit_with(put(new_queue("main")));
  commit_with(put(new_queue("other")));
  add_a_to_k();

  const std::vector<QueueDocument> queues = must(reader().queues());

  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(describe(queues[0].counts),
            "PENDING=3 PROCESSING=2 COMPLETED=1 COMPLETED_WITH_ERRORS=1 FAILED=1 SUPERSEDED=1 CANCELLED=1");
  EXPECT_EQ(describe(queues[1].counts), "PENDING=1");
  EXPECT_EQ(describe(must(reader().queue("other", 0))->counts), "PENDING=1");
}

TEST_P(StoreConformance, AQueueIsReadWithItsFirstLiveEventsAndTheirLogs) {
  commit_with(put(new_queue("main")));
  end_as(add("ended"), Status::completed);
  add("foreign", [](Event& event) { event.queue = "other"; });
  const EventId held = add("held", [](Event& event) { event.payload = R"({"n":1})"; });
  change(held, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  append(new_entry(held, Action::picked));
  append(new_entry(held, Action::started));
  add_in_line("behind", Line::behind);
  add("delayed", [&](Event& event) { event.due_at = now() + 1h; });
  const auto shown = [&](std::size_t events) {
    const auto document = must(reader().queue("main", events));
    std::vector<Event> all;
    for (const Details& details : document->events) all.push_back(details.event);
    return names(all);
  };

  EXPECT_EQ(shown(0), "");
  EXPECT_EQ(shown(2), "held behind");
  EXPECT_EQ(shown(10), "held behind delayed");
  const Details first = must(reader().queue("main", 1))->events.at(0);
  EXPECT_EQ(describe(first), describe(must(reader().details(held))));
  EXPECT_EQ(first.event.payload, R"({"n":1})");
  EXPECT_EQ(actions_of(first.log), "PICKED,STARTED");
}

TEST_P(StoreConformance, TotalsAddUpNumberByNumber) {
  commit_with(put(new_queue("main")));
  commit_with(put(new_queue("other")));
  commit_with(add_totals("main", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  commit_with(
      add_totals("main", {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 10'000'000'000, 100, 100}));
  commit_with(add_totals("other", {.published = 1}));

  EXPECT_EQ(describe(must(reader().queue("main", 0))->totals),
            "101,102,103,104,105,106,107,108,109,110,10000000011,112,113");
  EXPECT_EQ(describe(must(reader().queue("other", 0))->totals), "1,0,0,0,0,0,0,0,0,0,0,0,0");
}

TEST_P(StoreConformance, TotalsAddedBeforeAQueueWasPutBelongToIt) {
  commit_with(add_totals("main", {.claimed = 3}));
  commit_with(put(new_queue("main")));

  EXPECT_EQ(describe(must(reader().queue("main", 0))->totals), "0,0,3,0,0,0,0,0,0,0,0,0,0");
}

TEST_P(StoreConformance, AQueuesCheckpointIdIsTheGlobalIdOfItsLastCompletedEvent) {
  commit_with(put(new_queue("main")));
  const EventId a = add("evt_a");
  const EventId b = add("evt_b");
  const auto checkpoint_id = [&] { return must(reader().queue("main", 0))->checkpoint_id; };
  EXPECT_EQ(checkpoint_id(), "");

  commit_with(add_totals("main", {.completed = 1}, b));
  EXPECT_EQ(checkpoint_id(), "evt_b");

  commit_with(add_totals("main", {.published = 1}));
  EXPECT_EQ(checkpoint_id(), "evt_b");

  commit_with(add_totals("main", {.completed = 1}, a));
  EXPECT_EQ(checkpoint_id(), "evt_a");
  EXPECT_EQ(must(reader().queues()).at(0).checkpoint_id, "evt_a");
}

TEST_P(StoreConformance, AQueuesCheckpointIdOutlivesItsEvent) {
  commit_with(put(new_queue("main")));
  const EventId id = add("evt_a");
  commit_with([&](Transaction& transaction) {
    Stored stored = load(transaction, id);
    end(stored.event, Status::completed, now());
    must(transaction.save({&stored, 1}));
    must(transaction.add_totals("main", {.completed = 1}, id));
  });
  commit_with([&](Transaction& transaction) {
    const Stored stored = load(transaction, id);
    must(transaction.remove({&stored, 1}));
  });

  EXPECT_EQ(must(reader().queue("main", 0))->checkpoint_id, "evt_a");
}

TEST_P(StoreConformance, ChangedAtIsTheTimeOfTheLastChangeAndNeverMovesBack) {
  commit_with(put(new_queue("main")));
  const auto changed_at = [&] { return describe(must(reader().queue("main", 0))->changed_at); };
  EXPECT_EQ(changed_at(), "0");

  commit_with(add_totals("main", {.published = 1}));
  EXPECT_EQ(changed_at(), "1700000000000");

  clock().advance(5s);
  commit_with(add_totals("main", {}));
  EXPECT_EQ(changed_at(), "1700000005000");

  clock().advance(-3s);
  commit_with(add_totals("main", {.claimed = 1}));
  EXPECT_EQ(changed_at(), "1700000005000");
  std::vector<std::string> repaired;
  EXPECT_EQ(describe(must(begin()->recall(repaired)).queues.at(0).changed_at), "1700000005000");
}

TEST_P(StoreConformance, CheckpointsOfAQueueComeNewestFirst) {
  commit_with(put(new_queue("other")));
  commit_with([](Transaction& transaction) {
    must(transaction.put_checkpoint({"id-1", "main", "", 0, TimePoint(1s)}));
    // The queue may be stored after its checkpoint, but not in a later transaction.
    must(transaction.put_queue(new_queue("main")));
    must(transaction.put_checkpoint({"id-2", "other", "evt_x", 9, TimePoint(2s)}));
    must(transaction.put_checkpoint({"id-3", "main", "evt_y", 10'000'000'000, TimePoint(3s)}));
  });

  EXPECT_EQ(describe(must(reader().checkpoints("main", 10))),
            "id-3 queue=main checkpoint_id=evt_y event_count=10000000000 created_at=3000\n"
            "id-1 queue=main checkpoint_id= event_count=0 created_at=1000");
  EXPECT_EQ(ids_of(must(reader().checkpoints("main", 1))), "id-3");
  EXPECT_EQ(ids_of(must(reader().checkpoints("main", 0))), "");
  EXPECT_EQ(ids_of(must(reader().checkpoints("other", 10))), "id-2");
  EXPECT_EQ(ids_of(must(reader().checkpoints("nobody", 10))), "");
}

TEST_P(StoreConformance, OfTwoCheckpointsInOneMillisecondTheOneWithMoreEventsIsNewer) {
  commit_with(put(new_queue("main")));
  commit_with([](Transaction& transaction) {
    must(transaction.put_checkpoint({"id-9", "main", "evt_x", 119, TimePoint(1s)}));
    must(transaction.put_checkpoint({"id-1", "main", "evt_y", 120, TimePoint(1s)}));
  });

  EXPECT_EQ(must(reader().checkpoints("main", 1)).front().id, "id-1");
}

TEST_P(StoreConformance, ACheckpointIsFoundByItsId) {
  commit_with(put(new_queue("other")));
  commit_with([](Transaction& transaction) { must(transaction.put_checkpoint(checkpoint("other", 7))); });

  EXPECT_EQ(describe(must(begin()->find_checkpoint("other-7"))),
            "other-7 queue=other checkpoint_id=evt_7 event_count=7 created_at=7");
  EXPECT_FALSE(must(begin()->find_checkpoint("other-8")));
}

TEST_P(StoreConformance, AQueueKeepsItsNewestHundredCheckpoints) {
  commit_with([](Transaction& transaction) {
    for (const char* queue : {"main", "other"}) must(transaction.put_queue(new_queue(queue)));
    must(transaction.put_checkpoint(checkpoint("other", 1)));
    for (int n = 1; n <= 102; ++n) must(transaction.put_checkpoint(checkpoint("main", n)));
  });

  const std::vector<Checkpoint> kept = must(reader().checkpoints("main", 1000));

  ASSERT_EQ(kept.size(), 100U);
  EXPECT_EQ(kept.front().id, "main-102");
  EXPECT_EQ(kept.back().id, "main-3");
  EXPECT_FALSE(must(begin()->find_checkpoint("main-2")));
  EXPECT_TRUE(must(begin()->find_checkpoint("main-3")));
  EXPECT_EQ(ids_of(must(reader().checkpoints("other", 1000))), "other-1");
}

TEST_P(StoreConformance, RequestedCheckpointsOutliveTheNewestHundred) {
  commit_with(put(new_queue("main")));
  commit_with([](Transaction& transaction) {
    for (const int n : {1, 2}) {
      Checkpoint asked = checkpoint("main", n);
      asked.requested = true;
      must(transaction.put_checkpoint(asked));
    }
    for (int n = 3; n <= 103; ++n) must(transaction.put_checkpoint(checkpoint("main", n)));
    EXPECT_EQ(must(transaction.count_requested("main")), 2);
  });

  const std::vector<Checkpoint> kept = must(reader().checkpoints("main", 1000));

  ASSERT_EQ(kept.size(), 102U);
  EXPECT_EQ(kept.at(99).id, "main-4");
  EXPECT_EQ(describe(kept.at(100)),
            "main-2 queue=main checkpoint_id=evt_2 event_count=2 created_at=2 requested");
  EXPECT_TRUE(must(begin()->find_checkpoint("main-1"))->requested);
  EXPECT_EQ(must(begin()->count_requested("main")), 2);
  EXPECT_EQ(must(begin()->count_requested("other")), 0);
}

TEST_P(StoreConformance, ADeletedCheckpointIsGone) {
  commit_with(put(new_queue("main")));
  commit_with([](Transaction& transaction) {
    for (const int n : {1, 2, 3}) must(transaction.put_checkpoint(checkpoint("main", n)));
  });
  commit_with([](Transaction& transaction) {
    must(transaction.delete_checkpoint("main-2"));
    must(transaction.delete_checkpoint("main-9"));
    EXPECT_FALSE(must(transaction.find_checkpoint("main-2")));
  });

  EXPECT_EQ(ids_of(must(reader().checkpoints("main", 10))), "main-3 main-1");
}

TEST_P(StoreConformance, ARemovedQueueLeavesNothingButItsLog) {
  commit_with([](Transaction& transaction) {
    for (const char* queue : {"main", "other"}) {
      must(transaction.put_queue(new_queue(queue)));
      must(transaction.add_totals(queue, {.published = 3}, {}));
      must(transaction.put_checkpoint(checkpoint(queue, 1)));
      must(transaction.put_recovery({"id", queue, "", 0, TimePoint(1s), TimePoint(2s), "completed"}));
      must(transaction.append_queue_log(
          {"id-1", queue, QueueAction::created, "anna", "", "{}", TimePoint(1s)}));
    }
  });
  commit_with([](Transaction& transaction) { must(transaction.remove_queue("other")); });

  EXPECT_FALSE(must(reader().queue("other", 0)));
  EXPECT_EQ(must(reader().queues()).size(), 1U);
  EXPECT_EQ(ids_of(must(reader().checkpoints("other", 10))), "");
  EXPECT_FALSE(must(reader().recovery("other")));
  EXPECT_EQ(must(reader().queue_log({"other", "", 10})).size(), 1U);
  EXPECT_EQ(ids_of(must(reader().checkpoints("main", 10))), "main-1");

  commit_with(put(new_queue("other")));
  EXPECT_EQ(describe(must(reader().queue("other", 0))),
            "other active config={} by= reason= at=(none) created_at=1000 updated_at=2000 counts=[] "
            "totals=0,0,0,0,0,0,0,0,0,0,0,0,0 checkpoint_id= events=[]");
}

TEST_P(StoreConformance, AQueueRemovedWithItsLastEventsLeavesNoCounter) {
  commit_with(put(new_queue("main")));
  const EventId done = add("a");
  const EventId failed = add("b");
  end_as(done, Status::completed);
  fail_as(failed, "no disk");
  commit_with([&](Transaction& transaction) {
    for (const EventId id : {done, failed}) {
      const Stored stored = load(transaction, id);
      must(transaction.remove({&stored, 1}));
    }
    must(transaction.add_totals("main", {.removed = 2}, {}));
    must(transaction.remove_queue("main"));
  });
  commit_with(put(new_queue("main")));

  EXPECT_EQ(describe(must(reader().queue("main", 0))->counts), "");
  EXPECT_EQ(describe(must(reader().queue("main", 0))->totals), "0,0,0,0,0,0,0,0,0,0,0,0,0");
  EXPECT_TRUE(must(reader().failures(std::nullopt, 10)).empty());
}

TEST_P(StoreConformance, AQueueIsMadeAgainInTheTransactionThatRemovesIt) {
  commit_with(put(new_queue("main")));
  commit_with(add_totals("main", {.published = 3}));
  commit_with([](Transaction& transaction) {
    must(transaction.remove_queue("main"));
    QueueRow row = new_queue("main");
    row.status = QueueStatus::paused;
    must(transaction.add_queue(row));
    must(transaction.add_totals("main", {.published = 1}, {}));
  });

  const QueueDocument made = must(reader().queue("main", 0)).value();
  EXPECT_EQ(made.row.status, QueueStatus::paused);
  EXPECT_EQ(made.totals.published, 1);
}

TEST_P(StoreConformance, AQueuesLogIsListedNewestFirst) {
  commit_with([](Transaction& transaction) {
    for (const char* id : {"id-1", "id-3", "id-2"}) {
      must(transaction.append_queue_log({id, "main", QueueAction::checkpoint_deleted, "anna", "it's \"late\"",
                                         R"({"events":3})", TimePoint(5s)}));
    }
    must(transaction.append_queue_log({"id-9", "other", QueueAction::paused, "", "", "{}", TimePoint(1s)}));
  });
  const auto ids = [&](const QueueLogFilter& filter) {
    std::string text;
    for (const QueueLogEntry& entry : must(reader().queue_log(filter))) text += entry.id + " ";
    return text;
  };

  EXPECT_EQ(ids({"main", "", 10}), "id-3 id-2 id-1 ");
  EXPECT_EQ(ids({"main", "", 2}), "id-3 id-2 ");
  EXPECT_EQ(ids({"main", "id-2", 10}), "id-1 ");
  EXPECT_EQ(ids({"none", "", 10}), "");
  EXPECT_EQ(describe(must(reader().queue_log({"main", "", 1}))),
            "id-3 checkpoint_deleted queue=main by=anna reason=it's \"late\" detail={\"events\":3} "
            "created_at=5000");
}

TEST_P(StoreConformance, AQueueKeepsItsNewestTenThousandChanges) {
  const auto id = [](int n) { return std::to_string(100'000 + n); };
  commit_with([&](Transaction& transaction) {
    must(transaction.append_queue_log({id(1), "other", QueueAction::paused, "", "", "{}", TimePoint(1s)}));
    for (int n = 1; n <= 10'002; ++n) {
      must(transaction.append_queue_log({id(n), "main", QueueAction::paused, "", "", "{}", TimePoint(1s)}));
    }
  });

  EXPECT_EQ(must(reader().queue_log({"main", "", 20'000})).size(), 10'000U);
  EXPECT_EQ(must(reader().queue_log({"main", "", 20'000})).back().id, id(3));
  EXPECT_EQ(must(reader().queue_log({"other", "", 20'000})).size(), 1U);
}

TEST_P(StoreConformance, ARecoveryReplacesTheLastOneOfItsQueue) {
  commit_with([](Transaction& transaction) {
    must(transaction.put_recovery({"id-1", "main", "evt_a", 5, TimePoint(1s), TimePoint(2s), "repaired"}));
    must(transaction.put_recovery({"id-2", "other", "", 0, TimePoint(1s), TimePoint(2s), "completed"}));
  });
  EXPECT_EQ(
      describe(must(reader().recovery("main"))),
      "id-1 repaired queue=main checkpoint_id=evt_a events_recovered=5 started_at=1000 completed_at=2000");

  commit_with([](Transaction& transaction) {
    must(transaction.put_recovery({"id-3", "main", "evt_b", 6, TimePoint(3s), TimePoint(4s), "completed"}));
  });
  EXPECT_EQ(
      describe(must(reader().recovery("main"))),
      "id-3 completed queue=main checkpoint_id=evt_b events_recovered=6 started_at=3000 completed_at=4000");
  EXPECT_EQ(must(reader().recovery("other"))->id, "id-2");
  EXPECT_FALSE(must(reader().recovery("nobody")));
}

TEST_P(StoreConformance, AnArchiveFileReplacesTheOneOfTheSameName) {
  commit_with([](Transaction& transaction) {
    must(transaction.put_archive_file({"a.ndjson", 5}));
    must(transaction.put_archive_file({"b.ndjson", 10'000'000'000}));
    must(transaction.put_archive_file({"a.ndjson", 7}));
  });

  EXPECT_EQ(describe(must(reader().archive_files())), "a.ndjson bytes=7\nb.ndjson bytes=10000000000");
}

TEST_P(StoreConformance, AnEmptyStoreRecallsNothing) {
  std::vector<std::string> repaired;

  EXPECT_EQ(describe(must(begin()->recall(repaired))),
            "queues=[] workers=[] asks=[] processing=[] checkpoints=[] failed=");
  EXPECT_TRUE(repaired.empty());
}

TEST_P(StoreConformance, TheOldestPendingEventsOfManyQueuesAreFoundInOneTransaction) {
  for (const char* queue : {"a", "b", "c", "empty"}) {
    commit_with(put(new_queue(queue)));
    if (std::string_view(queue) != "empty") add(queue, [&](Event& event) { event.queue = queue; });
    clock().advance(1s);
  }
  const auto transaction = begin();
  const auto oldest = [&](const char* queue) { return must(transaction->oldest_pending(queue)); };
  EXPECT_EQ(oldest("a"), kStart);
  EXPECT_EQ(oldest("b"), kStart + 1s);
  EXPECT_EQ(oldest("c"), kStart + 2s);
  EXPECT_EQ(oldest("empty"), std::nullopt);
  EXPECT_EQ(oldest("a"), kStart);

  Stored late = new_event("late", now());
  late.event.queue = "empty";
  must(transaction->insert({&late, 1}));
  EXPECT_EQ(oldest("empty"), now());
  EXPECT_EQ(oldest("b"), kStart + 1s);
}

TEST_P(StoreConformance, AStoreRecallsItsQueues) {
  commit_with(put(new_queue("main")));
  commit_with(put(new_queue("empty")));
  add_a_to_k();
  commit_with(add_totals("main", {.published = 10}, EventId{7}));
  std::vector<std::string> repaired;

  EXPECT_EQ(
      describe(must(begin()->recall(repaired)).queues),
      "empty active config={} by= reason= at=(none) created_at=1000 updated_at=2000 counts=[] "
      "totals=0,0,0,0,0,0,0,0,0,0,0,0,0 checkpoint_id= events=[]\n"
      "main active config={} by= reason= at=(none) created_at=1000 updated_at=2000 "
      "counts=[PENDING=3 PROCESSING=2 COMPLETED=1 COMPLETED_WITH_ERRORS=1 FAILED=1 SUPERSEDED=1 "
      "CANCELLED=1] totals=10,0,0,0,0,0,0,0,0,0,0,0,0 checkpoint_id=g events=[] changed_at=1700000000000");
  EXPECT_TRUE(repaired.empty());
}

TEST_P(StoreConformance, AddWorkerSumsCountersAndKeepsTheLatestLastSeen) {
  commit_with([](Transaction& transaction) {
    must(transaction.add_worker({"w:2", kStart, kStart + 5s, 3, 4}));
    must(transaction.add_worker({"w:1", kStart, kStart + 2s, 0, 0}));
    must(transaction.add_worker({"w:2", kStart + 1s, kStart + 2s, 6, 7}));
  });
  commit_with([](Transaction& transaction) {
    must(transaction.add_worker({"w:1", kStart + 3s, kStart + 4s, 1, 0}));
  });
  std::vector<std::string> repaired;

  const std::string expected =
      "w:1 first_seen=1700000000000 last_seen=1700000004000 completed=1 failed=0\n"
      "w:2 first_seen=1700000000000 last_seen=1700000005000 completed=9 failed=11";
  EXPECT_EQ(describe(must(begin()->recall(repaired)).workers), expected);
  EXPECT_EQ(describe(must(reader().working()).workers), expected);
}

TEST_P(StoreConformance, TheLatestRequestOfAWorkerAndSelectorIsKept) {
  commit_with([](Transaction& transaction) {
    must(transaction.put_ask({"w:2", {"mail", {"a", "b"}}, kStart + 5s}));
    must(transaction.put_ask({"w:2", {"mail", {"a", "b"}}, kStart + 4s}));
    must(transaction.put_ask({"w:1", {"mail", {}}, kStart + 1s}));
  });
  commit_with([](Transaction& transaction) {
    must(transaction.put_ask({"w:2", {"mail", {"a"}}, kStart + 6s}));
    must(transaction.put_ask({"w:1", {"mail", {}}, kStart + 2s}));
  });
  std::vector<std::string> repaired;

  EXPECT_EQ(describe(must(begin()->recall(repaired)).asks),
            "w:1 queue=mail tags= asked_at=1700000002000\n"
            "w:2 queue=mail tags=a asked_at=1700000006000\n"
            "w:2 queue=mail tags=a,b asked_at=1700000005000");
}

TEST_P(StoreConformance, RequestsUntilASignOffAreNotRecalled) {
  commit_with([&](Transaction& transaction) {
    must(transaction.put_ask({"w:1", {"mail", {}}, now() - 1ms}));
    must(transaction.put_ask({"w:2", {"mail", {}}, now() - 1ms}));
    must(transaction.sign_off("w:1"));
    must(transaction.sign_off("unknown"));
  });
  commit_with([&](Transaction& transaction) {
    must(transaction.put_ask({"w:1", {"late", {}}, now()}));
    must(transaction.put_ask({"w:1", {"again", {}}, now() + 1ms}));
  });
  std::vector<std::string> repaired;

  const auto asks = must(begin()->recall(repaired)).asks;
  ASSERT_EQ(asks.size(), 2U);
  EXPECT_EQ(asks[0].selector.queue, "again");
  EXPECT_EQ(asks[1].worker_id, "w:2");
}

TEST_P(StoreConformance, WorkersOfMoreThanADayAgoAreNotRecalled) {
  commit_with([&](Transaction& transaction) {
    for (const auto& [id, ago] : {std::pair("listed", Millis(24h)), std::pair("old", Millis(24h + 1ms))}) {
      must(transaction.add_worker({id, now() - ago, now() - ago, 1, 0}));
      must(transaction.put_ask({id, {"mail", {}}, now() - ago}));
    }
  });
  std::vector<std::string> repaired;

  const Recalled recalled = must(begin()->recall(repaired));
  ASSERT_EQ(recalled.workers.size(), 1U);
  EXPECT_EQ(recalled.workers[0].id, "listed");
  ASSERT_EQ(recalled.asks.size(), 1U);
  EXPECT_EQ(recalled.asks[0].worker_id, "listed");
}

TEST_P(StoreConformance, DroppedWorkersLeaveNothingBehind) {
  commit_with([&](Transaction& transaction) {
    must(transaction.add_worker({"old", now(), now(), 1, 0}));
    must(transaction.add_worker({"new", now(), now() + 1ms, 1, 0}));
    must(transaction.put_ask({"old", {"mail", {}}, now()}));
    must(transaction.put_ask({"new", {"mail", {}}, now() + 1ms}));
    must(transaction.sign_off("old"));
  });
  commit_with([&](Transaction& transaction) { must(transaction.drop_workers(now() + 1ms)); });
  // A sign-off that was dropped hides no request.
  commit_with([&](Transaction& transaction) {
    must(transaction.put_ask({"old", {"again", {}}, now() - 1ms}));
  });
  std::vector<std::string> repaired;

  const Recalled recalled = must(begin()->recall(repaired));
  ASSERT_EQ(recalled.workers.size(), 1U);
  EXPECT_EQ(recalled.workers[0].id, "new");
  ASSERT_EQ(recalled.asks.size(), 2U);
  EXPECT_EQ(recalled.asks[1].selector.queue, "again");
}

TEST_P(StoreConformance, AReaderSeesTheStateOfProcessingEvents) {
  const EventId held = add("held", [](Event& event) { event.payload = R"({"n":1})"; });
  change(held, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  const EventId lost = add("lost");
  change(lost, [&](Event& event) { hold(event, "w:2", now()); });
  add("pending");
  end_as(add("ended"), Status::completed);

  const Working working = must(reader().working());

  EXPECT_TRUE(working.workers.empty());
  EXPECT_EQ(names(working.processing), "held lost");
  EXPECT_EQ(stored_as(working.processing.at(0)), "PROCESSING 1 w:1 live");
  EXPECT_EQ(stored_as(working.processing.at(1)), "PROCESSING 1 w:2 live ready");
  EXPECT_EQ(working.processing.at(0).event.payload, "");
}

TEST_P(StoreConformance, HoldingCountsAWorkersEventsUntilTheirLeaseExpiryIsPromoted) {
  const auto hold_one = [&](const std::string& name, const std::string& worker, const std::string& queue) {
    const EventId id = add(name, [&](Event& event) { event.queue = queue; });
    change(id, [&](Event& event) { hold(event, worker, now() + 60s); });
    return id;
  };
  hold_one("a", "w:1", "main");
  const EventId ended = hold_one("b", "w:1", "main");
  hold_one("c", "w:1", "other");
  hold_one("d", "w:2", "main");
  add("pending");
  EXPECT_EQ(must(reader().holding("w:1", "main")), 2);
  EXPECT_EQ(must(reader().holding("w:1", "other")), 1);
  EXPECT_EQ(must(reader().holding("w:3", "main")), 0);

  end_as(ended, Status::completed);
  EXPECT_EQ(must(reader().holding("w:1", "main")), 1);

  clock().advance(61s);
  EXPECT_EQ(must(reader().holding("w:1", "main")), 1);
  commit_with([](Transaction& transaction) { must(transaction.promote(100)); });
  EXPECT_EQ(must(reader().holding("w:1", "main")), 0);
}

TEST_P(StoreConformance, AStoreRecallsTheStateOfProcessingEvents) {
  const EventId held = add("held", [](Event& event) { event.payload = R"({"n":1})"; });
  change(held, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  add("pending");
  end_as(add("ended"), Status::completed);
  std::vector<std::string> repaired;

  const std::vector<Stored> processing = must(begin()->recall(repaired)).processing;

  ASSERT_EQ(processing.size(), 1U);
  EXPECT_EQ(processing[0].event.id, held);
  EXPECT_EQ(processing[0].event.worker_id, "w:1");
  EXPECT_EQ(processing[0].event.payload, "");
  EXPECT_FALSE(processing[0].ready);
}

TEST_P(StoreConformance, AStoreRecallsTheLastCheckpointOfEachQueue) {
  commit_with([](Transaction& transaction) {
    for (const char* queue : {"main", "other", "third"}) must(transaction.put_queue(new_queue(queue)));
    must(transaction.put_checkpoint(checkpoint("other", 1)));
    must(transaction.put_checkpoint(checkpoint("main", 2)));
    must(transaction.put_checkpoint(checkpoint("main", 10)));
  });
  std::vector<std::string> repaired;

  EXPECT_EQ(ids_of(must(begin()->recall(repaired)).checkpoints), "main-10 other-1");
}

TEST_P(StoreConformance, FailuresInTheSameHourAddUp) {
  commit_with([](Transaction& transaction) {
    must(transaction.add_failed_in_hour(472'222, 2));
    must(transaction.add_failed_in_hour(472'223, 1));
  });
  commit_with([](Transaction& transaction) { must(transaction.add_failed_in_hour(472'222, 3)); });
  std::vector<std::string> repaired;

  const std::map<std::int64_t, std::int64_t> expected = {{472'222, 5}, {472'223, 1}};
  EXPECT_EQ(must(begin()->recall(repaired)).failed_by_hour, expected);
}

TEST_P(StoreConformance, ACommitWithoutADiskSyncIsVisibleAtOnce) {
  Stored stored = new_event("a", now());
  {
    const auto transaction = begin();
    must(transaction->insert({&stored, 1}));
    must(transaction->commit(Transaction::DiskSync::later));
  }
  EXPECT_TRUE(must(reader().get(stored.event.id)));

  end_as(stored.event.id, Status::completed);
  EXPECT_EQ(totals(), "COMPLETED=1 of 1");
}

TEST_P(StoreConformance, ARollbackUndoesTheRecordsBesideEvents) {
  struct Row {
    std::string name;
    std::function<void(Transaction&)> change;
  };
  const EventId id = add("a");
  const auto fill = [&](Transaction& transaction, int n) {
    must(transaction.put_correlation({"c1", n, n, n, n, 1, "", ""}));
    must(transaction.add_totals("main", {.published = n}, id));
    must(transaction.add_failed_in_hour(472'222, n));
    must(transaction.put_checkpoint(checkpoint("main", n)));
    must(transaction.put_recovery({"id", "main", "", n, TimePoint(1s), TimePoint(2s), "completed"}));
    must(transaction.add_worker({"w:1", kStart, kStart + 2s, n, n}));
    must(transaction.put_archive_file({"a.ndjson", n}));
    QueueRow row = new_queue("main");
    row.config.max_queue_depth = n;
    must(transaction.put_queue(row));
  };
  const auto everything = [&] {
    std::vector<std::string> repaired;
    std::string text = describe(must(begin()->recall(repaired)));
    text +=
        "\n" + describe(must(reader().queues())) + "\n" + describe(must(reader().checkpoints("main", 100)));
    text += "\n" + describe(must(reader().recovery("main"))) + describe(must(reader().recovery("other")));
    text += "\n" + describe(must(begin()->find_correlation("c1")));
    text += "\n" + describe(must(begin()->find_correlation("c2")));
    return text + "\n" + describe(must(reader().archive_files()));
  };
  const Row rows[] = {
      {"all of it", [&](Transaction& transaction) { fill(transaction, 2); }},
      {"a new queue", put(new_queue("other"))},
      {"a new queue's totals", add_totals("other", {.published = 1})},
      {"a new correlation",
       [](Transaction& transaction) {
         must(transaction.put_correlation({"c2", 1, 1, 1, 1, 1, "", ""}));
       }},
      {"the end of a correlation",
       [](Transaction& transaction) {
         must(transaction.put_correlation({"c1", 1, 1, 1, 1, 0, "", ""}));
       }},
      {"another hour", [](Transaction& transaction) { must(transaction.add_failed_in_hour(472'223, 1)); }},
      {"a checkpoint that makes others leave",
       [](Transaction& transaction) {
         for (int n = 2; n < 105; ++n) must(transaction.put_checkpoint(checkpoint("main", n)));
       }},
      {"another queue's recovery",
       [](Transaction& transaction) {
         must(transaction.put_recovery({"x", "other", "", 1, TimePoint(1s), TimePoint(2s), "completed"}));
       }},
      {"another worker",
       [](Transaction& transaction) {
         must(transaction.add_worker({"w:2", kStart, kStart, 1, 1}));
       }},
      {"another file",
       [](Transaction& transaction) {
         must(transaction.put_archive_file({"b", 1}));
       }},
  };
  commit_with([&](Transaction& transaction) { fill(transaction, 1); });
  const std::string before = everything();
  for (const Row& row : rows) {
    row.change(*begin());

    EXPECT_EQ(everything(), before) << row.name;
  }
}

}  // namespace
}  // namespace eventq
