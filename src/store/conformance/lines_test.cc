// lines_test.cc: lines of events with an ordering_key, turns, and events found by supersede_key.
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe_records.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

// `line` and `line_before` as text: "head from behind".
std::string line_of(const Stored& stored) {
  return describe(stored.line) + " from " + describe(stored.line_before);
}

TEST_P(StoreConformance, InsertKeepsAnEventsPlaceInLine) {
  const EventId none = add("a");
  const EventId head = add_in_line("b", Line::head);
  const EventId behind = add_in_line("c", Line::behind);
  const auto transaction = begin();

  EXPECT_EQ(line_of(load(*transaction, none)), "none from none");
  EXPECT_EQ(line_of(load(*transaction, head)), "head from head");
  EXPECT_EQ(line_of(load(*transaction, behind)), "behind from behind");
}

TEST_P(StoreConformance, SaveKeepsAnEventsPlaceInLineAndRefreshesLineBefore) {
  const EventId id = add_in_line("a", Line::behind);
  auto transaction = begin();
  Stored stored = load(*transaction, id);
  stored.line = Line::head;

  must(transaction->save({&stored, 1}));

  EXPECT_EQ(line_of(stored), "head from head");
  commit(transaction);
  EXPECT_EQ(line_of(load(*begin(), id)), "head from head");
}

TEST_P(StoreConformance, OnlyTheHeadOfALineIsReady) {
  std::vector<Stored> events = {new_event("a", now()), new_event("b", now())};
  for (Stored& stored : events) stored.event.ordering_key = "key";
  events[0].line = Line::head;
  events[1].line = Line::behind;

  must(begin()->insert(events));

  EXPECT_EQ(stored_as(events[0]), "PENDING 0 - live ready");
  EXPECT_EQ(stored_as(events[1]), "PENDING 0 - live");
}

TEST_P(StoreConformance, AClaimReturnsNoEventBehindAHead) {
  add_in_line("a", Line::head);
  add_in_line("b", Line::behind);

  EXPECT_EQ(claimable({"main", {}}), "a");
  EXPECT_EQ(claimable({"main", {"email"}}), "a");
}

TEST_P(StoreConformance, PromoteSkipsEventsBehindAHeadEvenWhenDue) {
  add_in_line("a", Line::behind, [&](Event& event) { event.due_at = now() + 1s; });
  add_in_line("b", Line::behind);
  add_in_line("c", Line::head, [&](Event& event) { event.due_at = now() + 2s; });
  clock().advance(1h);

  EXPECT_EQ(names(must(begin()->promote(100))), "c");
}

TEST_P(StoreConformance, NextDueIgnoresEventsBehindAHead) {
  add_in_line("a", Line::behind, [&](Event& event) { event.due_at = now() + 1s; });
  EXPECT_EQ(must(begin()->next_due()), std::nullopt);

  add_in_line("b", Line::head, [&](Event& event) { event.due_at = now() + 2s; });
  EXPECT_EQ(must(begin()->next_due()), now() + 2s);
}

TEST_P(StoreConformance, AnEventSavedBehindAHeadIsNotReady) {
  const EventId id = add_in_line("a", Line::behind);

  change(id, [&](Event& event) { requeue(event, now()); });
  EXPECT_EQ(claimable(), "");

  move_to(Line::head, id);
  EXPECT_EQ(claimable(), "a");

  move_to(Line::behind, id);
  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, AnEventThatBecomesHeadBeforeItIsDueIsNotReady) {
  const EventId id = add_in_line("a", Line::behind, [&](Event& event) { event.due_at = now() + 5s; });

  move_to(Line::head, id);

  EXPECT_EQ(claimable(), "");
  EXPECT_EQ(must(begin()->next_due()), now() + 5s);
  clock().advance(5s);
  EXPECT_EQ(names(must(begin()->promote(100))), "a");
}

