// scatter_test.cc: one call split over two shards: what is sent to which shard in which order, and which one
// answer the caller gets.
#include "shards/scatter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>

#include "base/hash.h"
#include "model/shard_of.h"
#include "support/queue_commands.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kShards = 2;

Error unavailable(int shard) {
  return {ErrorCode::unavailable, "shard " + std::to_string(shard) + " is unavailable", ""};
}

// Two shards of two commit threads. Records what is sent, and answers nothing by itself: the test does.
class RecordingDispatch final : public Dispatch {
 public:
  struct Sent {
    int shard = 0;
    Command command;
    std::optional<std::size_t> commit_thread;
  };

  int shards() const override { return kShards; }
  bool is_up(int shard) const override { return up.at(static_cast<std::size_t>(shard)); }
  std::size_t commit_threads(int) const override { return 2; }
  std::size_t usual_commit_threads(int) const override { return 2; }
  Error unavailable_error(int shard) const override { return unavailable(shard); }
  std::vector<int> rotation() override { return shards_up(); }
  std::vector<int> claim_rotation(const std::string&) override { return shards_up(); }
  void note_empty(int shard, const std::string& queue) override { empty.emplace_back(shard, queue); }
  bool may_claim_with_reports() override { return claims_with_reports; }
  Command::ExtraDemand asked(const Event&) const override { return {7, std::nullopt}; }
  std::string next_id() override { return std::to_string(next_id_++); }

  using Dispatch::send;
  void send(int shard, Command command, std::optional<std::size_t> commit_thread) override {
    EXPECT_EQ(ends, 0) << "nothing is sent after the end";
    sent.push_back({shard, std::move(command), commit_thread});
  }
  void finish(Answer answer) override {
    ends += 1;
    finished = std::move(answer);
  }
  void keep_waiting(ClaimRequest claim, Answer so_far) override {
    ends += 1;
    waiting_claim = std::move(claim);
    finished = std::move(so_far);
  }
  void keep_waiting(const WaitRequest& wait, Answer so_far) override {
    ends += 1;
    waiting_end = wait;
    finished = std::move(so_far);
  }

  std::vector<bool> up = {true, true};
  bool claims_with_reports = false;
  std::deque<Sent> sent;  // and not answered
  std::vector<std::pair<int, std::string>> empty;
  int ends = 0;
  Answer finished;
  std::optional<ClaimRequest> waiting_claim;
  std::optional<WaitRequest> waiting_end;

 private:
  std::vector<int> shards_up() const {
    std::vector<int> order;
    for (int shard = 0; shard < kShards; ++shard) {
      if (is_up(shard)) order.push_back(shard);
    }
    return order;
  }

  int next_id_ = 0;
};

// A key that belongs to the shard.
std::string key_of(int shard) {
  for (int i = 0;; ++i) {
    std::string key = "key-" + std::to_string(i);
    if (shard_of(hash64(key), kShards) == shard) return key;
  }
}

NewEvent ordered_event(int shard) {
  NewEvent event;
  event.ordering_key = key_of(shard);
  return event;
}

Answer error_of(ErrorCode code) { return Answer{.error = Error{code, "failed", ""}}; }

Answer published(int id) {
  Event event;
  event.id = EventId(id);
  return Answer{.published = Published{.events = {std::move(event)}, .correlation_id = ""}};
}

Answer not_published(ErrorCode code) { return Answer{.published = Error{code, "refused", ""}}; }

Answer claimed(int id) {
  Claim claim;
  claim.event.id = EventId(id);
  Answer answer;
  answer.claims.push_back(std::move(claim));
  return answer;
}

// Each report is known by the number of retries in its result.
Answer changed(std::vector<int> max_retries) {
  Answer answer;
  for (const int number : max_retries)
    answer.changed.emplace_back(Changed{.entry = {}, .max_retries = number});
  return answer;
}

Answer queue_changed(std::int64_t depth) {
  QueueChanged change;
  change.row.id = "main";
  change.depth = depth;
  Answer answer;
  answer.admin = Result<QueueChanged>(std::move(change));
  return answer;
}

