// router.h: an engine over several shards. All callers that wait do so here; a shard is only sent commands
// that it can answer at once.
//
// A command becomes a scatter (scatter.h), which sends sub-commands to commit threads of shards. Their
// answers come back here, under one mutex, and advance the scatter. Sends and deliveries that an advance
// causes are collected under the mutex and done after it was released, because a sink may call back.
//
// Threads: as Engine. One thread of its own watches deadlines and timeouts.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/steady.h"
#include "base/uuid.h"
#include "engine/engine.h"
#include "eventq/clock.h"
#include "shards/scatter.h"
#include "shards/shard.h"
#include "wait/asks.h"
#include "wait/polls.h"
#include "wait/retried_claims.h"
#include "wait/retried_ends.h"

namespace eventq {

struct RouterOptions {
  // A shard must answer a command within this time; later the router answers for it.
  Millis answer_timeout = std::chrono::seconds(30);
  // Commit threads used at the same time, but at least one per shard. The others are used while one of these
  // is stalled.
  std::size_t commit_threads = SIZE_MAX;
  // A commit thread is stalled when it has had work for this long and answered nothing.
  Millis stalled_after{25};
  // As in Options: a worker that asked for events within this time is active.
  Millis stale_after = std::chrono::seconds(30);
};

class Router final : public Engine, private AnswerSink, private ShardObserver {
 public:
  // Shards count as up until they say otherwise. `clock` decides when a wait is over.
  Router(std::vector<std::unique_ptr<Shard>> shards, const Clock& clock, const RouterOptions& options);
  ~Router() override;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override;
  void cancel_wait(AnswerSink& sink, std::uint64_t token) override;
  void end_all_waits() override;
  void recheck_clock() override;
  void stop() override;

 private:
  class RouterDispatch;
  // A scatter that has not finished. Exactly one of reply_to, retry, last_retry and end_retry is set.
  struct PendingCall {
    std::shared_ptr<Scatter> scatter;
    std::optional<ReplyTo> reply_to = {};         // of a caller's command
    std::optional<ClaimRetry> retry = {};         // of a waiting claim
    std::optional<WaitingClaim> last_retry = {};  // of a claim whose deadline has passed
    std::optional<WaitRequest> end_retry = {};    // of a waiting end
    std::vector<std::string> workers = {};        // that report in it
    bool counts_waiting = false;                  // it asks for metrics
    std::uint64_t activity_at_start = 0;          // activity_count_ when it started
    bool forgotten = false;
  };
  // A command that a shard has not answered.
  struct SubCommand {
    std::uint64_t call_id = 0;  // 0: timed out, see answer_timed_out()
    int shard = 0;
    std::optional<std::size_t> commit_thread;  // nothing: a read
    bool changes = false;                      // it changes something, if it is done
    SteadyTime sent;
  };
  // The commands that a commit thread has not answered.
  struct ThreadLoad {
    std::size_t timed_out = 0;
    std::size_t outstanding = 0;  // the timed-out ones included
    SteadyTime last_progress;     // when it answered last, or got work after it had none
  };
  // A commit thread that might get the next command. The least choice gets it; the thread's number does not
  // count, so that equal choices of several shards compare as equal.
  struct ThreadChoice {
    std::size_t timed_out = 0;
    bool stalled = false;
    bool spare = false;  // beyond usual_commit_threads()
    std::size_t outstanding = 0;
    std::size_t commit_thread = 0;
    friend bool operator<(const ThreadChoice& a, const ThreadChoice& b) {
      return std::tie(a.timed_out, a.stalled, a.spare, a.outstanding) <
             std::tie(b.timed_out, b.stalled, b.spare, b.outstanding);
    }
  };
  struct ShardSlot {
    std::unique_ptr<Shard> shard;
    bool up = true;
    std::vector<ThreadLoad> commit_threads;
    std::size_t outstanding = 0;   // sub-commands, reads included
    std::set<std::string> hinted;  // queues that a hint named and no claim has found empty since
  };
  // Collected under the mutex, done without it.
  struct Outbox {
    struct Submission {
      Shard* shard;
      std::optional<std::size_t> commit_thread;
      Envelope<Command> request;
    };
    std::vector<Submission> submissions;
    std::vector<Envelope<Answer>> answers;
  };

  void deliver(std::vector<Envelope<Answer>> answers) override;
  void on_activity(int shard, const ShardActivity& activity) override;
  void on_health(int shard, bool up) override;

