// reader_test.cc: Reader: single events, and lists with their totals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

TEST_P(StoreConformance, GetReturnsAWholeEventLiveOrEnded) {
  const EventId id = add("a", [](Event& event) {
    event.payload = R"({"n":1})";
    event.description = "d";
  });
  const std::string live = describe(*must(reader().get(id)));
  end_as(id, Status::completed);
  const std::string ended = describe(*must(reader().get(id)));

  EXPECT_EQ(live,
            "1 PENDING a queue=main title=mail description=d tags=email payload={\"n\":1} correlation_id= "
            "priority=0 max_retries=3 attempts=0 retry_count=0 unreported=0 worker_id= "
            "created_at=1700000000000 due_at=1700000000000 updated_at=1700000000000");
  EXPECT_EQ(ended,
            "1 COMPLETED a queue=main title=mail description=d tags=email payload={\"n\":1} correlation_id= "
            "priority=0 max_retries=3 attempts=0 retry_count=0 unreported=0 worker_id= "
            "created_at=1700000000000 due_at=1700000000000 updated_at=1700000000000");
}

TEST_P(StoreConformance, GetOfAnUnknownEventReturnsNothing) {
  add("a");

  EXPECT_FALSE(must(reader().get(EventId{404})));
  EXPECT_FALSE(must(reader().get(EventId{0})));
  EXPECT_FALSE(must(reader().get(EventId{-1})));
}

TEST_P(StoreConformance, FindReturnsTheNumberOfEachNameInTheOrderOfTheNames) {
  const EventId live = add("a");
  const EventId ended = add("17");
  end_as(ended, Status::completed);
  const std::vector<std::string> names = {"17", "A", "a", "", "17", "b"};

  EXPECT_THAT(must(reader().find(names)),
              testing::ElementsAre(ended, std::nullopt, live, std::nullopt, ended, std::nullopt));
  EXPECT_THAT(must(reader().find({})), testing::IsEmpty());
}

TEST_P(StoreConformance, AnOpenReaderSeesLaterCommits) {
  const EventId id = add("a");
  EXPECT_EQ(name_of(must(reader().get(id))->status), "PENDING");

  end_as(id, Status::completed);

  EXPECT_EQ(name_of(must(reader().get(id))->status), "COMPLETED");
}

TEST_P(StoreConformance, SeveralReadersSeeTheSame) {
  const EventId id = add("a");
  const auto other = must(store().reader());

  EXPECT_EQ(describe(*must(other->get(id))), describe(*must(reader().get(id))));
}

TEST_P(StoreConformance, AListIsInTheOrderOfIdsLiveAndEndedAlike) {
  add_a_to_k();

  EXPECT_EQ(listed({}), "a b c d e f g h i j k of 11");
}

TEST_P(StoreConformance, EachListFilterReturnsOnlyMatchingEvents) {
  struct Row {
    std::string name;
    ListFilter filter;
    std::string listed;
  };
  const Row rows[] = {
      {"pending", {.status = Status::pending}, "a b c d of 4"},
      {"processing", {.status = Status::processing}, "e f of 2"},
      {"completed", {.status = Status::completed}, "g of 1"},
      {"completed with errors", {.status = Status::completed_with_errors}, "h of 1"},
      {"failed", {.status = Status::failed}, "i of 1"},
      {"cancelled", {.status = Status::cancelled}, "j of 1"},
      {"superseded", {.status = Status::superseded}, "k of 1"},
      {"one tag", {.tags = {"x"}}, "a b of 2"},
      {"any of two tags", {.tags = {"x", "z"}}, "a b g h i j k of 7"},
      {"a tag nobody has", {.tags = {"nobody"}}, " of 0"},
      {"queue main", {.queue = "main"}, "a b c e f g h i j k of 10"},
      {"another queue", {.queue = "other"}, "d of 1"},
      {"a queue that is not", {.queue = "nobody"}, " of 0"},
      {"worker", {.worker_id = "w:1"}, "e g h of 3"},
      {"no worker", {.worker_id = ""}, "a b c d j k of 6"},
      {"correlation", {.correlation_id = "corr"}, "c of 1"},
      {"event_id of a live event", {.event_id = "c"}, "c of 1"},
      {"event_id of an ended event", {.event_id = "i"}, "i of 1"},
      {"an event_id that no event has", {.event_id = "nobody"}, " of 0"},
      {"event_id and another status", {.status = Status::failed, .event_id = "c"}, " of 0"},
      {"event_id and queue", {.event_id = "d", .queue = "other"}, "d of 1"},
      {"event_id and another correlation", {.event_id = "a", .correlation_id = "corr"}, " of 0"},
      {"status and queue", {.status = Status::pending, .queue = "main"}, "a b c of 3"},
      {"ended status and queue", {.status = Status::completed, .queue = "main"}, "g of 1"},
      {"ended status in another queue", {.status = Status::completed, .queue = "other"}, " of 0"},
      {"status and tag", {.status = Status::failed, .tags = {"y"}}, "i of 1"},
      {"live status and tag", {.status = Status::pending, .tags = {"y"}}, "b of 1"},
      {"status and worker", {.status = Status::processing, .worker_id = "w:2"}, "f of 1"},
      {"queue and tag", {.tags = {"x"}, .queue = "other"}, " of 0"},
  };
  add_a_to_k();
  for (const Row& row : rows) EXPECT_EQ(listed(row.filter), row.listed) << row.name;
}