Answer no_queue() {
  Answer answer;
  answer.admin = Result<QueueChanged>(Error{ErrorCode::not_found, "no such queue", ""});
  return answer;
}

Answer revived(std::vector<EventId> ids, bool more = false) {
  Answer answer;
  answer.admin = Result<Revived>(Revived{.matched = ids, .events = ids, .more = more, .next = {}});
  return answer;
}

Answer page(std::vector<int> ids) {
  EventPage page;
  for (const int id : ids) page.events.emplace_back().id = EventId(id);
  page.total = static_cast<std::int64_t>(ids.size());
  return Answer{.page = std::move(page)};
}

Answer held(std::int64_t events) {
  Answer answer;
  answer.admin = Result<std::int64_t>(events);
  return answer;
}

Answer waited(bool ended) {
  Answer answer;
  answer.waited = ended;
  return answer;
}

Command reports(const std::vector<int>& ids) {
  Command command;
  for (const int id : ids) command.changes.push_back({Lease{EventId(id), "w", {}}, Complete{}});
  return command;
}

std::vector<int> reported(const Command& command) {
  std::vector<int> ids;
  for (const Change& change : command.changes) ids.push_back(static_cast<int>(change.lease.id));
  return ids;
}

class ScatterTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(dispatch.ends, 1) << "a scatter ends exactly once"; }

  void start(Command command) { start(make_scatter(std::move(command), kShards)); }
  void start(std::unique_ptr<Scatter> made) {
    scatter = std::move(made);
    scatter->start(dispatch);
  }
  // The oldest command without an answer.
  RecordingDispatch::Sent next() {
    EXPECT_FALSE(dispatch.sent.empty());
    if (dispatch.sent.empty()) return {.shard = -1, .command = {}, .commit_thread = {}};
    RecordingDispatch::Sent first = std::move(dispatch.sent.front());
    dispatch.sent.pop_front();
    return first;
  }
  void answer(int shard, Answer answer) { scatter->take_answer(dispatch, shard, std::move(answer)); }
  // Answers the oldest command, which must have been sent to this shard, and returns it.
  Command exchange(int shard, Answer with) {
    RecordingDispatch::Sent first = next();
    EXPECT_EQ(first.shard, shard);
    answer(shard, std::move(with));
    return std::move(first.command);
  }

  RecordingDispatch dispatch;
  std::unique_ptr<Scatter> scatter;
  const Answer& whole = dispatch.finished;
};

using ScatterPublish = ScatterTest;
using ScatterNext = ScatterTest;
using ScatterAdmin = ScatterTest;
using ScatterRead = ScatterTest;

TEST_F(ScatterPublish, EventsWithAKeyGoToTheShardOfTheKey) {
  start(publish(ordered_event(1)));
  EXPECT_THAT(dispatch.sent, SizeIs(1));
  EXPECT_TRUE(dispatch.sent.front().commit_thread) << "a key has one commit thread";

  exchange(1, published(3));

  EXPECT_EQ((*whole.published)->events.front().id, EventId{3});
}

TEST_F(ScatterPublish, EventsWithAKeyDoNotGoElsewhereWhenTheirShardIsUnavailable) {
  start(publish(ordered_event(1)));

  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
}

TEST_F(ScatterPublish, EventsWithoutAKeyGoToTheNextShardWhenTheFirstIsUnavailable) {
  start(publish(NewEvent{}));

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, published(3));

  EXPECT_EQ((*whole.published)->events.front().id, EventId{3});
}

TEST_F(ScatterPublish, AnUnknownOutcomeIsNotTriedOnAnotherShard) {
  start(publish(NewEvent{}));

  exchange(0, error_of(ErrorCode::unknown_outcome));

  EXPECT_EQ(whole.error->code, ErrorCode::unknown_outcome);
}

TEST_F(ScatterPublish, AShardThatMayHaveRoomLaterDecidesTheRefusal) {
  start(publish(NewEvent{}));

  exchange(0, not_published(ErrorCode::queue_full));
  exchange(1, not_published(ErrorCode::too_large));

  EXPECT_EQ(whole.published->error().code, ErrorCode::queue_full);
}