  // All below REQUIRE: mutex_ is held.
  void start_call(PendingCall pending);
  void take_answer(std::uint64_t sub_id, Answer answer);
  void send(std::uint64_t call_id, int shard, Command command, std::optional<std::size_t> commit_thread);
  void finish(std::uint64_t call_id, Answer answer);
  void answer(const ReplyTo& reply_to, Answer answer);
  void release_claims(const std::vector<Claim>& claims);
  void fail_sub_commands(int shard);
  void answer_timed_out(SteadyTime now);
  void wake_thread();
  [[nodiscard]] ShardSlot& slot_of(int shard) { return slots_[static_cast<std::size_t>(shard)]; }
  [[nodiscard]] const ShardSlot& slot_of(int shard) const { return slots_[static_cast<std::size_t>(shard)]; }
  [[nodiscard]] int shards() const { return static_cast<int>(slots_.size()); }
  [[nodiscard]] Error unavailable_error(int shard) const;
  [[nodiscard]] Error stalled_error(int shard) const;
  [[nodiscard]] Error shard_error(int shard, const std::string& what) const;
  [[nodiscard]] bool all_down() const;
  [[nodiscard]] std::vector<int> rotated(std::size_t first) const;
  void count_sub_command(const SubCommand& sub, int change);
  [[nodiscard]] std::size_t usual_commit_threads(const ShardSlot& slot) const;
  [[nodiscard]] ThreadChoice choose_thread(const ShardSlot& slot) const;
  bool may_claim_with_reports(SteadyTime now);

  // router_waits.cc, REQUIRE: mutex_ is held.
  void finish_retry(ClaimRetry retry, bool forgotten, Answer answer);
  void finish_last_retry(WaitingClaim waiter, bool forgotten, Answer answer);
  void finish_end_retry(const WaitRequest& request, const Answer& answer);
  void keep_waiting(std::uint64_t call_id, ClaimRequest claim, Answer so_far);
  void keep_waiting(std::uint64_t call_id, const WaitRequest& wait, Answer so_far);
  void answer_ends(std::vector<WaitingEnd> waits, const std::optional<Error>& error);
  void start_retries();
  void retry_last(WaitingClaim waiter);
  void note_asked(const ClaimRequest& claim);
  void note_waiting(TimePoint now);
  void store_asks(TimePoint now);
  void check_periodically(SteadyTime now);
  void answer_expired();
  void dismiss();
  [[nodiscard]] Millis wait_time() const;

  // Starts retries, releases the mutex, then empties the outbox.
  void perform(std::unique_lock<std::mutex>& lock);
  void loop();

  // Set in the constructor, never changed.
  const Clock& clock_;
  const RouterOptions options_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<ShardSlot> slots_;  // their shards: set in the constructor
  Uuid7Source ids_;
  std::map<std::uint64_t, PendingCall> calls_;
  std::map<std::uint64_t, SubCommand> sub_commands_;  // in the order they were sent
  std::map<ReplyTo, std::uint64_t> by_reply_to_;      // of calls that may be forgotten
  std::uint64_t next_call_ = 1;
  std::uint64_t next_sub_command_ = 1;
  RetriedClaims retried_claims_;
  RetriedEnds retried_ends_;
  Polls polls_;
  Asks asks_;
  // Activities are numbered, so that a call can tell which of them came after its start.
  std::uint64_t activity_count_ = 0;
  std::map<std::string, std::uint64_t> last_ready_;  // by queue: the last activity that named it
  std::uint64_t last_all_ready_ = 0;                 // the last activity that concerned every queue
  std::uint64_t last_end_ = 0;                       // the last activity that named an end
  // Answers that the router gave for a shard. They wait here, because a scatter must not get an answer while
  // it is sending.
  std::deque<std::pair<std::uint64_t, Answer>> arrived_;
  Outbox out_;
  std::size_t next_publish_shard_ = 0;
  std::size_t next_claim_shard_ = 0;
  std::size_t claims_with_reports_ = 0;  // in a row
  SteadyTime claim_with_reports_until_;
  SteadyTime next_check_;
  SteadyTime next_end_retry_;
  TimePoint next_note_waiting_;
  bool ends_marked_ = false;  // another server reported an end, and no retry has followed yet
  bool poked_ = false;        // the thread is to read the clock again
  bool dismissing_ = false;
  bool closed_ = false;  // submit() refuses
  bool ended_ = false;   // the thread is to end

  std::thread thread_;
};

}  // namespace eventq
