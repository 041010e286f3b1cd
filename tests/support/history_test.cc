// history_test.cc: the checker rejects impossible histories and accepts possible ones.
//
// Each bad history is the good one with one thing changed.
#include "support/history.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using Kind = ReportCall::Kind;

constexpr CheckSettings kSettings{.lease = 500ms, .max_retries = 3, .max_attempts = 5};

SteadyTime at(int millis) { return SteadyTime(std::chrono::milliseconds(millis)); }

PublishCall publish_ok(std::string title, std::int64_t id) {
  return {.sent = {{std::move(title), R"({"n": 1})"}}, .outcome = CallOutcome::ok, .ids = {id}};
}

DeliveredEvent deliver(std::int64_t id, int attempt, std::string worker_id, int invoked, int returned) {
  return {id, attempt, std::move(worker_id), "a", R"({"n": 1})", at(invoked), at(returned)};
}

ReportCall report(Kind kind, int attempt, std::string worker_id, CallOutcome outcome, int invoked) {
  const bool ended = kind == Kind::complete && outcome == CallOutcome::ok;
  return {kind, 1, attempt, std::move(worker_id), outcome, ended, at(invoked), at(invoked + 5)};
}

// Published; failed once by w1, abandoned by w2, completed by w3.
History good_history() {
  History history;
  history.publishes.push_back(publish_ok("a", 1));
  history.deliveries.push_back(deliver(1, 1, "w1:1", 100, 110));
  history.reports.push_back(report(Kind::fail, 1, "w1:1", CallOutcome::ok, 120));
  history.deliveries.push_back(deliver(1, 2, "w2:1", 200, 230));
  history.deliveries.push_back(deliver(1, 3, "w3:1", 600, 730));
  history.reports.push_back(report(Kind::start, 3, "w3:1", CallOutcome::ok, 740));
  history.reports.push_back(report(Kind::heartbeat, 3, "w3:1", CallOutcome::ok, 745));
  history.reports.push_back(report(Kind::complete, 3, "w3:1", CallOutcome::ok, 750));
  history.finals.push_back({.id = 1,
                            .title = "a",
                            .payload = R"({"n": 1})",
                            .status = "COMPLETED",
                            .attempts = 3,
                            .retry_count = 1,
                            .worker_id = "w3:1",
                            .log = {{.action = "PICKED", .attempt = 1, .worker_id = "w1:1"},
                                    {.action = "FAILED", .attempt = 1, .worker_id = "w1:1", .retries = true},
                                    {.action = "PICKED", .attempt = 2, .worker_id = "w2:1"},
                                    {.action = "ABANDONED", .attempt = 2, .worker_id = "w2:1"},
                                    {.action = "PICKED", .attempt = 3, .worker_id = "w3:1"},
                                    {.action = "STARTED", .attempt = 3, .worker_id = "w3:1"},
                                    {.action = "COMPLETED", .attempt = 3, .worker_id = "w3:1"}}});
  return history;
}

// Another event, never delivered, and cancelled.
void add_second_event(History& history) {
  history.publishes.push_back(publish_ok("b", 2));
  history.finals.push_back({.id = 2,
                            .title = "b",
                            .payload = R"({"n": 1})",
                            .status = "CANCELLED",
                            .log = {{.action = "CANCELLED"}}});
}

// The log of `count` attempts by one worker, each of which ends with `action`.
std::vector<LogStep> log_of_attempts(int count, const std::string& action, bool retries) {
  std::vector<LogStep> log;
  for (int attempt = 1; attempt <= count; ++attempt) {
    log.push_back({.action = "PICKED", .attempt = attempt, .worker_id = "w:1"});
    log.push_back({.action = action, .attempt = attempt, .worker_id = "w:1", .retries = retries});
  }
  return log;
}

