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
      {"an event_id that no event has", {.event_id = "unknown"}, " of 0"},
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

TEST_P(StoreConformance, AListByPatternErrorOrTimeReturnsOnlyMatchingEvents) {
  const auto with_pattern = [](std::string pattern) {
    return [=](Event& event) { event.pattern = pattern; };
  };
  const auto fail_with = [&](EventId id, std::string message) {
    LogEntry entry = new_entry(id, Action::failed);
    entry.error_message = std::move(message);
    append(std::move(entry));
    change(id, [](Event& event) { event.attempts = 1; });
  };
  const TimePoint start = now();
  fail_with(add("a", with_pattern("invoice.created")), "Connection Timeout");
  clock().advance(10min);
  fail_with(add("b", with_pattern("invoice.paid")), "refused");
  clock().advance(10min);
  const EventId c = add("c", with_pattern("invoice.paid.late"));
  fail_with(c, "timeout");
  fail_with(c, "refused");
  clock().advance(10min);
  add("d");

  EXPECT_EQ(listed({.pattern = "invoice.paid"}), "b of 1");
  EXPECT_EQ(listed({.pattern = "invoice.*"}), "a b of 2");
  EXPECT_EQ(listed({.pattern = "invoice.>"}), "a b c of 3");
  EXPECT_EQ(listed({.pattern = "other.>"}), " of 0");
  EXPECT_EQ(listed({.error = "TIMEOUT"}), "a of 1");
  EXPECT_EQ(listed({.error = "refused"}), "b c of 2");
  EXPECT_EQ(listed({.since = start + 10min}), "b c d of 3");
  EXPECT_EQ(listed({.since = start + 10min + 1ms}), "c d of 2");
  EXPECT_EQ(listed({.until = start + 10min}), "a of 1");
  EXPECT_EQ(listed({.until = start + 10min + 1ms}), "a b of 2");
  EXPECT_EQ(listed({.since = start + 10min, .until = start + 30min}), "b c of 2");
  EXPECT_EQ(listed({.since = start + 1h}), " of 0");
  EXPECT_EQ(listed({.until = start}), " of 0");
  EXPECT_EQ(listed({.since = TimePoint::min()}), "a b c d of 4");
  EXPECT_EQ(listed({.until = TimePoint::max()}), "a b c d of 4");
  EXPECT_EQ(listed({.pattern = "invoice.>", .until = start + 20min, .order = ListOrder::descending}),
            "b a of 2");
  EXPECT_EQ(listed({.status = Status::pending, .since = start + 20min}), "c d of 2");
  EXPECT_EQ(listed({.event_id = "c", .since = start + 20min}), "c of 1");
  EXPECT_EQ(listed({.event_id = "c", .since = start + 21min}), " of 0");
}

TEST_P(StoreConformance, AListByTimeFindsEventsWhoseIdsAreInAnotherOrder) {
  const TimePoint start = now();
  // Several transactions draw ids and take their times at once, so a later id may have an earlier time.
  for (const int second : {0, 30, 10, 60, 20, 200, 170, 190, 400, 350, 390, 600}) {
    add(std::to_string(second),
        [=](Event& event) { event.created_at = start + std::chrono::seconds(second); });
  }

  EXPECT_EQ(listed({.since = start + 20s, .until = start + 200s}), "30 60 20 170 190 of 5");
  EXPECT_EQ(listed({.since = start + 10s, .until = start + 11s}), "10 of 1");
  EXPECT_EQ(listed({.since = start + 350s, .until = start + 400s}), "350 390 of 2");
  EXPECT_EQ(listed({.since = start + 190s}), "200 190 400 350 390 600 of 6");
  EXPECT_EQ(listed({.until = start + 30s}), "0 10 20 of 3");
}

TEST_P(StoreConformance, AListMayBeginWithTheNewestEvent) {
  struct Row {
    std::string name;
    ListFilter filter;
    std::string listed;
  };
  const auto down = ListOrder::descending;
  const Row rows[] = {
      {"all", {.order = down}, "k j i h g f e d c b a of 11"},
      {"limit", {.limit = 3, .order = down}, "k j i of 11"},
      {"before", {.before = EventId{4}, .order = down}, "c b a of 11"},
      {"before and after", {.after = EventId{2}, .before = EventId{6}, .order = down}, "e d c of 11"},
      {"ascending before", {.before = EventId{4}}, "a b c of 11"},
      {"ascending before and after", {.after = EventId{2}, .before = EventId{6}, .limit = 2}, "c d of 11"},
      {"before the first", {.before = EventId{1}, .order = down}, " of 11"},
      {"offset", {.offset = 9, .order = down}, "b a of 11"},
      {"before and offset", {.before = EventId{6}, .offset = 1, .limit = 2, .order = down}, "d c of 11"},
      {"live status", {.status = Status::pending, .limit = 2, .order = down}, "d c of 4"},
      {"live status and queue", {.status = Status::pending, .queue = "main", .order = down}, "c b a of 3"},
      {"live status, before", {.status = Status::pending, .before = EventId{3}, .order = down}, "b a of 4"},
      {"completed", {.status = Status::completed, .order = down}, "g of 1"},
      {"completed, before", {.status = Status::completed, .before = EventId{7}, .order = down}, " of 1"},
      {"rare", {.status = Status::failed, .order = down}, "i of 1"},
      {"tag", {.tags = {"y"}, .limit = 2, .order = down}, "k j of 6"},
      {"tag, before", {.tags = {"y"}, .before = EventId{9}, .limit = 2, .order = down}, "h g of 6"},
      {"worker", {.worker_id = "w:1", .order = down}, "h g e of 3"},
      {"worker, before", {.worker_id = "w:1", .before = EventId{8}, .order = down}, "g e of 2 or more"},
      {"correlation", {.correlation_id = "corr", .order = down}, "c of 1"},
      {"event_id", {.event_id = "d", .order = down}, "d of 1"},
      {"event_id, before itself", {.event_id = "d", .before = EventId{4}, .order = down}, " of 1"},
  };
  add_a_to_k();
  for (const Row& row : rows) EXPECT_EQ(listed(row.filter), row.listed) << row.name;
}