TEST_F(ScatterPublish, KeysOfTwoShardsAreRefusedBeforeAnythingIsSent) {
  start(publish_all({ordered_event(0), ordered_event(1)}));

  EXPECT_THAT(dispatch.sent, IsEmpty());
  EXPECT_EQ(whole.published->error().code, ErrorCode::invalid_argument);
}

TEST_F(ScatterPublish, APublicationThatIsWaitedForWaitsForTheEndOfItsEvent) {
  start(publish_and_wait(NewEvent{}));

  const Command sent = exchange(0, published(4));

  EXPECT_EQ(sent.wait->timeout, 0s) << "a shard does not wait";
  ASSERT_TRUE(dispatch.waiting_end);
  EXPECT_EQ(std::get<EventId>(dispatch.waiting_end->what), EventId{4});
  EXPECT_EQ(dispatch.waiting_end->timeout, 20s);
}

TEST_F(ScatterNext, ReportsGoToTheShardsOfTheirEventsAndTheAnswerKeepsTheirOrder) {
  start(reports({2, 3, 4}));
  ASSERT_THAT(dispatch.sent, SizeIs(2));
  EXPECT_THAT(reported(dispatch.sent[0].command), ElementsAre(2, 4));
  EXPECT_THAT(reported(dispatch.sent[1].command), ElementsAre(3));

  answer(1, changed({13}));
  answer(0, changed({12, 14}));

  std::vector<int> order;
  for (const Result<Changed>& result : whole.changed) order.push_back(result->max_retries);
  EXPECT_THAT(order, ElementsAre(12, 13, 14));
}

TEST_F(ScatterNext, AClaimFollowsTheReportsAndGoesFromAnEmptyShardToTheNext) {
  Command command = reports({2, 3});
  command.claim = claim({}, "w", 5).claim;
  start(std::move(command));
  EXPECT_FALSE(exchange(0, changed({12})).claim);
  EXPECT_FALSE(exchange(1, changed({13})).claim);

  EXPECT_EQ(exchange(0, {}).claim->limit, 5U);
  exchange(1, claimed(7));

  EXPECT_THAT(dispatch.empty, ElementsAre(std::pair(0, "main")));
  EXPECT_THAT(whole.changed, SizeIs(2));
  EXPECT_THAT(ids(whole.claims), ElementsAre(EventId{7}));
}

TEST_F(ScatterNext, AClaimGoesWithTheReportsOfOneShardAndThenOnlyToTheOtherShard) {
  dispatch.claims_with_reports = true;
  Command command = reports({3});
  command.claim = claim({}, "w").claim;
  start(std::move(command));
  EXPECT_TRUE(exchange(1, changed({13})).claim);

  EXPECT_THAT(exchange(0, {}).changes, IsEmpty());

  EXPECT_THAT(whole.changed, SizeIs(1));
  EXPECT_THAT(whole.claims, IsEmpty());
}

TEST_F(ScatterNext, AReportToAShardThatIsUnavailableFailsAloneAndTheClaimStillRuns) {
  Command command = reports({2, 3});
  command.claim = claim({}, "w").claim;
  start(std::move(command));
  exchange(0, changed({12}));
  exchange(1, Answer{.error = unavailable(1)});
  exchange(0, claimed(6));

  ASSERT_FALSE(whole.error);
  ASSERT_THAT(whole.changed, SizeIs(2));
  EXPECT_TRUE(whole.changed[0]);
  EXPECT_EQ(whole.changed[1].error().code, ErrorCode::unavailable);
  EXPECT_THAT(whole.claims, SizeIs(1));
}

TEST_F(ScatterNext, WhenEveryReportFailsTheCallFails) {
  start(reports({2, 3}));

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
  EXPECT_THAT(whole.changed, IsEmpty());
}