// Three events with one ordering_key; the third supersedes the second before a worker claims it.
void add_line(History& history) {
  for (std::int64_t id = 11; id <= 13; ++id) {
    const std::string title = "line-" + std::to_string(id);
    history.publishes.push_back(publish_ok(title, id));
    const int start = 1000 * static_cast<int>(id);
    FinalEvent event{
        .id = id, .title = title, .payload = R"({"n": 1})", .queue = "orders", .ordering_key = "k"};
    if (id == 12) {
      event.status = "SUPERSEDED";
      event.log = {{.action = "SUPERSEDED", .id = 105}};
    } else {
      event.status = "COMPLETED";
      event.attempts = 1;
      event.worker_id = "w:1";
      event.log = {{.action = "PICKED", .attempt = 1, .worker_id = "w:1", .id = 10 * id},
                   {.action = "COMPLETED", .attempt = 1, .worker_id = "w:1", .id = 10 * id + 1}};
      history.deliveries.push_back(deliver(id, 1, "w:1", start, start + 10));
      history.deliveries.back().title = title;
      ReportCall done = report(Kind::complete, 1, "w:1", CallOutcome::ok, start + 20);
      done.id = id;
      history.reports.push_back(done);
    }
    if (id > 11) event.supersede_key = "s";
    history.finals.push_back(event);
  }
  history.finals[history.finals.size() - 2].superseded_by = 13;
}

// A batch of one event, and its on_complete event.
void add_completion(History& history) {
  history.publishes.push_back(publish_ok("batch", 21));
  history.publishes.back().on_complete = PublishCall::Sent{"done", "[]"};
  for (const auto& [id, title] : {std::pair(21, "batch"), std::pair(22, "done")}) {
    history.finals.push_back({.id = id,
                              .title = title,
                              .payload = id == 21 ? R"({"n": 1})" : "[]",
                              .status = "CANCELLED",
                              .log = {{.action = "CANCELLED"}}});
  }
}

TEST(HistoryTest, AcceptsAnEventThatFailedWasAbandonedAndCompleted) {
  EXPECT_EQ(describe(check(good_history(), kSettings)), "");
}

TEST(HistoryTest, AcceptsAnEmptyHistory) { EXPECT_EQ(describe(check({}, kSettings)), ""); }

struct Case {
  const char* name;
  std::function<void(History&)> change;
};
void PrintTo(const Case& example, std::ostream* out) { *out << example.name; }

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class GoodHistoryTest : public testing::TestWithParam<Case> {};

TEST_P(GoodHistoryTest, IsAccepted) {
  History history = good_history();

  GetParam().change(history);

  EXPECT_EQ(describe(check(history, kSettings)), "");
}

