// merge_test.cc: the merged answer of several shards is in order, has the sums, and names the missing shards.
#include "shards/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const Error kUnavailable{ErrorCode::unavailable, "Shard 1 is unavailable.", ""};

Event event(int id) {
  Event event;
  event.id = EventId(id);
  return event;
}

std::vector<int> ids(const std::vector<Event>& events) {
  std::vector<int> ids;
  for (const Event& event : events) ids.push_back(static_cast<int>(event.id));
  return ids;
}

Answer page(std::vector<int> ids, std::int64_t total, bool exact = true) {
  EventPage page;
  for (const int id : ids) page.events.push_back(event(id));
  page.total = total;
  page.total_exact = exact;
  Answer answer;
  answer.page = std::move(page);
  return answer;
}

template <typename T>
Answer answering(T value) {
  Answer answer;
  answer.admin = Result<T>(std::move(value));
  return answer;
}
template <typename T>
Answer refused(Error error) {
  Answer answer;
  answer.admin = Result<T>(std::move(error));
  return answer;
}

Answer unavailable() {
  Answer answer;
  answer.error = kUnavailable;
  return answer;
}

// Answers of the shards 0, 1, …, one commit thread each.
Answer merge_all(const Command& question, std::vector<Answer> answers) {
  std::vector<ShardAnswer> all;
  for (std::size_t i = 0; i < answers.size(); ++i) all.push_back({static_cast<int>(i), {answers[i]}});
  return merge(question, std::move(all));
}

Command list(std::int64_t offset, std::size_t limit) {
  Command command;
  command.list.emplace();
  command.list->offset = offset;
  command.list->limit = limit;
  return command;
}

Command asking(AdminRequest ask) {
  Command command;
  command.admin = std::move(ask);
  return command;
}

TEST(Merge, ListsAreOneListByIdWithTheSumOfTheTotals) {
  const Answer all = merge_all(list(0, 3), {page({2, 4, 6}, 10), page({1, 3, 7}, 20)});
  EXPECT_THAT(ids((*all.page)->events), ElementsAre(1, 2, 3));
  EXPECT_EQ((*all.page)->total, 30);
  EXPECT_TRUE((*all.page)->total_exact);
  EXPECT_TRUE(all.missing.empty());
}