TEST_F(ScatterNext, AClaimThatFindsNothingOnAnyShardGoesOnWaiting) {
  start(claim_or_wait({}, "w"));

  EXPECT_EQ(exchange(0, {}).claim->wait, 0s) << "a shard does not wait";
  exchange(1, {});

  ASSERT_TRUE(dispatch.waiting_claim);
  EXPECT_EQ(dispatch.waiting_claim->wait, 20s);
}

TEST_F(ScatterNext, AForgottenClaimIsNotSentToTheNextShard) {
  start(claim_or_wait({}, "w"));

  scatter->forget();
  exchange(0, {});

  EXPECT_THAT(dispatch.sent, IsEmpty());
  EXPECT_FALSE(dispatch.waiting_claim);
}

TEST_F(ScatterNext, AClaimAsksOnlyShardsThatAreUp) {
  dispatch.up = {false, true};
  start(claim({}, "w"));

  exchange(1, {});

  EXPECT_FALSE(whole.error);
}

TEST_F(ScatterNext, AClaimFailsWhenNoShardIsUp) {
  dispatch.up = {false, false};
  start(claim_or_wait({}, "w"));

  EXPECT_THAT(dispatch.sent, IsEmpty());
  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
}

TEST_F(ScatterNext, AWindowAllowsAsManyEventsAsTheWorkerDoesNotHoldOnAnyShard) {
  Command command = claim({}, "w", 10);
  command.claim->window = 5;
  start(std::move(command));
  EXPECT_TRUE(std::holds_alternative<HoldingQuery>(exchange(0, held(2)).admin));
  EXPECT_TRUE(std::holds_alternative<HoldingQuery>(exchange(1, held(1)).admin));

  EXPECT_EQ(exchange(0, claimed(2)).claim->limit, 2U);

  EXPECT_THAT(whole.claims, SizeIs(1));
}

TEST_F(ScatterNext, AFullWindowClaimsNothing) {
  Command command = claim({}, "w", 10);
  command.claim->window = 3;
  start(std::move(command));

  exchange(0, held(2));
  exchange(1, held(1));

  EXPECT_THAT(dispatch.sent, IsEmpty());
  EXPECT_THAT(whole.claims, IsEmpty());
}

TEST_F(ScatterNext, ALastRetryAsksEveryCommitThreadOfEveryShard) {
  start(make_claim_retry(*claim_or_wait({}, "w").claim, {1, 0}, RetryIn::every_commit_thread));

  std::vector<std::pair<int, std::size_t>> asked;
  while (!dispatch.sent.empty()) {
    const RecordingDispatch::Sent sent = next();
    asked.emplace_back(sent.shard, sent.commit_thread.value());
    answer(sent.shard, {});
  }

  EXPECT_THAT(asked, ElementsAre(std::pair(1, 0U), std::pair(1, 1U), std::pair(0, 0U), std::pair(0, 1U)));
  EXPECT_FALSE(dispatch.waiting_claim);
}

TEST_F(ScatterAdmin, AChangeOfAQueueIsMadeOnOneShardAfterTheOther) {
  start(configure("main", {}));
  EXPECT_THAT(dispatch.sent, SizeIs(1)) << "the second shard waits for the first";

  exchange(0, queue_changed(3));
  exchange(1, queue_changed(4));

  EXPECT_EQ(admin_answer<QueueChanged>(whole)->depth, 7);
}

TEST_F(ScatterAdmin, AChangeOfAQueueIsRefusedWhileAShardIsUnavailable) {
  dispatch.up = {true, false};
  start(configure("main", {}));

  EXPECT_THAT(dispatch.sent, IsEmpty());
  EXPECT_EQ(whole.error->message, "shard 1 is unavailable");
}

TEST_F(ScatterAdmin, AChangeThatReachedOnlyTheFirstShardHasAnUnknownOutcome) {
  start(configure("main", {}));

  exchange(0, queue_changed(0));
  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->code, ErrorCode::unknown_outcome);
}

TEST_F(ScatterAdmin, AChangeThatFailedOnTheFirstShardChangedNothing) {
  start(configure("main", {}));

  exchange(0, Answer{.error = unavailable(0)});

  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
}