INSTANTIATE_TEST_SUITE_P(
    Variations, GoodHistoryTest,
    testing::Values(
        Case{"APublishWithoutAnAnswerOrAnEvent",
             [](History& h) {
               h.publishes.push_back({.sent = {{"b", "1"}}, .outcome = CallOutcome::unknown, .ids = {}});
             }},
        Case{"APublishWithoutAnAnswerThatLeftItsEvent",
             [](History& h) {
               add_second_event(h);
               h.publishes.back().outcome = CallOutcome::unknown;
               h.publishes.back().ids.clear();
             }},
        Case{"ARepeatedPublishThatGotTheSameId",
             [](History& h) {
               h.publishes.insert(h.publishes.begin(),
                                  {.sent = h.publishes[0].sent, .outcome = CallOutcome::unknown, .ids = {}});
               h.publishes.push_back(publish_ok("a", 1));
             }},
        Case{"ABatchWithoutAnAnswerOrAnEvent",
             [](History& h) {
               h.publishes.push_back(
                   {.sent = {{"b", "1"}, {"c", "1"}}, .outcome = CallOutcome::unknown, .ids = {}});
             }},
        Case{"AReportWithoutAnAnswerThatWasRecorded",
             [](History& h) { h.reports[3].outcome = CallOutcome::unknown; }},
        Case{"AReportWithoutAnAnswerThatWasNotRecorded",
             [](History& h) {
               h.reports.push_back(report(Kind::complete, 2, "w2:1", CallOutcome::unknown, 235));
             }},
        Case{
            "AReportMadeTwiceAndRecordedOnce",
            [](History& h) { h.reports.push_back(report(Kind::complete, 3, "w3:1", CallOutcome::ok, 800)); }},
        Case{"ALateReportThatWasRefused",
             [](History& h) {
               h.reports.push_back(report(Kind::complete, 2, "w2:1", CallOutcome::refused, 800));
             }},
        Case{"AClaimWhoseAnswerNeverArrived",
             [](History& h) { h.deliveries.erase(h.deliveries.begin() + 1); }},
        Case{"AClaimThatIsAnsweredAfterItsLeaseExpired",
             [](History& h) { h.deliveries[1].returned = at(2000); }},
        Case{"AClaimMadeDuringTheCompletion",
             [](History& h) {
               h.deliveries.push_back(deliver(2, 1, "w4:1", 751, 760));
               add_second_event(h);
               h.deliveries.back().title = "b";
               h.finals.back() = {.id = 2,
                                  .title = "b",
                                  .payload = R"({"n": 1})",
                                  .status = "CANCELLED",
                                  .attempts = 1,
                                  .worker_id = "w4:1",
                                  .log = {{.action = "PICKED", .attempt = 1, .worker_id = "w4:1"},
                                          {.action = "CANCELLED", .attempt = 1}}};
             }},
        Case{"AnOrderedLineWithASupersededEvent", add_line},
        Case{"ABatchAndItsOnCompleteEvent", add_completion},
        Case{"AnEventThatFailedAfterFiveClaimsWithoutAReport",
             [](History& h) {
               add_second_event(h);
               FinalEvent& event = h.finals.back();
               event.log = log_of_attempts(5, "ABANDONED", false);
               event.log.push_back({.action = "FAILED", .attempt = 5});
               event.status = "FAILED";
               event.attempts = 5;
               event.worker_id = "w:1";
             }},
        Case{"AnEventReleasedBecauseItsWorkerDisconnected",
             [](History& h) {
               add_second_event(h);
               h.finals.back().log = {{.action = "PICKED", .attempt = 1, .worker_id = "w:1"},
                                      {.action = "RELEASED", .attempt = 1, .worker_id = "w:1"},
                                      {.action = "CANCELLED", .attempt = 1}};
               h.finals.back().attempts = 1;
             }}),
    name_of_case);

struct BadCase {
  const char* name;
  Flaw flaw;
  std::function<void(History&)> change;
};
void PrintTo(const BadCase& example, std::ostream* out) { *out << example.name; }

class BadHistoryTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadHistoryTest, IsRefusedForItsFlaw) {
  History history = good_history();

  GetParam().change(history);

  std::set<std::string_view> flaws;
  const auto findings = check(history, kSettings);
  for (const Finding& finding : findings) flaws.insert(name_of(finding.flaw));
  EXPECT_TRUE(flaws.contains(name_of(GetParam().flaw))) << describe(findings);
}