TEST(Merge, AnInexactTotalMakesTheSumInexact) {
  EXPECT_FALSE((*merge_all(list(0, 3), {page({}, 0), page({}, 10'000, false)}).page)->total_exact);
}

TEST(Merge, AShardWhoseWalkEndedEarlyHoldsBackLaterEventsOfOthers) {
  Answer early = page({1}, 1, false);
  (*early.page)->scanned_to = EventId{5};
  Command command;
  command.list = ListFilter{.worker_id = "w:1"};

  const Answer all = merge_all(command, {early, page({2, 4, 6}, 3)});
  EXPECT_THAT(ids((*all.page)->events), ElementsAre(1, 2, 4));
  EXPECT_EQ((*all.page)->scanned_to, EventId{5});

  command.list->limit = 2;
  const Answer full = merge_all(command, {early, page({2, 4}, 2)});
  EXPECT_THAT(ids((*full.page)->events), ElementsAre(1, 2));
  EXPECT_EQ((*full.page)->scanned_to, std::nullopt);
}

TEST(Merge, AListInDescendingOrderIsMergedFromTheHighestId) {
  Command command = list(0, 3);
  command.list->order = ListOrder::descending;
  const Answer all = merge_all(command, {page({8, 4, 2}, 3), page({7, 5}, 2)});
  EXPECT_THAT(ids((*all.page)->events), ElementsAre(8, 7, 5));
  EXPECT_EQ((*all.page)->next(), EventId{5});

  Answer early = page({8}, 1, false);
  (*early.page)->scanned_to = EventId{6};
  const Answer cut = merge_all(command, {early, page({7, 5}, 2)});
  EXPECT_THAT(ids((*cut.page)->events), ElementsAre(8, 7));
  EXPECT_EQ((*cut.page)->next(), EventId{6});
}

TEST(Merge, AnotherPageFollowsIfAShardHasMoreOrTheMergedListIsLonger) {
  const auto next = [](std::vector<Answer> answers) {
    return (*merge_all(list(0, 2), std::move(answers)).page)->next();
  };
  Answer more = page({2, 4}, 3);
  (*more.page)->more = true;

  EXPECT_EQ(next({page({2}, 1), page({1}, 1)}), std::nullopt);
  EXPECT_EQ(next({page({2}, 1), page({1, 3}, 2)}), EventId{2});
  EXPECT_EQ(next({more, page({}, 0)}), EventId{4});
}

TEST(Merge, AMergedPageWithPayloadsKeepsTheLimitOfBytes) {
  Command command = list(0, 4);
  command.list->include.payload = true;
  Answer even = page({2, 4}, 2), odd = page({1, 3}, 2);
  for (Event& event : (*even.page)->events) event.payload.resize(kClaimBytes / 2);
  for (Event& event : (*odd.page)->events) event.payload.resize(kClaimBytes / 2);

  const Answer all = merge_all(command, {even, odd});

  EXPECT_THAT(ids((*all.page)->events), ElementsAre(1, 2));
  EXPECT_EQ((*all.page)->next(), EventId{2});
}

TEST(Merge, AnOffsetCountsFromTheBeginningOfTheMergedList) {
  const Command question = list(2, 2);
  const Command each = for_each_shard(question, 2);
  EXPECT_EQ(each.list->offset, 0);
  EXPECT_EQ(each.list->limit, 4U);
  EXPECT_THAT(ids((*merge_all(question, {page({2, 4, 6, 8}, 4), page({1, 3}, 2)}).page)->events),
              ElementsAre(3, 4));
  EXPECT_EQ(for_each_shard(question, 1).list->offset, 2) << "a single shard applies the offset";
  EXPECT_THAT(ids((*merge_all(question, {page({6, 8}, 4)}).page)->events), ElementsAre(6, 8));
  EXPECT_THAT(ids((*merge_all(question, {page({2, 4, 6, 8}, 4), unavailable()}).page)->events),
              ElementsAre(6, 8));
  EXPECT_TRUE((*merge_all(list(9, 2), {page({2}, 1), page({1}, 1)}).page)->events.empty());
}

TEST(Merge, AShardThatIsUnavailableIsNamedAndTheOthersAnswer) {
  const Answer all = merge_all(list(0, 9), {page({2}, 1), unavailable(), page({5}, 1)});
  ASSERT_FALSE(all.error);
  EXPECT_THAT(ids((*all.page)->events), ElementsAre(2, 5));
  EXPECT_THAT(all.missing, ElementsAre(1));
}

TEST(Merge, AShardWhoseReadIsUnavailableIsMissing) {
  Answer failed;
  failed.page = kUnavailable;
  EXPECT_THAT(merge_all(list(0, 9), {page({2}, 1), failed}).missing, ElementsAre(1));
}

TEST(Merge, TheAnswerIsUnavailableWhenAllShardsAreUnavailable) {
  EXPECT_EQ(merge_all(list(0, 9), {unavailable(), unavailable()}).error->code, ErrorCode::unavailable);
}

TEST(Merge, MetricsSayThatAllShardsAreUnavailable) {
  const Answer all = merge_all(asking(MetricsRequest{}), {unavailable(), unavailable()});

  EXPECT_FALSE(all.error);
  EXPECT_THAT(all.missing, ElementsAre(0, 1));
  const auto& shards = std::get<Metrics>(all.admin).shards;
  ASSERT_EQ(shards.size(), 2U);
  EXPECT_FALSE(shards[0].up);
  EXPECT_FALSE(shards[1].up);
}

QueueDocument queue(std::string name, std::int64_t pending, std::int64_t completed) {
  QueueDocument queue;
  queue.row.id = std::move(name);
  queue.counts[0] = pending;
  queue.totals.completed = completed;
  return queue;
}

TEST(Merge, QueuesAreListedByNameWithTheSumOfTheirCounters) {
  const Answer all =
      merge_all(asking(QueuesQuery{}), {answering(std::vector{queue("a", 1, 10), queue("c", 5, 0)}),
                                        answering(std::vector{queue("a", 2, 20), queue("b", 4, 0)})});
  const auto& queues = *std::get<Result<std::vector<QueueDocument>>>(all.admin);
  ASSERT_EQ(queues.size(), 3U);
  EXPECT_EQ(queues[0].row.id, "a");
  EXPECT_EQ(queues[0].counts[0], 3);
  EXPECT_EQ(queues[0].totals.completed, 30);
  EXPECT_EQ(queues[1].row.id, "b");
  EXPECT_EQ(queues[2].row.id, "c");
}

TEST(Merge, AQueueIsFoundWhenOnlySomeShardsHaveIt) {
  const Error none{ErrorCode::not_found, "There is no queue \"a\".", "queue"};
  QueueDocument one = queue("a", 2, 0);
  one.events = {{event(5), {}}, {event(9), {}}};
  QueueDocument other = queue("a", 1, 0);
  other.events = {{event(2), {}}};
  const Answer all =
      merge_all(asking(QueueQuery{"a", 2}), {refused<QueueDocument>(none), answering(one), answering(other)});
  const auto& merged = *std::get<Result<QueueDocument>>(all.admin);
  EXPECT_EQ(merged.counts[0], 3);
  ASSERT_EQ(merged.events.size(), 2U);
  EXPECT_EQ(merged.events[0].event.id, EventId(2));
  EXPECT_EQ(merged.events[1].event.id, EventId(5));

  const Answer nowhere =
      merge_all(asking(QueueQuery{"a", 2}), {refused<QueueDocument>(none), refused<QueueDocument>(none)});
  EXPECT_FALSE(nowhere.error);
  EXPECT_EQ(std::get<Result<QueueDocument>>(nowhere.admin).error().code, ErrorCode::not_found);
}

TEST(Merge, NotFoundIsUnavailableWhileAShardIsUnavailable) {
  const Error none{ErrorCode::not_found, "There is no queue \"a\".", "queue"};
  const Answer all = merge_all(asking(QueueQuery{"a", 2}), {refused<QueueDocument>(none), unavailable()});
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->code, ErrorCode::unavailable);
}

FoundEvents found(std::vector<std::vector<EventId>> events) { return {std::move(events)}; }

TEST(Merge, ANameHasTheEventsOfAllShards) {
  const Answer all = merge_all(
      asking(EventIdsQuery{{"a", "b", "c"}}),
      {answering(found({{EventId{7}}, {}, {}})), answering(found({{EventId{2}}, {EventId{4}}, {}}))});
  EXPECT_FALSE(all.error);
  EXPECT_THAT(std::get<Result<FoundEvents>>(all.admin)->events,
              ElementsAre(ElementsAre(EventId{2}, EventId{7}), ElementsAre(EventId{4}), ElementsAre()));
}

TEST(Merge, ANameThatNoShardHasIsUnavailableWhileAShardIsUnavailable) {
  const Answer lacking =
      merge_all(asking(EventIdsQuery{{"a", "b"}}), {answering(found({{EventId{2}}, {}})), unavailable()});
  ASSERT_TRUE(lacking.error);
  EXPECT_EQ(lacking.error->code, ErrorCode::unavailable);

  const Answer complete =
      merge_all(asking(EventIdsQuery{{"a"}}), {answering(found({{EventId{2}}})), unavailable()});
  EXPECT_FALSE(complete.error);
  EXPECT_THAT(std::get<Result<FoundEvents>>(complete.admin)->events, ElementsAre(ElementsAre(EventId{2})));
}

TEST(Merge, ACorrelationIsCountedOverAllShards) {
  Correlation one{.id = "c", .total = 3, .pending = 1, .completed = 2, .failed = 0, .events = {event(4)}};
  Correlation other{.id = "c", .total = 2, .pending = 0, .completed = 1, .failed = 1, .events = {event(3)}};
  const Answer all = merge_all(asking(CorrelationQuery{"c", {}, 1}), {answering(one), answering(other)});
  const auto& merged = *std::get<Result<Correlation>>(all.admin);
  EXPECT_EQ(merged.total, 5);
  EXPECT_EQ(merged.pending, 1);
  EXPECT_EQ(merged.completed, 3);
  EXPECT_EQ(merged.failed, 1);
  EXPECT_THAT(ids(merged.events), ElementsAre(3));
}

TEST(Merge, ErrorsOfEventsComeFromAllShards) {
  Answer first = page({1}, 1);
  (*first.page)->last_errors = {{EventId{1}, "one"}};
  Answer second = page({2}, 1);
  (*second.page)->last_errors = {{EventId{2}, "two"}};
  Command list;
  list.list = ListFilter{};
  const Answer listed = merge_all(list, {first, second});
  EXPECT_EQ((*listed.page)->last_errors, (LastErrors{{EventId{1}, "one"}, {EventId{2}, "two"}}));

  Correlation one{.id = "c", .events = {event(3)}, .last_errors = {{EventId{3}, "three"}}};
  Correlation other{.id = "c", .events = {event(4)}, .last_errors = {{EventId{4}, "four"}}};
  const Answer both = merge_all(asking(CorrelationQuery{"c", {}, 2}), {answering(one), answering(other)});
  EXPECT_EQ(std::get<Result<Correlation>>(both.admin)->last_errors,
            (LastErrors{{EventId{3}, "three"}, {EventId{4}, "four"}}));
}

std::string text_of(const WorkerLogPage& page) {
  std::string text;
  for (const LogEntry& entry : page.entries) {
    text += std::to_string(static_cast<int>(entry.id)) + "-" +
            std::to_string(static_cast<int>(entry.log_id)) + " ";
  }
  return text + (page.complete ? "complete" : "incomplete") +
         (page.next ? ", next " + std::to_string(static_cast<int>(page.next->event)) + "-" +
                          std::to_string(static_cast<int>(page.next->entry))
                    : "");
}

WorkerLogPage log_page(const std::vector<std::pair<int, int>>& entries, std::optional<LogCursor> next = {}) {
  WorkerLogPage page;
  for (const auto& [event_id, log_id] : entries) {
    page.entries.push_back({.log_id = LogId(log_id), .id = EventId(event_id)});
  }
  page.next = next;
  return page;
}

std::string merged_log(std::size_t limit, WorkerLogPage one, WorkerLogPage other) {
  const Answer all = merge_all(asking(WorkerLogQuery{{.worker_id = "w:1", .limit = limit}}),
                               {answering(std::move(one)), answering(std::move(other))});
  return text_of(*std::get<Result<WorkerLogPage>>(all.admin));
}

TEST(Merge, TheLogOfAWorkerIsMergedOverShards) {
  EXPECT_EQ(merged_log(9, log_page({{5, 2}, {3, 1}}), log_page({{4, 8}, {4, 7}})),
            "5-2 4-8 4-7 3-1 complete");
  EXPECT_EQ(
      merged_log(2, log_page({{5, 2}, {3, 1}}, LogCursor{EventId{3}, LogId{1}}), log_page({{4, 8}, {4, 7}})),
      "5-2 4-8 complete, next 4-8");
}

TEST(Merge, AShardWhoseScanEndedEarlyHoldsBackOlderEntriesOfOthers) {
  WorkerLogPage early = log_page({{9, 1}}, LogCursor{EventId{6}, LogId{3}});
  early.complete = false;

  EXPECT_EQ(merged_log(9, early, log_page({{8, 5}, {4, 2}})), "9-1 8-5 incomplete, next 6-3");
}

TEST(Merge, FailuresOfOneCauseAreOneGroupAndTheLargestGroupIsFirst) {
  const auto group = [](std::string cause, std::int64_t events, Millis at) {
    return FailureGroup{"q",
                        std::move(cause),
                        events,
                        kStart + at,
                        kStart + at,
                        EventId(events),
                        "sample " + std::to_string(events)};
  };
  const Answer all = merge_all(asking(FailuresQuery{{}, 2}),
                               {answering(std::vector{group("x", 3, 0ms), group("y", 1, 0ms)}),
                                answering(std::vector{group("z", 4, 0ms), group("x", 2, 5ms)})});
  const auto& groups = *std::get<Result<std::vector<FailureGroup>>>(all.admin);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].cause, "x");
  EXPECT_EQ(groups[0].events, 5);
  EXPECT_EQ(groups[0].first_at, kStart);
  EXPECT_EQ(groups[0].last_at, kStart + 5ms);
  EXPECT_EQ(groups[0].last_event, EventId(2));
  EXPECT_EQ(groups[0].sample, "sample 2");
  EXPECT_EQ(groups[1].cause, "z");
}

TEST(Merge, CheckpointsAreSortedNewestFirst) {
  const auto made = [](std::string id, Millis at) {
    return Checkpoint{
        .id = std::move(id), .queue = "q", .checkpoint_id = "", .event_count = 1, .created_at = kStart + at};
  };
  const Answer all = merge_all(
      asking(CheckpointsQuery{"q", 2}),
      {answering(std::vector{made("b", 2ms), made("a", 1ms)}), answering(std::vector{made("c", 3ms)})});
  const auto& list = *std::get<Result<std::vector<Checkpoint>>>(all.admin);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].id, "c");
  EXPECT_EQ(list[1].id, "b");
}