TEST_P(StoreConformance, AnEventThatBecomesHeadGetsATurnAfterAllReadyEvents) {
  const EventId a = add_in_line("a", Line::head);
  const EventId b = add_in_line("b", Line::behind);
  add("c");
  add("d");
  EXPECT_EQ(claimable(), "a c d");

  end_as(a, Status::completed);
  move_to(Line::head, b);
  add("e");

  EXPECT_EQ(claimable({"main", {}}), "c d b e");
  EXPECT_EQ(claimable({"main", {"email"}}), "c d b e");
  EXPECT_EQ(claimable({"main", {"email"}}, 3), "c d b");
}

TEST_P(StoreConformance, TheFirstClaimWithoutTagsUsesTheTurnsAssignedBefore) {
  const EventId a = add_in_line("a", Line::behind);
  add("b");
  move_to(Line::head, a);
  add("c");
  EXPECT_EQ(claimable({"main", {"email"}}), "b a c");

  EXPECT_EQ(claimable({"main", {}}), "b a c");
}

TEST_P(StoreConformance, PriorityOrdersClaimsBeforeTurn) {
  const EventId a = add_in_line("a", Line::behind, [](Event& event) { event.priority = 1; });
  add("b");
  add("c", [](Event& event) { event.priority = 2; });

  move_to(Line::head, a);

  EXPECT_EQ(claimable(), "c a b");
}

TEST_P(StoreConformance, EventsThatBecomeHeadGetTurnsInThatOrder) {
  const EventId a = add_in_line("a", Line::behind, [](Event& event) { event.ordering_key = "x"; });
  const EventId b = add_in_line("b", Line::behind, [](Event& event) { event.ordering_key = "y"; });
  const EventId c = add_in_line("c", Line::behind, [](Event& event) { event.ordering_key = "z"; });
  const auto transaction = begin();
  std::vector<Stored> moved = {load(*transaction, c), load(*transaction, a), load(*transaction, b)};
  for (Stored& stored : moved) stored.line = Line::head;

  must(transaction->save(moved));

  EXPECT_EQ(claimable(*transaction, {"main", {}}), "c a b");
}

TEST_P(StoreConformance, ANewEventsTurnIsItsId) {
  std::vector<Stored> events = {new_event("a", now()), new_event("b", now() + 1h)};
  events[1].event.ordering_key = "key";
  events[1].line = Line::behind;
  const auto transaction = begin();

  must(transaction->insert(events));

  for (const Stored& stored : events) {
    EXPECT_EQ(stored.turn, static_cast<std::int64_t>(stored.event.id));
    EXPECT_EQ(load(*transaction, stored.event.id).turn, stored.turn);
  }
}

TEST_P(StoreConformance, ANewTurnIsNeverTheIdOfAnEvent) {
  const EventId a = add_in_line("a", Line::behind);
  const EventId b = add("b");
  auto transaction = begin();
  Stored stored = load(*transaction, a);
  stored.line = Line::head;
  must(transaction->save({&stored, 1}));
  commit(transaction);

  EXPECT_GT(stored.turn, static_cast<std::int64_t>(b));
  EXPECT_EQ(load(*begin(), a).turn, stored.turn);
  EXPECT_GT(static_cast<std::int64_t>(add("c")), stored.turn);
}

