// ready_test.cc: the ready index: which events a claim returns, and how promote() adds events that are due.
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

// Edits of a new event, for add().
auto tagged(std::vector<std::string> tags) {
  return [tags = std::move(tags)](Event& event) { event.tags = tags; };
}

auto of_priority(int priority) {
  return [priority](Event& event) { event.priority = priority; };
}

auto due(TimePoint due_at) {
  return [due_at](Event& event) { event.due_at = due_at; };
}

TEST_P(StoreConformance, AClaimWithoutTagsFindsEveryReadyEventOfTheQueue) {
  add("a", tagged({"x"}));
  add("b", tagged({"y", "z"}));

  EXPECT_EQ(claimable({"main", {}}), "a b");
}

TEST_P(StoreConformance, AClaimFindsAnEventByAnyOfItsTags) {
  add("a", tagged({"x", "y", "z"}));

  EXPECT_EQ(claimable({"main", {"x"}}), "a");
  EXPECT_EQ(claimable({"main", {"y"}}), "a");
  EXPECT_EQ(claimable({"main", {"z"}}), "a");
  EXPECT_EQ(claimable({"main", {"w"}}), "");
}

TEST_P(StoreConformance, AClaimForSeveralTagsFindsEventsOfAnyOfThemInOneOrder) {
  add("a", tagged({"y"}));
  add("b", tagged({"x"}));
  add("c", tagged({"w"}));
  add("d", tagged({"y"}));
  add("e", tagged({"x"}));

  EXPECT_EQ(claimable({"main", {"x", "y"}}), "a b d e");
  EXPECT_EQ(claimable({"main", {"y", "x"}}), "a b d e");
}

TEST_P(StoreConformance, AnEventWithSeveralOfTheTagsIsFoundOnce) {
  add("a", tagged({"x", "y"}));
  add("b", tagged({"y", "x"}));

  EXPECT_EQ(claimable({"main", {"x", "y"}}), "a b");
  EXPECT_EQ(claimable({"main", {"x", "y"}}, 2), "a b");
}

TEST_P(StoreConformance, AClaimStopsAfterTheEventThatBringsItToThirtyTwoMebibytes) {
  for (int i = 0; i < 34; ++i) {
    add("event" + std::to_string(i), [](Event& event) { event.payload = std::string(1024 * 1024, '1'); });
  }

  const auto transaction = begin();
  EXPECT_EQ(must(transaction->claim({"main", {}}, 1000)).size(), 32U);
}

TEST_P(StoreConformance, ATagIsComparedLetterByLetter) {
  add("a", tagged({"email"}));

  EXPECT_EQ(claimable({"main", {"Email"}}), "");
  EXPECT_EQ(claimable({"main", {"emai"}}), "");
  EXPECT_EQ(claimable({"main", {"email."}}), "");
}

TEST_P(StoreConformance, AClaimReturnsHighestPriorityFirstThenLowestId) {
  add("low", of_priority(-1'000'000));
  add("first", of_priority(0));
  add("high", of_priority(1'000'000));
  add("second", of_priority(0));
  add("mid", of_priority(5));

  EXPECT_EQ(claimable({"main", {}}), "high mid first second low");
  EXPECT_EQ(claimable({"main", {"email"}}), "high mid first second low");
}

TEST_P(StoreConformance, PriorityOrdersClaimsBeforeIdAcrossTags) {
  add("a", [](Event& event) { event.tags = {"x"}; });
  add("b", [](Event& event) {
    event.tags = {"y"};
    event.priority = 1;
  });

  EXPECT_EQ(claimable({"main", {"x", "y"}}, 1), "b");
}

TEST_P(StoreConformance, AClaimReturnsTheFirstEventsUpToItsLimit) {
  for (const char* name : {"a", "b", "c", "d"}) add(name);
  add("best", of_priority(1));

  EXPECT_EQ(claimable({"main", {}}, 0), "");
  EXPECT_EQ(claimable({"main", {}}, 1), "best");
  EXPECT_EQ(claimable({"main", {}}, 3), "best a b");
  EXPECT_EQ(claimable({"main", {"email"}}, 3), "best a b");
  EXPECT_EQ(claimable({"main", {}}, 5), "best a b c d");
}

