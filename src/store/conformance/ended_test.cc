// ended_test.cc: ended events: queries, groups by cause of failure, and removal; and correlations.
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe_records.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

TEST_P(StoreConformance, EndedEventsOfAllStatusesAreOrderedByTheirEnd) {
  const EventId a = add("a");
  const EventId b = add("b");
  const EventId c = add("c");
  const EventId d = add("d");
  add("live");
  end_as(d, Status::completed);
  clock().advance(1ms);
  end_as(b, Status::failed);
  end_as(a, Status::completed);
  clock().advance(1ms);
  end_as(c, Status::cancelled);

  EXPECT_EQ(names(must(begin()->ended({.queue = "main"})).events), "d a b c");
}

TEST_P(StoreConformance, EachEndedFilterReturnsOnlyMatchingEvents) {
  struct Row {
    std::string name;
    EndedFilter filter;
    std::string found;
  };
  // Events a to h end one second apart.
  const auto ended = [&](const std::string& name, Status status, const std::function<void(Event&)>& edit) {
    end_as(add(name, edit), status);
    clock().advance(1s);
  };
  const auto nothing = [](Event&) {};
  ended("a", Status::completed, nothing);
  ended("b", Status::completed, [](Event& event) { event.tags = {"x", "y"}; });
  ended("c", Status::completed_with_errors, [](Event& event) { event.tags = {"z"}; });
  ended("d", Status::failed, [](Event& event) { event.pattern = "invoice.created"; });
  ended("e", Status::superseded, [](Event& event) { event.pattern = "invoice.Created"; });
  ended("f", Status::cancelled, nothing);
  ended("g", Status::completed, [](Event& event) { event.queue = "other"; });
  fail_as(add("h"), "disk full");
  const Row rows[] = {
      {"all", {.queue = "main"}, "a b c d e f h"},
      {"another queue", {.queue = "other"}, "g"},
      {"a queue that is not", {.queue = "nobody"}, ""},
      {"one status", {.queue = "main", .statuses = {Status::completed}}, "a b"},
      {"two statuses", {.queue = "main", .statuses = {Status::failed, Status::completed}}, "a b d h"},
      {"a live status", {.queue = "main", .statuses = {Status::pending}}, ""},
      {"a tag", {.queue = "main", .tags = {"y"}}, "b"},
      {"any of two tags", {.queue = "main", .tags = {"z", "x"}}, "b c"},
      {"pattern", {.queue = "main", .pattern = "invoice.created"}, "d"},
      {"part of a pattern", {.queue = "main", .pattern = "invoice"}, ""},
      {"cause", {.queue = "main", .cause = "disk full"}, "h"},
      {"no cause", {.queue = "main", .statuses = {Status::failed}, .cause = ""}, "d"},
      {"from", {.queue = "main", .from = kStart + 2s}, "c d e f h"},
      {"to", {.queue = "main", .to = kStart + 2s}, "a b"},
      {"from and to", {.queue = "main", .from = kStart + 1s, .to = kStart + 4s}, "b c d"},
      {"from the last", {.queue = "main", .from = kStart + 7s}, "h"},
      {"nothing between", {.queue = "main", .from = kStart + 1s, .to = kStart + 1s}, ""},
      {"limit", {.queue = "main", .limit = 3}, "a b c"},
      {"limit 0", {.queue = "main", .limit = 0}, ""},
      {"limit of two statuses",
       {.queue = "main", .statuses = {Status::cancelled, Status::failed}, .limit = 2},
       "d f"},
      {"limit of matches, not of events read", {.queue = "main", .tags = {"z"}, .limit = 1}, "c"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(names(must(begin()->ended(row.filter)).events), row.found) << row.name;
}

TEST_P(StoreConformance, EndedReturnsWholeEventsThatCanBeSaved) {
  const EventId id = add("a", [](Event& event) { event.payload = R"({"n":1})"; });
  fail_as(id, "disk full");
  commit_with([&](Transaction& transaction) {
    std::vector<Stored> found = must(transaction.ended({.queue = "main"})).events;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].event.payload, R"({"n":1})");
    EXPECT_EQ(found[0].cause, "disk full");
    EXPECT_EQ(stored_as(found[0]), "FAILED 0 - archived");
    requeue(found[0].event, now());
    must(transaction.save(found));
    EXPECT_EQ(names(must(transaction.ended({.queue = "main"})).events), "");
  });

  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, EndedStopsAfterTheEventThatBringsPayloadsToThirtyTwoMebibytes) {
  for (int i = 0; i < 34; ++i) {
    end_as(
        add("event" + std::to_string(i), [](Event& event) { event.payload = std::string(1024 * 1024, '1'); }),
        Status::completed);
  }

  EXPECT_EQ(must(begin()->ended({.queue = "main"})).events.size(), 32U);
}