TEST_P(StoreConformance, LimitOffsetAndAfterCutThePageButNotTheTotal) {
  struct Row {
    std::string name;
    ListFilter filter;
    std::string listed;
  };
  const EventId third{3};
  const Row rows[] = {
      {"limit", {.limit = 3}, "a b c of 11"},
      {"limit 0", {.limit = 0}, " of 11"},
      {"limit as many as there are", {.limit = 11}, "a b c d e f g h i j k of 11"},
      {"offset", {.offset = 9}, "j k of 11"},
      {"offset and limit", {.offset = 4, .limit = 2}, "e f of 11"},
      {"offset at the end", {.offset = 11}, " of 11"},
      {"offset past the end", {.offset = 1000}, " of 11"},
      {"after", {.after = third, .limit = 2}, "d e of 11"},
      {"after the last", {.after = EventId{11}}, " of 11"},
      {"after and offset", {.after = third, .offset = 1, .limit = 2}, "e f of 11"},
      {"live status, limit", {.status = Status::pending, .limit = 2}, "a b of 4"},
      {"live status, after", {.status = Status::pending, .after = third}, "d of 4"},
      {"ended status, offset", {.status = Status::failed, .offset = 1}, " of 1"},
      {"ended status, after", {.status = Status::failed, .after = EventId{8}}, "i of 1"},
      {"ended status, after itself", {.status = Status::failed, .after = EventId{9}}, " of 1"},
      {"completed, after", {.status = Status::completed, .after = EventId{7}}, " of 1"},
      {"tag, limit", {.tags = {"y"}, .limit = 2}, "b g of 6"},
      {"tag, limit 0", {.tags = {"y"}, .limit = 0}, " of 6"},
      {"tag, offset", {.tags = {"y"}, .offset = 4}, "j k of 6"},
      {"tag, after", {.tags = {"y"}, .after = third, .limit = 2}, "g h of 6"},
      {"tag, after and offset", {.tags = {"y"}, .after = third, .offset = 1, .limit = 2}, "h i of 6"},
      {"event_id, after", {.event_id = "d", .after = third}, "d of 1"},
      {"event_id, after itself", {.event_id = "c", .after = third}, " of 1"},
      {"event_id, offset", {.event_id = "c", .offset = 1}, " of 1"},
      {"queue, after", {.queue = "main", .after = third, .limit = 2}, "e f of 10"},
  };
  add_a_to_k();
  for (const Row& row : rows) EXPECT_EQ(listed(row.filter), row.listed) << row.name;
}

TEST_P(StoreConformance, AListOmitsPayloadAndDescription) {
  add_a_to_k();

  const EventPage page = must(reader().list({.limit = 1}));

  ASSERT_EQ(page.events.size(), 1U);
  EXPECT_EQ(describe(page.events[0]),
            "1 PENDING a queue=main title=mail description=(none) tags=x payload= correlation_id= priority=0 "
            "max_retries=3 attempts=0 retry_count=0 unreported=0 worker_id= created_at=1700000000000 "
            "due_at=1700000000000 updated_at=1700000000000");
}