TEST_P(StoreConformance, AClaimLeavesOtherQueuesAlone) {
  add("a", [](Event& event) { event.queue = "other"; });
  add("b");

  EXPECT_EQ(claimable({"main", {}}), "b");
  EXPECT_EQ(claimable({"other", {"email"}}), "a");
  EXPECT_EQ(claimable({"nobody", {}}), "");
}

TEST_P(StoreConformance, AClaimReturnsNoEventBeforeItsDueTime) {
  add("retry", due(now() + 5min));
  add("held", [&](Event& event) { hold(event, "w:1", now() + 60s); });

  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, AClaimDoesNotPromoteByItself) {
  add("a", due(now() + 1s));
  clock().advance(2s);

  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, AClaimReturnsNoEndedEvent) {
  end_as(add("a"), Status::completed);
  end_as(add("b"), Status::failed);

  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, AClaimReturnsWholeEvents) {
  const EventId id = add("a", [](Event& event) {
    event.payload = R"({"n":1})";
    event.description = "d";
  });

  const std::vector<Stored> claimed = must(begin()->claim({"main", {}}, 10));

  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed[0].event.id, id);
  EXPECT_EQ(claimed[0].event.payload, R"({"n":1})");
  EXPECT_EQ(claimed[0].event.description, "d");
  EXPECT_EQ(stored_as(claimed[0]), "PENDING 0 - live ready");
}

TEST_P(StoreConformance, AClaimChangesNothing) {
  const EventId id = add("a");
  const std::string before = describe(*must(reader().get(id)));
  {
    const auto transaction = begin();
    EXPECT_EQ(claimable(*transaction, {"main", {}}), "a");
    must(transaction->commit());
  }

  EXPECT_EQ(describe(*must(reader().get(id))), before);
  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, AClaimSkipsEventsClaimedInTheSameTransaction) {
  add("a");
  add("b");
  const auto transaction = begin();
  std::vector<Stored> first = must(transaction->claim({"main", {}}, 1));
  hold(first.at(0).event, "w:1", now() + 60s);
  must(transaction->save(first));

  EXPECT_EQ(claimable(*transaction, {"main", {}}), "b");
}

TEST_P(StoreConformance, TheFirstClaimWithoutTagsFindsEventsThatWereReadyBefore) {
  add("a", tagged({"x", "y"}));
  add("b", of_priority(1));
  add("late", due(now() + 1h));
  EXPECT_EQ(claimable({"main", {"x"}}), "a");

  EXPECT_EQ(claimable({"main", {}}), "b a");
}

TEST_P(StoreConformance, AClaimWithoutTagsFindsEventsThatBecameReadyLater) {
  const auto claim_committed = [&] {
    const auto transaction = begin();
    must(transaction->promote(100));
    must(transaction->claim({"main", {}}, 1));
    must(transaction->commit());
  };
  must(begin()->claim({"main", {}}, 1));  // rolled back
  add("a");
  claim_committed();
  add("b");
  add("c", due(now() + 1s));
  clock().advance(1s);
  claim_committed();

  EXPECT_EQ(claimable({"main", {}}), "a b c");
}

TEST_P(StoreConformance, AClaimWithoutTagsSkipsAnEventClaimedByTag) {
  const EventId id = add("a");
  add("b");
  {
    const auto transaction = begin();
    must(transaction->claim({"main", {}}, 1));
    must(transaction->commit());
  }

  change(id, [&](Event& event) { hold(event, "w:1", now() + 60s); });

  EXPECT_EQ(claimable({"main", {}}), "b");
  EXPECT_EQ(claimable({"main", {"email"}}), "b");
}

TEST_P(StoreConformance, PromoteMakesADueEventClaimable) {
  add("a", due(now() + 1s));
  clock().advance(1s);
  auto transaction = begin();

  const std::vector<Stored> promoted = must(transaction->promote(100));

  ASSERT_EQ(names(promoted), "a");
  EXPECT_EQ(stored_as(promoted[0]), "PENDING 0 - live ready");
  EXPECT_EQ(claimable(*transaction, {"main", {"email"}}), "a");
  commit(transaction);
  EXPECT_EQ(claimable(), "a");
}