TEST_P(StoreConformance, ATurnIsKeptThroughClaimRetryAndPromotion) {
  const EventId a = add_in_line("a", Line::behind);
  add("b");
  move_to(Line::head, a);
  add("c");

  change(a, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(claimable(), "b c");

  change(a, [&](Event& event) { requeue(event, now() + 1s); });
  clock().advance(1s);
  commit_with([](Transaction& transaction) { must(transaction.promote(100)); });
  EXPECT_EQ(claimable(), "b a c");
}

TEST_P(StoreConformance, AnEventRevivedFromTheArchiveHasItsFirstTurnAgain) {
  const EventId a = add("a");
  add("b");
  end_as(a, Status::failed);
  add("c");

  change(a, [&](Event& event) { requeue(event, now()); });

  EXPECT_EQ(claimable(), "a b c");
}

TEST_P(StoreConformance, TheHeadOfALineIsFoundByQueueAndKey) {
  add_in_line("a", Line::head);
  add_in_line("b", Line::behind);
  add_in_line("c", Line::head, [](Event& event) { event.ordering_key = "Key"; });
  add_in_line("d", Line::head, [](Event& event) { event.queue = "other"; });
  add_in_line("e", Line::behind, [](Event& event) { event.ordering_key = "it's gr\xC3\xBCn"; });
  const auto transaction = begin();

  const auto head = [&](const std::string& queue, const std::string& key) {
    return name_of_event(must(transaction->head_of_line(queue, key)));
  };
  EXPECT_EQ(head("main", "key"), "a");
  EXPECT_EQ(head("main", "Key"), "c");
  EXPECT_EQ(head("other", "key"), "d");
  EXPECT_EQ(head("other", "Key"), "nobody");
  EXPECT_EQ(head("main", "ke"), "nobody");
  EXPECT_EQ(head("main", "it's gr\xC3\xBCn"), "nobody");
  EXPECT_EQ(name_of_event(must(transaction->first_behind("main", "it's gr\xC3\xBCn"))), "e");
}

TEST_P(StoreConformance, AHeadStaysHeadWhileItIsProcessing) {
  const EventId id = add_in_line("a", Line::head);
  change(id, [&](Event& event) { hold(event, "w:1", now() + 60s); });

  const auto head = must(begin()->head_of_line("main", "key"));

  ASSERT_EQ(name_of_event(head), "a");
  EXPECT_EQ(stored_as(*head), "PROCESSING 1 w:1 live");
  EXPECT_EQ(line_of(*head), "head from head");
}

TEST_P(StoreConformance, AnEventThatEndsAndLeavesTheLineIsNotItsHead) {
  const EventId id = add_in_line("a", Line::head);
  end_as(id, Status::completed);

  EXPECT_EQ(name_of_event(must(begin()->head_of_line("main", "key"))), "nobody");
  EXPECT_EQ(line_of(load(*begin(), id)), "none from none");
}

TEST_P(StoreConformance, AFailedEventThatStaysInLineIsItsHead) {
  const EventId id = add_in_line("a", Line::head);
  add_in_line("b", Line::behind);
  fail_as(id, "disk full");

  const auto head = must(begin()->head_of_line("main", "key"));

  ASSERT_EQ(name_of_event(head), "a");
  EXPECT_EQ(stored_as(*head), "FAILED 0 - archived");
  EXPECT_EQ(line_of(*head), "head from head");
  EXPECT_EQ(line_of(load(*begin(), id)), "head from head");
  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, AFailedHeadCanBeResetAndLeadsItsLineAgain) {
  const EventId id = add_in_line("a", Line::head);
  fail_as(id, "disk full");
  commit_with([&](Transaction& transaction) {
    auto head = must(transaction.head_of_line("main", "key"));
    ASSERT_TRUE(head);
    requeue(head->event, now());
    must(transaction.save({&*head, 1}));
  });

  EXPECT_EQ(name_of_event(must(begin()->head_of_line("main", "key"))), "a");
  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, AFailedHeadCanBeCancelledAndLeavesItsLine) {
  const EventId id = add_in_line("a", Line::head);
  fail_as(id, "disk full");

  end_as(id, Status::cancelled);

  EXPECT_EQ(name_of_event(must(begin()->head_of_line("main", "key"))), "nobody");
}

TEST_P(StoreConformance, TheFirstBehindIsTheOnePublishedFirst) {
  add_in_line("a", Line::head);
  const EventId b = add_in_line("b", Line::behind);
  add_in_line("c", Line::behind, [](Event& event) { event.priority = 9; });
  const auto first = [&] { return name_of_event(must(begin()->first_behind("main", "key"))); };
  EXPECT_EQ(first(), "b");

  end_as(b, Status::cancelled);
  EXPECT_EQ(first(), "c");

  change_stored(b, [&](Stored& stored) {
    requeue(stored.event, now());
    stored.line = Line::behind;
  });
  EXPECT_EQ(first(), "b");
}

TEST_P(StoreConformance, ALineOfOneEventHasNoFirstBehind) {
  add_in_line("a", Line::head);
  add_in_line("b", Line::behind, [](Event& event) { event.queue = "other"; });
  add_in_line("c", Line::behind, [](Event& event) { event.ordering_key = "KEY"; });

  EXPECT_EQ(name_of_event(must(begin()->first_behind("main", "key"))), "nobody");
}

TEST_P(StoreConformance, TheFirstBehindCanBeMovedToTheHead) {
  const EventId a = add_in_line("a", Line::head);
  add_in_line("b", Line::behind);
  const auto transaction = begin();
  Stored leaving = load(*transaction, a);
  end(leaving.event, Status::completed, now());
  leaving.line = Line::none;
  must(transaction->save({&leaving, 1}));

  auto next = must(transaction->first_behind("main", "key"));
  ASSERT_TRUE(next);
  EXPECT_EQ(line_of(*next), "behind from behind");
  next->line = Line::head;
  must(transaction->save({&*next, 1}));

  EXPECT_TRUE(next->ready);
  EXPECT_EQ(name_of_event(must(transaction->head_of_line("main", "key"))), "b");
  EXPECT_EQ(name_of_event(must(transaction->first_behind("main", "key"))), "nobody");
}

TEST_P(StoreConformance, ARolledBackMoveInLineIsUndone) {
  const EventId a = add_in_line("a", Line::head);
  const EventId b = add_in_line("b", Line::behind);
  {
    const auto transaction = begin();
    std::vector<Stored> events = {load(*transaction, a), load(*transaction, b)};
    end(events[0].event, Status::failed, now());
    events[0].line = Line::none;
    events[0].cause = "disk full";
    events[1].line = Line::head;
    must(transaction->save(events));
  }
  const auto transaction = begin();

  EXPECT_EQ(name_of_event(must(transaction->head_of_line("main", "key"))), "a");
  EXPECT_EQ(name_of_event(must(transaction->first_behind("main", "key"))), "b");
  EXPECT_EQ(load(*transaction, b).turn, static_cast<std::int64_t>(b));
  EXPECT_EQ(claimable(*transaction, {"main", {}}), "a");
}

TEST_P(StoreConformance, PendingEventsAreFoundByTheirSupersedeKeyInTheOrderOfIds) {
  const auto keyed = [](Event& event) { event.supersede_key = "cart 9"; };
  add("a", keyed);
  change(add("b", keyed), [&](Event& event) { hold(event, "w:1", now() + 60s); });
  end_as(add("c", keyed), Status::superseded);
  add("d", [&](Event& event) {
    keyed(event);
    event.due_at = now() + 1h;
  });
  add("e", [&](Event& event) {
    keyed(event);
    event.queue = "other";
  });
  add("f", [](Event& event) { event.supersede_key = "Cart 9"; });
  add("g");
  const auto transaction = begin();

  EXPECT_EQ(names(must(transaction->with_supersede_key("main", "cart 9"))), "a d");
  EXPECT_EQ(names(must(transaction->with_supersede_key("other", "cart 9"))), "e");
  EXPECT_EQ(names(must(transaction->with_supersede_key("main", "cart"))), "");
}

TEST_P(StoreConformance, AnEventThatIsPendingAgainIsFoundByItsSupersedeKey) {
  const EventId id = add("a", [](Event& event) { event.supersede_key = "cart 9"; });
  change(id, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(names(must(begin()->with_supersede_key("main", "cart 9"))), "");

  change(id, [&](Event& event) { requeue(event, now()); });
  EXPECT_EQ(names(must(begin()->with_supersede_key("main", "cart 9"))), "a");
}

TEST_P(StoreConformance, AnEventRevivedFromTheArchiveIsFoundByItsSupersedeKey) {
  const EventId id = add("a", [](Event& event) { event.supersede_key = "cart 9"; });
  end_as(id, Status::failed);
  EXPECT_EQ(names(must(begin()->with_supersede_key("main", "cart 9"))), "");

  change(id, [&](Event& event) { requeue(event, now()); });
  EXPECT_EQ(names(must(begin()->with_supersede_key("main", "cart 9"))), "a");
}

}  // namespace
}  // namespace eventq