TEST_P(StoreConformance, AListHasTheMessageOfEachEventsLastFailure) {
  const auto failure = [](EventId id, std::optional<std::string> message, std::string reason = "") {
    LogEntry entry = new_entry(id, Action::failed);
    entry.error_message = std::move(message);
    entry.reason = std::move(reason);
    return entry;
  };
  const auto attempted = [](Event& event) { event.correlation_id = "corr"; };
  const auto fail_twice = [&](Event& event) {
    event.attempts = 2;
    end(event, Status::failed, now());
  };
  const EventId a = add("a", attempted);
  const EventId b = add("b", attempted);
  const EventId c = add("c", attempted);
  const EventId d = add("d", attempted);
  append(failure(a, "first"));
  append(failure(a, "last"));
  append(new_entry(a, Action::reset));
  append(failure(b, "older"));
  append(failure(b, std::nullopt, "Claimed 5 times."));
  append(failure(c, "told"));
  append(failure(c, ""));
  append(failure(d, std::nullopt));
  change(a, [](Event& event) { event.attempts = 2; });  // pending again
  for (const EventId id : {b, c, d}) change(id, fail_twice);
  add("never claimed", attempted);

  const LastErrors expected = {{a, "last"}, {b, "Claimed 5 times."}, {c, "told"}};
  EXPECT_EQ(must(reader().list({})).last_errors, expected);
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"corr", 5, 2, 0, 3, 5, "", ""}));
  });
  EXPECT_EQ(must(reader().correlation("corr", {}, 10))->last_errors, expected);
  EXPECT_EQ(must(reader().list({.limit = 1})).last_errors, (LastErrors{{a, "last"}}));
}

TEST_P(StoreConformance, TheTotalsOfAnEmptyStoreAreZero) { EXPECT_EQ(totals(), "of 0"); }

TEST_P(StoreConformance, TheTotalsFollowAnEventThroughEveryKindOfChange) {
  const EventId a = add("a");
  add("b");
  EXPECT_EQ(totals(), "PENDING=2 of 2");

  change(a, [&](Event& event) { hold(event, "w:1", now() + 60s); });
  EXPECT_EQ(totals(), "PENDING=1 PROCESSING=1 of 2");

  change(a, [&](Event& event) { event.due_at = now() + 90s; });
  EXPECT_EQ(totals(), "PENDING=1 PROCESSING=1 of 2");

  change(a, [&](Event& event) { requeue(event, now() + 1s); });
  EXPECT_EQ(totals(), "PENDING=2 of 2");

  clock().advance(1s);
  {
    const auto transaction = begin();
    must(transaction->promote(100));
    must(transaction->commit());
  }
  EXPECT_EQ(totals(), "PENDING=2 of 2");

  end_as(a, Status::failed);
  EXPECT_EQ(totals(), "PENDING=1 FAILED=1 of 2");

  end_as(a, Status::cancelled);
  EXPECT_EQ(totals(), "PENDING=1 CANCELLED=1 of 2");

  change(a, [&](Event& event) { requeue(event, now()); });
  EXPECT_EQ(totals(), "PENDING=2 of 2");

  end_as(a, Status::completed);
  EXPECT_EQ(totals(), "PENDING=1 COMPLETED=1 of 2");
}

TEST_P(StoreConformance, TheTotalsCountAnEventOnceHoweverOftenOneTransactionChangesIt) {
  auto transaction = begin();
  Stored stored = new_event("a", now());
  must(transaction->insert({&stored, 1}));
  hold(stored.event, "w:1", now() + 60s);
  must(transaction->save({&stored, 1}));
  end(stored.event, Status::completed, now());
  must(transaction->save({&stored, 1}));
  commit(transaction);

  EXPECT_EQ(totals(), "COMPLETED=1 of 1");
}

TEST_P(StoreConformance, EachQueueHasItsOwnTotals) {
  add("a");
  add("b", [](Event& event) { event.queue = "other"; });
  end_as(add("c", [](Event& event) { event.queue = "other"; }), Status::completed);

  EXPECT_EQ(totals("main"), "PENDING=1 of 1");
  EXPECT_EQ(totals("other"), "PENDING=1 COMPLETED=1 of 2");
  EXPECT_EQ(totals("nobody"), "of 0");
  EXPECT_EQ(totals(), "PENDING=2 COMPLETED=1 of 3");
}

}  // namespace
}  // namespace eventq