TEST_P(StoreConformance, PromoteMakesAnEventWhoseLeaseEndedClaimable) {
  add("a", [&](Event& event) { hold(event, "w:1", now() + 60s); });
  clock().advance(60s);
  const auto transaction = begin();

  const std::vector<Stored> promoted = must(transaction->promote(100));

  ASSERT_EQ(names(promoted), "a");
  EXPECT_EQ(stored_as(promoted[0]), "PROCESSING 1 w:1 live ready");
  EXPECT_EQ(claimable(*transaction, {"main", {}}), "a");
}

TEST_P(StoreConformance, PromoteSkipsEventsThatAreNotDue) {
  add("retry", due(now() + 1s));
  add("held", [&](Event& event) { hold(event, "w:1", now() + 1s); });
  clock().advance(999ms);

  EXPECT_EQ(names(must(begin()->promote(100))), "");
}

TEST_P(StoreConformance, PromoteUsesTheTransactionsTime) {
  add("a", due(now() + 1h));

  EXPECT_EQ(names(must(must(store().begin(now() + 1h))->promote(100))), "a");
}

TEST_P(StoreConformance, PromoteSkipsReadyEvents) {
  add("a");

  EXPECT_EQ(names(must(begin()->promote(100))), "");
}

TEST_P(StoreConformance, PromoteSkipsEndedEvents) {
  const EventId id = add("a", due(now() + 1s));
  end_as(id, Status::cancelled);
  clock().advance(1h);

  EXPECT_EQ(names(must(begin()->promote(100))), "");
}

TEST_P(StoreConformance, PromoteReturnsTheLongestDueFirstUpToItsLimit) {
  add("c", due(now() + 3s));
  add("a", due(now() + 1s));
  add("d", due(now() + 4s));
  add("b", due(now() + 2s));
  clock().advance(1h);
  const auto transaction = begin();

  EXPECT_EQ(names(must(transaction->promote(3))), "a b c");
  EXPECT_EQ(names(must(transaction->promote(3))), "d");
  EXPECT_EQ(names(must(transaction->promote(3))), "");
}

TEST_P(StoreConformance, PromoteReturnsStateFieldsOnly) {
  add("a", [&](Event& event) {
    event.due_at = now() + 1s;
    event.payload = R"({"n":1})";
    event.description = "d";
  });
  clock().advance(1s);

  const std::vector<Stored> promoted = must(begin()->promote(1));

  ASSERT_EQ(promoted.size(), 1U);
  EXPECT_EQ(describe(promoted[0].event),
            "1 PENDING a queue=main title= description=(none) tags=email payload= correlation_id= priority=0 "
            "max_retries=3 attempts=0 retry_count=0 unreported=0 worker_id= created_at=1700000000000 "
            "due_at=1700000001000 updated_at=1700000000000");
}

TEST_P(StoreConformance, APromotedEventCanBeSaved) {
  const EventId id = add("a", [&](Event& event) { hold(event, "w:1", now() + 1s); });
  clock().advance(1s);
  {
    const auto transaction = begin();
    std::vector<Stored> promoted = must(transaction->promote(1));
    end(promoted.at(0).event, Status::failed, now());
    must(transaction->save(promoted));
    must(transaction->commit());
  }

  EXPECT_EQ(stored_as(load(*begin(), id)), "FAILED 1 w:1 archived");
  EXPECT_EQ(claimable(), "");
}