TEST_F(ScatterAdmin, AStatusMakesTheQueueOnAShardThatHasNoEventOfItYet) {
  start(pause("main"));
  exchange(0, queue_changed(1));
  exchange(1, no_queue());

  const Command made = exchange(1, queue_changed(0));
  const Command paused = exchange(1, queue_changed(0));

  EXPECT_TRUE(std::holds_alternative<QueueChange::Configure>(std::get<QueueChange>(made.admin).what));
  EXPECT_TRUE(std::holds_alternative<QueueChange::SetStatus>(std::get<QueueChange>(paused.admin).what));
  EXPECT_EQ(admin_answer<QueueChanged>(whole)->depth, 1);
}

TEST_F(ScatterAdmin, AQueueThatIsOnNoShardIsNotFound) {
  start(pause("main"));

  exchange(0, no_queue());
  exchange(1, no_queue());

  EXPECT_EQ(admin_answer<QueueChanged>(whole).error().code, ErrorCode::not_found);
}

QueueChange change_in(const Command& command) { return std::get<QueueChange>(command.admin); }
bool only_checks(const Command& command) {
  return std::get<QueueChange::Remove>(change_in(command).what).only_check;
}

TEST_F(ScatterAdmin, AQueueIsRemovedAfterAllShardsWereAsked) {
  start(remove_queue("q"));

  EXPECT_TRUE(only_checks(exchange(0, queue_changed(0))));
  EXPECT_TRUE(only_checks(exchange(1, no_queue())));
  EXPECT_FALSE(only_checks(exchange(0, queue_changed(0))));

  EXPECT_TRUE(admin_answer<QueueChanged>(whole));
}

TEST_F(ScatterAdmin, AQueueThatOneShardNeedsIsRemovedFromNone) {
  start(remove_queue("q"));

  exchange(0, queue_changed(0));
  exchange(1, Answer{.admin = Result<QueueChanged>(Error{ErrorCode::conflict, "full", "queue"})});

  EXPECT_EQ(admin_answer<QueueChanged>(whole).error().message, "full");
}

TEST_F(ScatterAdmin, AQueueThatGetsAnEventDuringItsRemovalIsMadeAgainWithItsSettingsAndStatus) {
  QueueChanged changed;
  changed.row.config.max_retries = 7;
  changed.row.status = QueueStatus::draining;
  start(remove_queue("q"));
  exchange(0, queue_changed(0));
  exchange(1, queue_changed(0));
  exchange(0, Answer{.admin = Result<QueueChanged>(changed)});
  exchange(1, Answer{.admin = Result<QueueChanged>(Error{ErrorCode::conflict, "full", "queue"})});

  const Command made = exchange(0, queue_changed(0));
  const Command drained = exchange(0, queue_changed(0));

  EXPECT_EQ(std::get<QueueChange::Configure>(change_in(made).what).config.max_retries, 7);
  EXPECT_EQ(std::get<QueueChange::SetStatus>(change_in(drained).what).status, QueueStatus::draining);
  EXPECT_EQ(admin_answer<QueueChanged>(whole).error().message, "full");
}

TEST_F(ScatterAdmin, AQueueThatIsOnNoShardCannotBeRemoved) {
  start(remove_queue("q"));

  exchange(0, no_queue());
  exchange(1, no_queue());

  EXPECT_EQ(admin_answer<QueueChanged>(whole).error().code, ErrorCode::not_found);
}

TEST_F(ScatterAdmin, ARevivalGoesOnToTheNextShardWithTheRestOfItsLimit) {
  start(replay({.queue = "main", .limit = 5}));

  exchange(0, revived({EventId{2}, EventId{4}}));
  const Command second = exchange(1, revived({EventId{3}}));

  EXPECT_EQ(std::get<Revival>(second.admin).filter.limit, 3U);
  EXPECT_THAT(admin_answer<Revived>(whole)->events, ElementsAre(EventId{2}, EventId{4}, EventId{3}));
  EXPECT_FALSE(admin_answer<Revived>(whole)->more);
}