TEST(Merge, TheWorstRecoveryStatusOfAShardIsReported) {
  const auto report = [](std::string status, std::int64_t events) {
    Recovery recovery;
    recovery.events_recovered = events;
    recovery.status = std::move(status);
    return recovery;
  };
  const Answer all = merge_all(asking(RecoveryQuery{"q"}),
                               {answering(report("completed", 2)), answering(report("repaired", 3))});
  const auto& merged = *std::get<Result<Recovery>>(all.admin);
  EXPECT_EQ(merged.events_recovered, 5);
  EXPECT_EQ(merged.status, "repaired");
}

TEST(Merge, CountersCountOncePerShardAndHistogramsOncePerCommitThread) {
  const double bounds[] = {1.0};
  const auto measured = [&](std::int64_t completed, double wait) {
    Metrics metrics;
    QueueMetrics queue;
    queue.queue = "q";
    queue.totals.completed = completed;
    queue.wait = Histogram(bounds);
    queue.wait.add(wait);
    queue.oldest_pending = Millis(completed);
    metrics.queues.push_back(std::move(queue));
    metrics.workers = {{.row = {.id = "w:" + std::to_string(completed)}}, {.row = {.id = "x"}}};
    Answer answer;
    answer.admin = std::move(metrics);
    return answer;
  };
  std::vector<ShardAnswer> answers = {{0, {measured(5, 0.5), measured(5, 2)}}, {1, {measured(7, 0.5)}}};
  const Answer all = merge(asking(MetricsRequest{}), std::move(answers));
  const auto& metrics = std::get<Metrics>(all.admin);
  ASSERT_EQ(metrics.queues.size(), 1U);
  EXPECT_EQ(metrics.queues[0].totals.completed, 12);
  EXPECT_EQ(metrics.queues[0].wait.total(), 3);
  EXPECT_THAT(metrics.queues[0].wait.counts(), ElementsAre(2, 1));
  EXPECT_EQ(metrics.queues[0].oldest_pending, Millis(7));
  EXPECT_EQ(metrics.workers.size(), 3U) << "x is one worker on two shards";
}