TEST_P(StoreConformance, NextDueIsTheEarliestDueTime) {
  EXPECT_EQ(must(begin()->next_due()), std::nullopt);

  add("ready");
  EXPECT_EQ(must(begin()->next_due()), std::nullopt);

  add("late", due(now() + 5min));
  EXPECT_EQ(must(begin()->next_due()), now() + 5min);

  add("held", [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(must(begin()->next_due()), now() + 60s);
}

TEST_P(StoreConformance, NextDueIgnoresPromotedAndEndedEvents) {
  const EventId first = add("a", due(now() + 1s));
  add("b", due(now() + 2s));
  add("c", due(now() + 3s));

  end_as(first, Status::cancelled);
  EXPECT_EQ(must(begin()->next_due()), now() + 2s);

  clock().advance(2s);
  const auto transaction = begin();
  must(transaction->promote(100));
  EXPECT_EQ(must(transaction->next_due()), now() + 1s);
}

TEST_P(StoreConformance, NextDueCanBeInThePast) {
  add("a", due(now() + 1s));
  clock().advance(1h);

  EXPECT_EQ(must(begin()->next_due()), kStart + 1s);
}

// The unattended events of one queue.
std::int64_t unattended(Reader& reader, const std::string& queue, std::vector<std::string> asked) {
  return must(reader.unattended(std::vector<AskedTags>{{queue, std::move(asked)}})).at(0);
}

TEST_P(StoreConformance, AnEventIsAttendedIfOneOfItsTagsIsAskedFor) {
  add("a", tagged({"x"}));
  add("b", tagged({"y"}));
  add("c", tagged({"y", "z", "x"}));
  add("d", tagged({"z", "y"}));

  EXPECT_EQ(unattended(reader(), "main", {}), 4);
  EXPECT_EQ(unattended(reader(), "main", {"x"}), 2);
  EXPECT_EQ(unattended(reader(), "main", {"y"}), 1);
  EXPECT_EQ(unattended(reader(), "main", {"x", "z"}), 1);
  EXPECT_EQ(unattended(reader(), "main", {"x", "y"}), 0);
  EXPECT_EQ(unattended(reader(), "main", {"X", "yy"}), 4);
}

TEST_P(StoreConformance, UnattendedEventsAreCountedForEachQueueInTheOrderAsked) {
  add("a", tagged({"x"}));
  add("b", [](Event& event) { event.queue = "other"; });
  add("c", [](Event& event) { event.queue = "other"; });

  const std::vector<AskedTags> asked = {{"other", {}}, {"none", {}}, {"main", {"x"}}, {"main", {}}};
  EXPECT_EQ(must(reader().unattended(asked)), (std::vector<std::int64_t>{2, 0, 0, 1}));
  EXPECT_EQ(must(reader().unattended({})), std::vector<std::int64_t>());
}

TEST_P(StoreConformance, OnlyEventsThatCanRunNowAreUnattended) {
  add("later", due(now() + 60s));
  const EventId held = add("held");
  change(held, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  end_as(add("ended"), Status::completed);
  EXPECT_EQ(unattended(reader(), "main", {}), 0);

  clock().advance(61s);
  commit_with([](Transaction& transaction) { must(transaction.promote(100)); });
  EXPECT_EQ(unattended(reader(), "main", {}), 2);
}

TEST_P(StoreConformance, AClaimWithoutTagsDoesNotChangeWhatIsUnattended) {
  add("a", tagged({"x", "y"}));
  EXPECT_EQ(claimable({"main", {}}), "a");
  add("b", tagged({"x"}));

  EXPECT_EQ(unattended(reader(), "main", {}), 2);
  EXPECT_EQ(unattended(reader(), "main", {"y"}), 1);
}

TEST_P(StoreConformance, UnattendedEventsAreCountedUpToAThousand) {
  int added = 0;
  const auto add_many = [&](int events) {
    std::vector<Stored> all;
    for (int i = 0; i < events; ++i) {
      all.push_back(new_event("event" + std::to_string(++added), now()));
      all.back().event.tags = {"x", "y"};
    }
    commit_with([&](Transaction& transaction) { must(transaction.insert(all)); });
  };
  add_many(999);
  EXPECT_EQ(unattended(reader(), "main", {"z"}), 999);
  add_many(1);
  EXPECT_EQ(unattended(reader(), "main", {"z"}), 1000);
  add_many(1);
  EXPECT_EQ(unattended(reader(), "main", {"z"}), 1000);
  EXPECT_EQ(unattended(reader(), "main", {}), 1000);
  EXPECT_EQ(unattended(reader(), "main", {"y"}), 0);
}

}  // namespace
}  // namespace eventq