INSTANTIATE_TEST_SUITE_P(
    OneChangeEach, BadHistoryTest,
    testing::Values(
        BadCase{"AnAcknowledgedEventIsMissing", Flaw::lost,
                [](History& h) { h.publishes.push_back(publish_ok("b", 2)); }},
        BadCase{"AnAcknowledgedIdBelongsToAnotherEvent", Flaw::lost,
                [](History& h) { h.publishes.push_back(publish_ok("b", 1)); }},
        BadCase{"ADeliveredEventIsMissing", Flaw::lost, [](History& h) { h.finals.clear(); }},
        BadCase{"AnOnCompleteEventIsMissing", Flaw::lost,
                [](History& h) {
                  add_completion(h);
                  h.finals.pop_back();
                }},
        BadCase{"AnOnCompleteEventExistsTwice", Flaw::doubled,
                [](History& h) {
                  add_completion(h);
                  h.finals.push_back(h.finals.back());
                  h.finals.back().id = 23;
                }},
        BadCase{"AnOnCompleteEventWasPublishedTooEarly", Flaw::unrequested,
                [](History& h) {
                  add_completion(h);
                  h.finals[h.finals.size() - 2].status = "PENDING";
                  h.finals[h.finals.size() - 2].log.clear();
                }},
        BadCase{"AnOnCompleteEventExistsWithoutItsBatch", Flaw::unrequested,
                [](History& h) {
                  add_completion(h);
                  h.publishes.back().outcome = CallOutcome::unknown;
                  h.publishes.back().ids.clear();
                  h.finals.erase(h.finals.end() - 2);
                }},
        BadCase{"AnEventWasClaimedBeforeAnOlderOneOfItsLineEnded", Flaw::out_of_order,
                [](History& h) {
                  add_line(h);
                  h.finals.back().log.front().id = 110;
                }},
        BadCase{"AnEventWasDeliveredBeforeAnOlderOneOfItsLine", Flaw::out_of_order,
                [](History& h) {
                  add_line(h);
                  h.deliveries.back().invoked = at(900);
                  h.deliveries.back().returned = at(910);
                }},
        BadCase{"AnOlderEventSupersededANewerOne", Flaw::wrongly_superseded,
                [](History& h) {
                  add_line(h);
                  h.finals[h.finals.size() - 2].superseded_by = 11;
                }},
        BadCase{"AnEventWasSupersededByOneWithAnotherKey", Flaw::wrongly_superseded,
                [](History& h) {
                  add_line(h);
                  h.finals.back().supersede_key = "other";
                }},
        BadCase{"ASupersededEventWasClaimed", Flaw::impossible_log,
                [](History& h) {
                  add_line(h);
                  FinalEvent& event = h.finals[h.finals.size() - 2];
                  event.log.push_back({.action = "PICKED", .attempt = 1, .worker_id = "w:1", .id = 106});
                }},
        BadCase{"TwoEventsHaveOneId", Flaw::id_reused,
                [](History& h) {
                  add_second_event(h);
                  h.finals.back().id = 1;
                }},
        BadCase{"TwoPublishersGotOneId", Flaw::id_reused,
                [](History& h) { h.publishes.push_back(publish_ok("b", 1)); }},
        BadCase{"ARepeatedPublishGotASecondEvent", Flaw::doubled,
                [](History& h) {
                  add_second_event(h);
                  h.publishes.back() = publish_ok("a", 2);
                  h.finals.back().title = "a";
                }},
        BadCase{"APublishWithoutAnAnswerLeftTwoEvents", Flaw::doubled,
                [](History& h) {
                  add_second_event(h);
                  h.publishes.pop_back();
                  h.publishes.front().outcome = CallOutcome::unknown;
                  h.publishes.front().ids.clear();
                  h.finals.back().title = "a";
                }},
        BadCase{"ACompletionIsInTheLogTwice", Flaw::doubled,
                [](History& h) { h.finals[0].log.push_back(h.finals[0].log.back()); }},
        BadCase{
            "TwoWorkersCompletedIt", Flaw::doubled,
            [](History& h) { h.reports.push_back(report(Kind::complete, 2, "w2:1", CallOutcome::ok, 760)); }},
        BadCase{"OneAttemptWasDeliveredTwice", Flaw::doubled,
                [](History& h) { h.deliveries.push_back(deliver(1, 3, "w4:1", 2000, 2010)); }},
        BadCase{"ItWasDeliveredAfterItsCompletion", Flaw::resurrected,
                [](History& h) { h.deliveries.push_back(deliver(1, 4, "w4:1", 2000, 2010)); }},
        BadCase{"ALaterAttemptWasDeliveredBesideItsCompletion", Flaw::resurrected,
                [](History& h) { h.deliveries.push_back(deliver(1, 4, "w4:1", 740, 752)); }},
        BadCase{"ItWasDeliveredAfterItsLastFailure", Flaw::resurrected,
                [](History& h) {
                  h.reports[0].ended = true;
                  h.reports.pop_back();
                }},
        BadCase{"AnAttemptBeganWithinTheLeaseBefore", Flaw::overlapping_leases,
                [](History& h) { h.deliveries[2].returned = at(690); }},
        BadCase{"AnAttemptBeganWithinALeaseThatAHeartbeatExtended", Flaw::overlapping_leases,
                [](History& h) {
                  h.reports.push_back(report(Kind::heartbeat, 2, "w2:1", CallOutcome::ok, 400));
                }},
        BadCase{"AnAttemptBeganWithinALeaseThatAStartExtended", Flaw::overlapping_leases,
                [](History& h) {
                  h.reports.push_back(report(Kind::start, 2, "w2:1", CallOutcome::ok, 400));
                  h.finals[0].log.insert(h.finals[0].log.begin() + 3,
                                         {.action = "STARTED", .attempt = 2, .worker_id = "w2:1"});
                }},
        BadCase{"TheStoredPayloadDiffers", Flaw::payload_changed,
                [](History& h) { h.finals[0].payload = R"({"n":1})"; }},
        BadCase{"TheDeliveredPayloadDiffers", Flaw::payload_changed,
                [](History& h) { h.deliveries[1].payload = R"({"n":1})"; }},
        BadCase{"AnAttemptIsMissing", Flaw::attempt_gap,
                [](History& h) {
                  h.deliveries.erase(h.deliveries.begin() + 1);
                  h.finals[0].log.erase(h.finals[0].log.begin() + 2, h.finals[0].log.begin() + 4);
                }},
        BadCase{"AttemptsGoBackInTheLog", Flaw::attempt_gap,
                [](History& h) { std::swap(h.finals[0].log[0], h.finals[0].log[2]); }},
        BadCase{"AttemptsGoBackInTime", Flaw::attempt_back,
                [](History& h) {
                  h.deliveries[2].invoked = at(10);
                  h.deliveries[2].returned = at(20);
                }},
        BadCase{"ItWasClaimedSixTimesWithoutAReport", Flaw::too_many_deliveries,
                [](History& h) {
                  add_second_event(h);
                  h.finals.back().log = log_of_attempts(6, "ABANDONED", false);
                }},
        BadCase{"ItWasClaimedAfterThreeFailures", Flaw::too_many_deliveries,
                [](History& h) {
                  add_second_event(h);
                  h.finals.back().log = log_of_attempts(4, "FAILED", true);
                }},
        BadCase{"OnlyHalfABatchExists", Flaw::torn_batch,
                [](History& h) {
                  add_second_event(h);
                  h.publishes.back() = {
                      .sent = {{"b", R"({"n": 1})"}, {"c", "1"}}, .outcome = CallOutcome::unknown, .ids = {}};
                }},
        BadCase{"AnUnpublishedEvent", Flaw::unrequested, [](History& h) { h.publishes.clear(); }},
        BadCase{"ARefusedPublicationLeftAnEvent", Flaw::unrequested,
                [](History& h) { h.publishes[0].outcome = CallOutcome::refused; }},
        BadCase{"AnUnreportedCompletion", Flaw::unrequested, [](History& h) { h.reports.pop_back(); }},
        BadCase{"ACompletionThatWasRefusedIsRecorded", Flaw::unrequested,
                [](History& h) { h.reports[3].outcome = CallOutcome::refused; }},
        BadCase{"AnAcknowledgedFailureIsNotRecorded", Flaw::unrecorded,
                [](History& h) { h.reports.push_back(report(Kind::fail, 2, "w2:1", CallOutcome::ok, 235)); }},
        BadCase{"ADeliveryIsNotRecorded", Flaw::unrecorded,
                [](History& h) { h.deliveries[1].worker_id = "w9:1"; }},
        BadCase{"ACompletionByAWorkerWithoutTheLease", Flaw::impossible_log,
                [](History& h) { h.finals[0].log.back().worker_id = "w2:1"; }},
        BadCase{"ALogThatContinuesAfterTheEnd", Flaw::impossible_log,
                [](History& h) {
                  h.finals[0].log.push_back({.action = "STARTED", .attempt = 3, .worker_id = "w3:1"});
                }},
        BadCase{"AStatusThatTheLogDoesNotLeadTo", Flaw::impossible_log,
                [](History& h) { h.finals[0].status = "FAILED"; }},
        BadCase{"ARetryCountThatTheLogDoesNotLeadTo", Flaw::impossible_log,
                [](History& h) { h.finals[0].retry_count = 2; }},
        BadCase{"AnEventLeftPending", Flaw::unfinished,
                [](History& h) {
                  add_second_event(h);
                  h.finals.back().log.clear();
                  h.finals.back().status = "PENDING";
                }},
        BadCase{"AnEventLeftInProcessing", Flaw::unfinished,
                [](History& h) {
                  h.finals[0].log.resize(6);
                  h.finals[0].status = "PROCESSING";
                }}),
    [](const testing::TestParamInfo<BadCase>& example) { return std::string(example.param.name); });