TEST(Merge, AWorkerHoldsItsEventsOfAllShards) {
  const auto seen = [](std::int64_t completed, std::vector<EventId> holding, std::optional<Selector> asked) {
    ListedWorker worker;
    worker.row.id = "w";
    worker.row.completed = completed;
    worker.holding = std::move(holding);
    worker.asked = std::move(asked);
    Answer answer;
    answer.admin = std::vector{worker};
    return answer;
  };
  std::vector<ShardAnswer> answers = {
      {0, {seen(3, {EventId(4)}, {}), seen(3, {EventId(4)}, Selector{"q", {}})}},
      {1, {seen(2, {EventId(1)}, {})}}};
  const Answer all = merge(asking(WorkersRequest{}), std::move(answers));
  const auto& workers = std::get<std::vector<ListedWorker>>(all.admin);
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_EQ(workers[0].row.completed, 5);
  EXPECT_THAT(workers[0].holding, ElementsAre(EventId(1), EventId(4)));
  ASSERT_TRUE(workers[0].asked);
  EXPECT_EQ(workers[0].asked->queue, "q");
}

TEST(Merge, AWorkerThatAsksOnOneShardAndHoldsAnEventOnAnotherIsActiveAndSubscribes) {
  const auto measured = [](WorkerState state, std::vector<Selector> asks) {
    Metrics metrics;
    metrics.queues.push_back({.queue = "q"});
    metrics.queues[0].counts.at(static_cast<std::size_t>(Status::pending)) = 2;
    metrics.workers = {{.row = {.id = "w"}, .asks = std::move(asks), .state = state}};
    Answer answer;
    answer.admin = std::move(metrics);
    return answer;
  };
  std::vector<ShardAnswer> answers = {{0, {measured(WorkerState::idle, {{"q", {}}})}},
                                      {1, {measured(WorkerState::active, {})}}};
  const Answer all = merge(asking(MetricsRequest{}), std::move(answers));
  const auto& metrics = std::get<Metrics>(all.admin);
  EXPECT_EQ(metrics.workers.at(0).state, WorkerState::active);
  EXPECT_EQ(metrics.queues.at(0).subscribers, 1);
}