TEST_P(StoreConformance, ThePagesOfAListMeetAndTheLastOneHasNoNext) {
  add_a_to_k();
  const auto pages = [&](ListFilter filter) {
    std::string text;
    for (bool more = true; more;) {
      const EventPage page = must(reader().list(filter));
      text += (text.empty() ? "" : " | ") + names(page.events);
      const auto next = page.next();
      more = next.has_value();
      if (more) (filter.order == ListOrder::ascending ? filter.after : filter.before.emplace()) = *next;
    }
    return text;
  };
  const auto down = ListOrder::descending;

  EXPECT_EQ(pages({.limit = 5}), "a b c d e | f g h i j | k");
  EXPECT_EQ(pages({.limit = 11}), "a b c d e f g h i j k");
  EXPECT_EQ(pages({.limit = 12}), "a b c d e f g h i j k");
  EXPECT_EQ(pages({.limit = 10}), "a b c d e f g h i j | k");
  EXPECT_EQ(pages({.limit = 5, .order = down}), "k j i h g | f e d c b | a");
  EXPECT_EQ(pages({.limit = 11, .order = down}), "k j i h g f e d c b a");
  EXPECT_EQ(pages({.status = Status::pending, .limit = 2}), "a b | c d");
  EXPECT_EQ(pages({.status = Status::pending, .limit = 2, .order = down}), "d c | b a");
  EXPECT_EQ(pages({.status = Status::pending, .queue = "main", .limit = 3}), "a b c");
  EXPECT_EQ(pages({.tags = {"y"}, .limit = 3}), "b g h | i j k");
  EXPECT_EQ(pages({.tags = {"y"}, .limit = 3, .order = down}), "k j i | h g b");
  EXPECT_EQ(pages({.worker_id = "w:1", .limit = 3}), "e g h");
  EXPECT_EQ(pages({.worker_id = "w:1", .limit = 1, .order = down}), "h | g | e");
  EXPECT_EQ(pages({.correlation_id = "corr", .limit = 1}), "c");
  EXPECT_EQ(pages({.event_id = "c", .limit = 1}), "c");
  EXPECT_EQ(pages({.event_id = "unknown"}), "");
}

TEST_P(StoreConformance, AListIncludesPayloadAndLogWhenItIsAskedTo) {
  const EventId a = add("a", [](Event& event) {
    event.payload = R"({"n":1})";
    event.description = "d";
  });
  add("b");
  append(new_entry(a, Action::reset));

  const EventPage whole = must(reader().list({.include = {.payload = true, .logs = true}}));
  ASSERT_EQ(whole.events.size(), 2U);
  EXPECT_EQ(describe(whole.events[0]), describe(*must(reader().get(a))));
  ASSERT_EQ(whole.logs.at(a).size(), 1U);
  EXPECT_EQ(whole.logs.at(a)[0].action, Action::reset);
  EXPECT_TRUE(whole.logs.at(EventId{2}).empty());
  EXPECT_FALSE(whole.next());

  const EventPage payloads =
      must(reader().list({.order = ListOrder::descending, .include = {.payload = true}}));
  EXPECT_EQ(payloads.events.at(1).payload, R"({"n":1})");
  EXPECT_TRUE(payloads.logs.empty());
  EXPECT_EQ(must(reader().list({.include = {.logs = true}})).events.at(0).payload, "");
}

TEST_P(StoreConformance, APageWithPayloadsEndsBehindTheEventThatBringsThemToTheLimit) {
  const auto of_size = [](std::size_t bytes) {
    return [=](Event& event) { event.payload = std::string(bytes, '1'); };
  };
  const std::size_t half = kClaimBytes / 2;
  add("a", of_size(half));
  add("b", of_size(half - 1));
  add("c", of_size(1));
  add("d", of_size(1));
  const auto page = [&](EventId after) {
    const EventPage found = must(reader().list({.after = after, .include = {.payload = true}}));
    return names(found.events) +
           (found.next() ? " then " + std::to_string(static_cast<std::int64_t>(*found.next())) : "");
  };

  EXPECT_EQ(page(EventId{}), "a b c then 3");
  EXPECT_EQ(page(EventId{1}), "b c d");
  EXPECT_EQ(page(EventId{3}), "d");
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