TEST_P(StoreConformance, AnEventThatEndedTwiceIsOrderedByItsLastEnd) {
  const EventId a = add("a");
  end_as(a, Status::failed);
  end_as(add("b"), Status::failed);
  clock().advance(1s);
  end_as(a, Status::cancelled);

  EXPECT_EQ(names(must(begin()->ended({.queue = "main"})).events), "b a");
}

TEST_P(StoreConformance, FailedEventsAreGroupedByQueueAndCauseLargestGroupFirst) {
  const auto fail = [&](const std::string& name, const std::string& queue, const std::string& cause) {
    fail_as(add(name, [&](Event& event) { event.queue = queue; }), cause);
    clock().advance(1s);
  };
  fail("a", "main", "timeout");
  fail("b", "main", "disk full");
  fail("c", "other", "disk full");
  fail("d", "main", "disk full");
  fail("e", "main", "");
  fail("f", "main", "disk full");
  end_as(add("g"), Status::cancelled);

  EXPECT_EQ(describe(must(reader().failures({}, 10))),
            "main <disk full> events=3 first_at=1700000001000 last_at=1700000005000 last_event=6\n"
            "main <> events=1 first_at=1700000004000 last_at=1700000004000 last_event=5\n"
            "main <timeout> events=1 first_at=1700000000000 last_at=1700000000000 last_event=1\n"
            "other <disk full> events=1 first_at=1700000002000 last_at=1700000002000 last_event=3");
  EXPECT_EQ(describe(must(reader().failures("other", 10))),
            "other <disk full> events=1 first_at=1700000002000 last_at=1700000002000 last_event=3");
  EXPECT_EQ(describe(must(reader().failures({}, 1))),
            "main <disk full> events=3 first_at=1700000001000 last_at=1700000005000 last_event=6");
  EXPECT_EQ(describe(must(reader().failures("nobody", 10))), "");
}

TEST_P(StoreConformance, AGroupOfFailuresHasTheMessageOfItsLastEvent) {
  const auto fail = [&](const std::string& name, const std::string& message) {
    const EventId id = add(name);
    LogEntry entry = new_entry(id, Action::failed);
    entry.error_message = message;
    append(std::move(entry));
    fail_as(id, "order # is closed");
    clock().advance(1s);
  };
  fail("a", "order 17 is closed");
  fail("b", "order 4 is closed");
  fail_as(add("c"), "no message");

  EXPECT_EQ(describe(must(reader().failures({}, 10))),
            "main <order # is closed> events=2 first_at=1700000000000 last_at=1700000001000 last_event=2 "
            "sample=<order 4 is closed>\n"
            "main <no message> events=1 first_at=1700000002000 last_at=1700000002000 last_event=3");
}

TEST_P(StoreConformance, TheLastEventOfFailuresIsTheLastToFailThenTheHighestId) {
  const EventId a = add("a");
  const EventId b = add("b");
  const EventId c = add("c");
  fail_as(c, "timeout");
  clock().advance(1s);
  fail_as(b, "timeout");
  fail_as(a, "timeout");

  EXPECT_EQ(describe(must(reader().failures({}, 10))),
            "main <timeout> events=3 first_at=1700000000000 last_at=1700000001000 last_event=2");
}

