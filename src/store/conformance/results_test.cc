// results_test.cc: the result of an event, and the detail of a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "store/conformance/store_conformance.h"

namespace eventq {
namespace {

using testing::ElementsAre;

// Ends the event as completed, with this result.
std::function<void(Event&)> completed_with(const std::string& result, TimePoint now) {
  return [=](Event& event) {
    end(event, Status::completed, now);
    event.result = result;
  };
}

std::vector<std::string> details_of(const std::vector<LogEntry>& log) {
  std::vector<std::string> details;
  for (const LogEntry& entry : log) details.push_back(entry.error_detail);
  return details;
}

TEST_P(StoreConformance, AResultIsReadBackByteForByte) {
  const std::string result = R"( {"a": 1.50, "b": "\u0000 Zoë"} )";
  const EventId id = add("a");
  change(id, completed_with(result, now()));

  EXPECT_EQ(must(reader().get(id))->result, result);
  EXPECT_EQ(must(reader().details(id))->event.result, result);
}

TEST_P(StoreConformance, AnEventWithoutAResultHasNone) {
  const EventId live = add("live");
  const EventId done = add("done");
  end_as(done, Status::completed);

  EXPECT_EQ(must(reader().get(live))->result, "");
  EXPECT_EQ(must(reader().get(done))->result, "");
}

TEST_P(StoreConformance, ATransactionLoadsNoResult) {
  const EventId id = add("a");
  change(id, completed_with("[1]", now()));
  const auto transaction = begin();

  EXPECT_EQ(load(*transaction, id).event.result, "");
  EXPECT_EQ(load(*transaction, id, Transaction::EventFields::all).event.result, "");
}

TEST_P(StoreConformance, AnEventThatIsPendingAgainHasNoResult) {
  const EventId id = add("a");
  change(id, completed_with("[1]", now()));
  change(id, [&](Event& event) { requeue(event, now()); });
  EXPECT_EQ(must(reader().get(id))->result, "");

  change(id, completed_with("[2]", now()));
  EXPECT_EQ(must(reader().get(id))->result, "[2]");
}

TEST_P(StoreConformance, ARolledBackResultIsNotStored) {
  const EventId id = add("a");
  {
    const auto transaction = begin();
    Stored stored = load(*transaction, id);
    completed_with("[1]", now())(stored.event);
    must(transaction->save({&stored, 1}));
  }
  end_as(id, Status::completed);

  EXPECT_EQ(must(reader().get(id))->result, "");
}

TEST_P(StoreConformance, ARemovedEventLeavesNoResultAndNoDetail) {
  const EventId id = add("a");
  LogEntry failed = new_entry(id, Action::failed);
  failed.error_detail = "at line 7";
  append(failed);
  change(id, completed_with("[1]", now()));

  commit_with([&](Transaction& transaction) {
    const Stored stored = load(transaction, id);
    must(transaction.remove({&stored, 1}));
  });

  EXPECT_FALSE(must(reader().get(id)));
  EXPECT_TRUE(must(reader().log(id)).empty());
}

TEST_P(StoreConformance, TheEventsOfACorrelationHaveTheirResults) {
  const auto correlated = [](Event& event) { event.correlation_id = "c1"; };
  add("a", correlated);
  change(add("b", correlated), completed_with("[2]", now()));
  end_as(add("c", correlated), Status::completed);
  change(add("d", correlated), completed_with("[4]", now()));
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 4, 1, 3, 0, 4, "", ""}));
  });

  const auto correlation = must(reader().correlation("c1", EventId{}, 10));

  std::vector<std::string> results;
  for (const Event& event : correlation->events) results.push_back(event.result);
  EXPECT_THAT(results, ElementsAre("", "[2]", "", "[4]"));
  EXPECT_TRUE(correlation->left_out.empty());
}

TEST_P(StoreConformance, AListIncludesResultsWhenItIsAskedTo) {
  add("a");
  change(add("b"), completed_with("[2]", now()));
  end_as(add("c"), Status::completed);
  change(add("d"), completed_with("[4]", now()));
  const auto results = [&](const ListFilter& filter) {
    std::string text;
    for (const Event& event : must(reader().list(filter)).events) text += event.event_id + event.result + " ";
    return text;
  };

  EXPECT_EQ(results({.include = {.result = true}}), "a b[2] c d[4] ");
  EXPECT_EQ(results({.order = ListOrder::descending, .include = {.result = true}}), "d[4] c b[2] a ");
  EXPECT_EQ(results({.include = {.payload = true, .logs = true}}), "a b c d ");
}