// Generates histories that follow the rules.
class HistoryGenerator {
 public:
  explicit HistoryGenerator(std::uint32_t seed) : random_(seed) {}

  History generate(int events) {
    for (std::int64_t id = 1; id <= events; ++id) generate_event(id);
    return std::move(history_);
  }

 private:
  int number(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }

  void generate_event(std::int64_t id) {
    const std::string title = "event " + std::to_string(id);
    const bool acknowledged = number(1, 10) > 1;
    history_.publishes.push_back({.sent = {{title, "{}"}}, .outcome = CallOutcome::unknown, .ids = {}});
    if (acknowledged)
      history_.publishes.push_back({.sent = {{title, "{}"}}, .outcome = CallOutcome::ok, .ids = {id}});
    if (!acknowledged && number(0, 1) == 0) return;  // the request never arrived

    FinalEvent event{.id = id, .title = title, .payload = "{}", .status = "PENDING"};
    now_ = 0;
    int in_a_row = 0;
    while (event.status == "PENDING") {
      const std::string worker = "w" + std::to_string(number(1, 4)) + ":1";
      const int attempt = ++event.attempts;
      ++in_a_row;
      event.log.push_back({.action = "PICKED", .attempt = attempt, .worker_id = worker});
      claim(id, title, attempt, worker);
      const int action = number(1, 4);
      if (action == 1) {  // abandoned
        now_ += 510;
        event.log.push_back({.action = "ABANDONED", .attempt = attempt, .worker_id = worker});
        event.worker_id = worker;
        if (in_a_row == kSettings.max_attempts) {
          event.log.push_back({.action = "FAILED", .attempt = attempt});
          event.status = "FAILED";
        }
        continue;
      }
      in_a_row = 0;
      const bool fails = action == 2;
      if (fails) ++event.retry_count;
      const bool ends = !fails || event.retry_count == kSettings.max_retries;
      add_report(id, attempt, worker, fails ? Kind::fail : Kind::complete, ends);
      event.log.push_back({.action = fails ? "FAILED" : "COMPLETED",
                           .attempt = attempt,
                           .worker_id = worker,
                           .retries = !ends});
      event.worker_id = ends ? worker : "";
      if (ends) event.status = fails ? "FAILED" : "COMPLETED";
    }
    history_.finals.push_back(std::move(event));
  }

  void claim(std::int64_t id, const std::string& title, int attempt, const std::string& worker) {
    const int invoked = now_ - number(0, 5);
    now_ += number(1, 20);
    if (number(1, 10) == 1) return;  // the answer never arrived
    history_.deliveries.push_back({id, attempt, worker, title, "{}", at(invoked), at(now_)});
  }

  void add_report(std::int64_t id, int attempt, const std::string& worker, Kind kind, bool ends) {
    const bool answered = number(1, 10) > 1;
    for (int times = number(1, 2); times > 0; --times) {
      const CallOutcome outcome = answered ? CallOutcome::ok : CallOutcome::unknown;
      history_.reports.push_back(
          {kind, id, attempt, worker, outcome, ends && answered, at(now_), at(now_ + 3)});
      now_ += 10;
    }
  }

  std::mt19937 random_;
  History history_;
  int now_ = 0;  // milliseconds
};

TEST(HistoryTest, AcceptsAThousandGeneratedEvents) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(describe(check(HistoryGenerator(seed).generate(20), kSettings)), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace eventq