TEST_P(StoreConformance, AnEventThatIsNoLongerFailedIsInNoGroup) {
  const EventId a = add("a");
  const EventId b = add("b");
  fail_as(a, "timeout");
  fail_as(b, "timeout");
  change(a, [&](Event& event) { requeue(event, now()); });
  end_as(b, Status::cancelled);

  EXPECT_EQ(describe(must(reader().failures({}, 10))), "");
}

TEST_P(StoreConformance, AnEventThatFailsAgainIsInTheGroupOfItsLastCause) {
  const EventId id = add("a");
  fail_as(id, "timeout");
  change(id, [&](Event& event) { requeue(event, now()); });
  fail_as(id, "disk full");

  EXPECT_EQ(describe(must(reader().failures({}, 10))),
            "main <disk full> events=1 first_at=1700000000000 last_at=1700000000000 last_event=1");
}

TEST_P(StoreConformance, ExpiredReturnsEventsOfOneStatusThatEndedBeforeATime) {
  const EventId a = add("a");
  const EventId b = add("b");
  end_as(b, Status::completed);
  clock().advance(1s);
  end_as(a, Status::completed);
  end_as(add("c"), Status::failed);
  end_as(add("d", [](Event& event) { event.queue = "other"; }), Status::completed);
  clock().advance(1s);
  end_as(add("e"), Status::completed);
  add("live");
  const auto expired = [&](Status status, TimePoint before, std::size_t limit) {
    return names(must(reader().expired("main", status, before, limit)));
  };

  EXPECT_EQ(expired(Status::completed, kStart + 1h, 10), "b a e");
  EXPECT_EQ(expired(Status::completed, kStart + 2s, 10), "b a");
  EXPECT_EQ(expired(Status::completed, kStart, 10), "");
  EXPECT_EQ(expired(Status::completed, kStart + 1h, 2), "b a");
  EXPECT_EQ(expired(Status::completed, kStart + 1h, 0), "");
  EXPECT_EQ(expired(Status::failed, kStart + 1h, 10), "c");
  EXPECT_EQ(expired(Status::cancelled, kStart + 1h, 10), "");
  EXPECT_EQ(names(must(reader().expired("other", Status::completed, kStart + 1h, 10))), "d");
}

TEST_P(StoreConformance, AFailedEventThatBlocksItsLineDoesNotExpire) {
  const EventId id = add_in_line("a", Line::head);
  fail_as(id, "timeout");
  clock().advance(1h);
  EXPECT_EQ(names(must(reader().expired("main", Status::failed, now(), 10))), "");

  change_stored(id, [](Stored& stored) { stored.line = Line::none; });
  EXPECT_EQ(names(must(reader().expired("main", Status::failed, now(), 10))), "a");
}

TEST_P(StoreConformance, RemoveDeletesAnEventAndItsLog) {
  const EventId gone = add("gone");
  const EventId kept = add("kept");
  append(new_entry(gone, Action::picked));
  append(new_entry(kept, Action::picked));
  append(new_entry(gone, Action::completed));
  end_as(gone, Status::completed);
  end_as(kept, Status::completed);

  commit_with([&](Transaction& transaction) {
    const Stored stored = load(transaction, gone);
    LogEntry last = new_entry(gone, Action::cancelled);
    must(transaction.append({&last, 1}));
    must(transaction.remove({&stored, 1}));
    EXPECT_FALSE(must(transaction.find("gone")));
    EXPECT_TRUE(must(transaction.log(gone)).empty());
  });

  EXPECT_FALSE(must(reader().get(gone)));
  EXPECT_FALSE(must(reader().details(gone)));
  EXPECT_TRUE(must(reader().log(gone)).empty());
  EXPECT_FALSE(must(begin()->load({{gone}}, Transaction::EventFields::state)).at(0));
  EXPECT_EQ(names(must(begin()->ended({.queue = "main"})).events), "kept");
  EXPECT_EQ(totals(), "COMPLETED=1 of 1");
  EXPECT_EQ(actions_of(must(reader().log(kept))), "PICKED");
}