TEST_F(ScatterAdmin, ARevivalWhoseLimitIsReachedNamesTheShardToGoOnWith) {
  start(replay({.queue = "main", .limit = 2}));

  exchange(0, revived({EventId{2}, EventId{4}}));

  EXPECT_TRUE(admin_answer<Revived>(whole)->more);
  EXPECT_EQ(admin_answer<Revived>(whole)->next->id, EventId{1}) << "an id of shard 1";
}

TEST_F(ScatterRead, AListIsReadOnAllShardsAndMergedById) {
  Command command;
  command.list.emplace();
  command.list->offset = 1;
  command.list->limit = 2;
  start(std::move(command));
  ASSERT_THAT(dispatch.sent, SizeIs(2));

  answer(1, page({1, 5}));
  answer(0, page({2, 4}));

  EXPECT_EQ(dispatch.sent[0].command.list->offset, 0) << "any shard may have the first events";
  EXPECT_EQ(dispatch.sent[0].command.list->limit, 3U);
  std::vector<EventId> merged;
  for (const Event& event : (*whole.page)->events) merged.push_back(event.id);
  EXPECT_THAT(merged, ElementsAre(EventId{2}, EventId{4}));
}

TEST_F(ScatterRead, AListNamesTheShardThatIsMissing) {
  Command command;
  command.list.emplace();
  start(std::move(command));

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, page({3}));

  ASSERT_FALSE(whole.error);
  EXPECT_THAT((*whole.page)->events, SizeIs(1));
  EXPECT_THAT(whole.missing, ElementsAre(0));
}

TEST_F(ScatterRead, AReadThatFailsOnEveryShardFails) {
  Command command;
  command.list.emplace();
  start(std::move(command));

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
}

TEST_F(ScatterRead, AnEventIsReadOnItsShardOnly) {
  start(get(EventId{5}));

  exchange(1, Answer{.details = Details{}});

  EXPECT_TRUE(*whole.details);
}

TEST_F(ScatterRead, TheEventWithANameIsAskedOfEveryShard) {
  const auto found = [](std::vector<EventId> ids) {
    Answer answer;
    answer.admin = Result<FoundEvents>(FoundEvents{{std::move(ids)}});
    return answer;
  };
  start(ask(EventIdsQuery{{"a"}}));
  ASSERT_THAT(dispatch.sent, SizeIs(2));

  exchange(0, found({}));
  exchange(1, found({EventId{5}}));

  EXPECT_THAT(std::get<Result<FoundEvents>>(whole.admin)->events, ElementsAre(ElementsAre(EventId{5})));
}

TEST_F(ScatterRead, MetricsAreAskedOfEveryCommitThread) {
  start(ask(MetricsRequest{}));
  ASSERT_THAT(dispatch.sent, SizeIs(4));
  Metrics one;
  one.waiting_claims = 1;
  Answer metrics;
  metrics.admin = one;
  for (const int shard : {0, 0, 1, 1}) exchange(shard, metrics);

  EXPECT_EQ(std::get<Metrics>(whole.admin).waiting_claims, 4);
}

// The metrics of a queue with one pending event.
Answer measured_queue() {
  Metrics metrics;
  metrics.queues.push_back({.queue = "mail"});
  metrics.queues[0].counts.at(static_cast<std::size_t>(Status::pending)) = 1;
  metrics.workers = {
      {.row = {.id = "w"}, .asks = {{"mail", {"a"}}}, .asked_lately = true, .state = WorkerState::active}};
  Answer answer;
  answer.admin = std::move(metrics);
  return answer;
}

Answer counted(std::int64_t unattended) {
  Answer answer;
  answer.admin = Result<std::vector<std::int64_t>>(std::vector{unattended});
  return answer;
}