TEST(Merge, UnattendedEventsOfAllShardsAddUpToAThousandAtMost) {
  using Counts = Result<std::vector<std::int64_t>>;
  const auto counted = [](std::vector<std::int64_t> counts) {
    Answer answer;
    answer.admin = Counts(std::move(counts));
    return answer;
  };
  const Answer all = merge_all(asking(UnattendedQuery{{{"a", {}}, {"b", {}}, {"c", {}}}}),
                               {counted({2, 999, 1000}), counted({3, 1, 1})});

  EXPECT_THAT(*std::get<Counts>(all.admin), ElementsAre(5, 1000, 1000));
}

TEST(Merge, AChangeOfAQueueAddsUpItsResultsOnEachShard) {
  QueueChanged one;
  one.row.id = "q";
  one.depth = 2;
  one.superseded = {EventId(8)};
  one.checkpoint =
      Checkpoint{.id = "a", .queue = "q", .checkpoint_id = "", .event_count = 3, .created_at = {}};
  QueueChanged other;
  other.depth = 5;
  other.superseded = {EventId(3)};
  other.checkpoint =
      Checkpoint{.id = "b", .queue = "q", .checkpoint_id = "e", .event_count = 4, .created_at = {}};
  const QueueChanged all = merge({one, other});
  EXPECT_EQ(all.row.id, "q");
  EXPECT_EQ(all.depth, 7);
  EXPECT_THAT(all.superseded, ElementsAre(EventId(3), EventId(8)));
  EXPECT_EQ(all.checkpoint->id, "a");
  EXPECT_EQ(all.checkpoint->event_count, 7);
  EXPECT_EQ(all.checkpoint->checkpoint_id, "e");
}