TEST_P(StoreConformance, ARemovedEventIsInNoGroupOfFailures) {
  const EventId id = add("a");
  fail_as(id, "timeout");
  commit_with([&](Transaction& transaction) {
    const Stored stored = load(transaction, id);
    must(transaction.remove({&stored, 1}));
  });

  EXPECT_EQ(describe(must(reader().failures({}, 10))), "");
  EXPECT_EQ(names(must(reader().expired("main", Status::failed, now() + 1h, 10))), "");
}

TEST_P(StoreConformance, TheIdOfARemovedEventIsNotReusedButItsGlobalIdCanBe) {
  const EventId id = add("a");
  end_as(id, Status::completed);
  commit_with([&](Transaction& transaction) {
    const Stored stored = load(transaction, id);
    must(transaction.remove({&stored, 1}));
  });

  const EventId again = add("a");

  EXPECT_GT(again, id);
  EXPECT_EQ(must(begin()->find("a")), again);
}

TEST_P(StoreConformance, RemoveIsRefusedWhenTheRowNoLongerMatchesItsGuard) {
  const EventId id = add("a");
  end_as(id, Status::failed);
  Stored stored = load(*begin(), id);
  change(id, [&](Event& event) { requeue(event, now()); });

  const auto removed = begin()->remove({&stored, 1});

  ASSERT_FALSE(removed);
  EXPECT_EQ(describe(removed.error().code), "internal");
  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, ARolledBackRemovalIsUndone) {
  const EventId id = add("a", [](Event& event) { event.payload = "1"; });
  append(new_entry(id, Action::picked));
  append(new_entry(id, Action::failed));
  fail_as(id, "timeout");
  const std::string before = describe(must(reader().details(id)));
  {
    const auto transaction = begin();
    const Stored stored = load(*transaction, id);
    must(transaction->remove({&stored, 1}));
  }

  EXPECT_EQ(describe(must(reader().details(id))), before);
  EXPECT_EQ(must(begin()->find("a")), id);
  EXPECT_EQ(totals(), "FAILED=1 of 1");
  EXPECT_EQ(describe(must(reader().failures({}, 10))),
            "main <timeout> events=1 first_at=1700000000000 last_at=1700000000000 last_event=1");
}

TEST_P(StoreConformance, DetailsAreTheWholeEventAndItsLog) {
  const EventId id = add("a", [](Event& event) {
    event.payload = R"({"n":1})";
    event.pattern = "invoice.created";
  });
  append(new_entry(id, Action::picked));
  append(new_entry(id, Action::started));

  const auto details = must(reader().details(id));

  ASSERT_TRUE(details);
  EXPECT_EQ(describe(details->event), describe(*must(reader().get(id))));
  EXPECT_EQ(details->event.payload, R"({"n":1})");
  EXPECT_EQ(details->event.pattern, "invoice.created");
  EXPECT_EQ(actions_of(details->log), "PICKED,STARTED");
  EXPECT_FALSE(must(reader().details(EventId{404})));
}

TEST_P(StoreConformance, ACorrelationIsKeptAsItWasPut) {
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 5, 1, 2, 3, 4, R"({"title":"done"})", "main"}));
    must(transaction.put_correlation({"C1", 1, 1, 0, 0, 1, "", ""}));
  });
  const auto transaction = begin();

  EXPECT_EQ(describe(must(transaction->find_correlation("c1"))),
            "c1 total=5 pending=1 completed=2 failed=3 kept=4 on_complete={\"title\":\"done\"} queue=main");
  EXPECT_EQ(describe(must(transaction->find_correlation("C1"))),
            "C1 total=1 pending=1 completed=0 failed=0 kept=1 on_complete= queue=");
  EXPECT_EQ(describe(must(transaction->find_correlation("c"))), "(none)");
}