TEST_P(StoreConformance, APageEndsBehindTheEventThatBringsResultsOrDetailsToTheLimit) {
  const std::string half(kClaimBytes / 2, '7');
  change(add("a"), completed_with(half, now()));
  LogEntry failed = new_entry(add("b"), Action::failed);
  failed.error_detail = half;
  append(failed);
  add("c");
  const auto page = [&](const ListIncludes& include) {
    std::string text;
    for (const Event& event : must(reader().list({.include = include})).events) text += event.event_id;
    return text;
  };

  EXPECT_EQ(page({.result = true, .logs = true}), "ab");
  EXPECT_EQ(page({.result = true}), "abc");
  EXPECT_EQ(page({.logs = true}), "abc");
}

TEST_P(StoreConformance, ACorrelationLeavesOutResultsAfterThirtyTwoMebibytes) {
  const std::string half(kClaimBytes / 2, '7');
  int number = 0;
  for (const std::string& result : {half, half, std::string("[3]"), std::string()}) {
    const EventId id = add("e" + std::to_string(++number), [](Event& event) { event.correlation_id = "c1"; });
    change(id, completed_with(result, now()));
  }
  commit_with([](Transaction& transaction) {
    must(transaction.put_correlation({"c1", 4, 0, 4, 0, 4, "", ""}));
  });

  const auto correlation = must(reader().correlation("c1", EventId{}, 10));

  ASSERT_EQ(correlation->events.size(), 4U);
  EXPECT_EQ(correlation->events[1].result, half);
  EXPECT_EQ(correlation->events[2].result, "");
  EXPECT_THAT(correlation->left_out, ElementsAre(correlation->events[2].id));
}

TEST_P(StoreConformance, CorrelatedEndsAreTheEndedEventsWithTheirResultsInTheOrderOfIds) {
  const auto correlated = [](Event& event) { event.correlation_id = "c1"; };
  add("live", correlated);
  change(add("a", correlated), completed_with("[1]", now()));
  end_as(add("b", correlated), Status::failed);
  change(add("c", correlated), completed_with("[3]", now()));
  change(add("other"), completed_with("[4]", now()));
  const auto read = [&](Transaction::EndsLimit limit) {
    std::string text;
    for (const CorrelatedEnd& end : must(begin()->correlated_ends("c1", limit))) {
      text += end.event_id + " " + std::string(name_of(end.status)) + " " + end.result + ";";
    }
    return text;
  };

  EXPECT_EQ(read({.events = 10, .bytes = 100}), "a COMPLETED [1];b FAILED ;c COMPLETED [3];");
  EXPECT_EQ(read({.events = 2, .bytes = 100}), "a COMPLETED [1];b FAILED ;");
  EXPECT_EQ(read({.events = 10, .bytes = 6}), "a COMPLETED [1];b FAILED ;c COMPLETED [3];");
  EXPECT_EQ(read({.events = 10, .bytes = 5}), "a COMPLETED [1];b FAILED ;");
  EXPECT_EQ(must(begin()->correlated_ends("", {10, 100})).size(), 0U);
}

TEST_P(StoreConformance, CorrelatedEndsHaveTheChangesOfTheirTransaction) {
  const EventId id = add("a", [](Event& event) { event.correlation_id = "c1"; });
  const auto transaction = begin();
  Stored stored = load(*transaction, id);
  completed_with("[1]", now())(stored.event);
  must(transaction->save({&stored, 1}));

  EXPECT_EQ(must(transaction->correlated_ends("c1", {10, 100})).at(0).result, "[1]");
}

TEST_P(StoreConformance, AFailureKeepsItsDetail) {
  const std::string detail = "Traceback:\n\t\"a\"\nZo\u00eb";
  const EventId id = add("a");
  append(new_entry(id, Action::picked));
  LogEntry failed = new_entry(id, Action::failed);
  failed.error_detail = detail;
  append(failed);

  EXPECT_THAT(details_of(must(reader().log(id))), ElementsAre("", detail));
  EXPECT_THAT(details_of(must(reader().details(id))->log), ElementsAre("", detail));
  EXPECT_THAT(details_of(must(begin()->log(id))), ElementsAre("", detail));
}

TEST_P(StoreConformance, TheLogsOfAQueueAndOfAWorkerHaveNoDetails) {
  const EventId id = add("a");
  LogEntry failed = new_entry(id, Action::failed, "w:1");
  failed.error_detail = "at line 7";
  append(failed);
  commit_with([](Transaction& transaction) { must(transaction.add_queue({.id = "main"})); });

  EXPECT_THAT(details_of(must(reader().queue("main", 10))->events.at(0).log), ElementsAre(""));
  EXPECT_THAT(details_of(must(reader().worker_log({.worker_id = "w:1"})).entries), ElementsAre(""));
}

}  // namespace
}  // namespace eventq