TEST_F(ScatterRead, TheReadersOfAllShardsCountTheUnattendedEventsAfterTheMetrics) {
  start(ask(MetricsRequest{}));
  for (const int shard : {0, 0, 1, 1}) exchange(shard, measured_queue());
  ASSERT_THAT(dispatch.sent, SizeIs(2));
  const auto& query = std::get<UnattendedQuery>(dispatch.sent.front().command.admin);
  EXPECT_THAT(query.queues, ElementsAre(AskedTags{"mail", {"a"}}));

  exchange(0, counted(2));
  exchange(1, counted(3));

  EXPECT_EQ(std::get<Metrics>(whole.admin).queues.at(0).unattended, 5);
}

TEST_F(ScatterRead, MetricsNameAShardThatBecomesUnavailableBeforeItCountsUnattendedEvents) {
  start(ask(MetricsRequest{}));
  for (const int shard : {0, 0, 1, 1}) exchange(shard, measured_queue());

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, counted(3));

  EXPECT_FALSE(whole.error);
  EXPECT_THAT(whole.missing, ElementsAre(0));
  EXPECT_EQ(std::get<Metrics>(whole.admin).queues.at(0).unattended, 3);
}

TEST_F(ScatterRead, MetricsAnswerAlsoIfAllShardsBecomeUnavailableBeforeTheyCountUnattendedEvents) {
  start(ask(MetricsRequest{}));
  for (const int shard : {0, 0, 1, 1}) exchange(shard, measured_queue());

  for (const int shard : {0, 1}) exchange(shard, Answer{.error = unavailable(shard)});

  EXPECT_FALSE(whole.error);
  EXPECT_THAT(whole.missing, ElementsAre(0, 1));
  EXPECT_EQ(std::get<Metrics>(whole.admin).queues.at(0).subscribers, 1);
}

TEST_F(ScatterRead, ACorrelationHasEndedWhenItHasEndedOnAllShards) {
  start(wait_for(WaitRequest::Correlated{"batch"}));

  exchange(0, waited(true));
  exchange(1, waited(true));

  EXPECT_TRUE(whole.waited);
  EXPECT_FALSE(dispatch.waiting_end);
}

TEST_F(ScatterRead, ACorrelationWithEventsLeftOnOneShardIsWaitedFor) {
  start(wait_for(WaitRequest::Correlated{"batch"}));

  exchange(0, waited(true));
  exchange(1, waited(false));

  ASSERT_TRUE(dispatch.waiting_end);
  EXPECT_FALSE(whole.waited);
}

TEST_F(ScatterRead, AnEndOnAShardThatIsUnavailableCannotBeWaitedFor) {
  start(wait_for(WaitRequest::Drained{"main"}));

  exchange(0, waited(true));
  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->code, ErrorCode::unavailable);
}

TEST_F(ScatterRead, AnExplanationCountsTheClaimsThatWaitInTheRouter) {
  start(why(EventId{3}));
  EXPECT_TRUE(exchange(1, Answer{.details = Details{}}).get);

  const Command asked = exchange(1, Answer{.explanation = Explanation{.id = EventId{3}}});

  EXPECT_EQ(asked.extra_demand.waiting, 7U);
  EXPECT_TRUE(whole.explanation);
}

TEST_F(ScatterRead, AProbeSucceedsWhenOneShardCanWriteAndNamesTheOther) {
  Command command;
  command.probe = true;
  start(std::move(command));

  exchange(0, Answer{.error = unavailable(0)});
  exchange(1, {});

  EXPECT_FALSE(whole.error);
  EXPECT_THAT(whole.missing, ElementsAre(0));
}

TEST_F(ScatterRead, AnEmptyCommandIsAnsweredAfterEveryCommitThreadHasAnswered) {
  start(Command{});
  for (const int shard : {0, 0, 1}) exchange(shard, {});
  EXPECT_EQ(dispatch.ends, 0);

  exchange(1, {});
  EXPECT_FALSE(whole.error);
}

TEST_F(ScatterRead, AnEmptyCommandFailsWhenAShardIsUnavailable) {
  start(Command{});
  for (const int shard : {0, 0, 1}) exchange(shard, {});

  exchange(1, Answer{.error = unavailable(1)});

  EXPECT_EQ(whole.error->message, "shard 1 is unavailable");
}

}  // namespace
}  // namespace eventq