QueueLogEntry log_entry(std::string id, QueueAction action, std::string detail) {
  return {.id = std::move(id), .queue = "q", .action = action, .by = "ann", .detail = std::move(detail)};
}

TEST(Merge, AChangeOfAllShardsIsOneEntryOfTheQueuesLog) {
  using Log = std::vector<QueueLogEntry>;
  const Log first = {log_entry("3", QueueAction::retried, R"({"events":2,"cause":"a \"b\""})"),
                     log_entry("2", QueueAction::paused, "{}"), log_entry("1", QueueAction::created, "{}")};
  const Log second = {log_entry("3", QueueAction::retried, R"({"events":5,"cause":"a \"b\""})"),
                      log_entry("2", QueueAction::paused, "{}"),
                      log_entry("1", QueueAction::configured, R"({"from":{},"to":{}})")};

  const Answer answer =
      merge_all(asking(QueueLogQuery{{"q", "", 100}}), {answering(first), answering(second)});

  const auto& all = std::get<Result<Log>>(answer.admin);
  EXPECT_THAT(*all, ElementsAre(log_entry("3", QueueAction::retried, R"({"events":7,"cause":"a \"b\""})"),
                                log_entry("2", QueueAction::paused, "{}"),
                                log_entry("1", QueueAction::configured, R"({"from":{},"to":{}})")));
}

TEST(Merge, TheLogOfAQueueHasTheNewestEntriesOfAllShardsUpToTheLimit) {
  using Log = std::vector<QueueLogEntry>;
  const Log first = {log_entry("5", QueueAction::paused, "{}"), log_entry("1", QueueAction::created, "{}")};
  const Log second = {log_entry("4", QueueAction::resumed, "{}"), log_entry("3", QueueAction::paused, "{}")};

  const Answer answer = merge_all(asking(QueueLogQuery{{"q", "", 2}}), {answering(first), answering(second)});

  EXPECT_THAT(*std::get<Result<Log>>(answer.admin), ElementsAre(log_entry("5", QueueAction::paused, "{}"),
                                                                log_entry("4", QueueAction::resumed, "{}")));
}

}  // namespace
}  // namespace eventq