TEST_P(StoreConformance, PutCorrelationReplacesARowAndDeletesItWhenKeptIsZero) {
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 1, 1, 0, 0, 1, "{}", "main"}));
    must(transaction.put_correlation({"c1", 1, 0, 1, 0, 1, "", ""}));
  });
  EXPECT_EQ(describe(must(begin()->find_correlation("c1"))),
            "c1 total=1 pending=0 completed=1 failed=0 kept=1 on_complete= queue=");

  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 1, 0, 1, 0, 0, "", ""}));
    must(transaction.put_correlation({"c2", 1, 0, 1, 0, 0, "", ""}));
  });
  EXPECT_FALSE(must(begin()->find_correlation("c1")));
  EXPECT_FALSE(must(begin()->find_correlation("c2")));
  EXPECT_FALSE(must(reader().correlation("c1", EventId{}, 10)));
}

TEST_P(StoreConformance, ACorrelationIsReadWithItsEventsInTheOrderOfIds) {
  const auto correlated = [](Event& event) { event.correlation_id = "c1"; };
  add("a", correlated);
  add("b");
  end_as(add("c", correlated), Status::completed);
  add("d", [](Event& event) { event.correlation_id = "c2"; });
  add("e", [](Event& event) {
    event.correlation_id = "c1";
    event.queue = "other";
  });
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 7, 6, 5, 4, 3, "{}", "main"}));
  });
  const auto read = [&](EventId after, std::size_t limit) {
    return describe(must(reader().correlation("c1", after, limit)));
  };

  EXPECT_EQ(read(EventId{}, 10), "c1 total=7 pending=6 completed=5 failed=4 events=1,3,5,");
  EXPECT_EQ(read(EventId{}, 2), "c1 total=7 pending=6 completed=5 failed=4 events=1,3,");
  EXPECT_EQ(read(EventId{1}, 10), "c1 total=7 pending=6 completed=5 failed=4 events=3,5,");
  EXPECT_EQ(read(EventId{5}, 10), "c1 total=7 pending=6 completed=5 failed=4 events=");
  EXPECT_EQ(read(EventId{}, 0), "c1 total=7 pending=6 completed=5 failed=4 events=");
  EXPECT_EQ(describe(must(reader().correlation("c2", EventId{}, 10))), "(none)");
}

TEST_P(StoreConformance, TheEventsOfACorrelationHaveTheirSequenceAndNoPayload) {
  add("a", [](Event& event) {
    event.correlation_id = "c1";
    event.description = "d";
    event.sequence = 4;
  });
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 1, 1, 0, 0, 1, "", ""}));
  });

  const auto correlation = must(reader().correlation("c1", EventId{}, 10));

  ASSERT_TRUE(correlation);
  ASSERT_EQ(correlation->events.size(), 1U);
  EXPECT_EQ(correlation->events[0].event_id, "a");
  EXPECT_EQ(correlation->events[0].title, "mail");
  EXPECT_EQ(correlation->events[0].sequence, 4);
  EXPECT_EQ(correlation->events[0].payload, "");
  EXPECT_EQ(correlation->events[0].description, std::nullopt);
}

TEST_P(StoreConformance, TheOldestPendingEventIsTheOnePublishedFirst) {
  const auto oldest = [&] { return must(begin()->oldest_pending("main")); };
  EXPECT_EQ(oldest(), std::nullopt);

  add("other", [](Event& event) { event.queue = "other"; });
  clock().advance(1s);
  const EventId first = add_in_line("first", Line::behind);
  clock().advance(1s);
  const EventId second = add("second");
  clock().advance(1s);
  add("delayed", [&](Event& event) { event.due_at = now() + 1h; });
  EXPECT_EQ(oldest(), kStart + 1s);

  end_as(first, Status::cancelled);
  EXPECT_EQ(oldest(), kStart + 2s);

  change(second, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(oldest(), kStart + 3s);
  EXPECT_EQ(must(begin()->oldest_pending("nobody")), std::nullopt);
}

}  // namespace
}  // namespace eventq
