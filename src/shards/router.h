// router.h: an engine over several shards. It keeps everybody who waits; the shards only ever do what can be
// done at once.
//
// A command becomes a scatter (scatter.h), whose parts go to commit threads of shards. Their answers come
// back here, under one mutex, and take the scatter a step further. What a step wants to have sent or
// delivered is gathered and done after the mutex was let go.
//
// Threads: as Engine. One of its own looks at the clock.
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
};

class Router final : public Engine, private AnswerSink, private Shard::Watcher {
 public:
  // Shards are up until they say otherwise. `clock` says when waiting is over.
  Router(std::vector<std::unique_ptr<Shard>> shards, const Clock& clock, const RouterOptions& options);
  ~Router() override;
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override;
  Answer call(Command command) override;
  void cancel_wait(AnswerSink& sink, std::uint64_t token) override;
  void end_all_waits() override;
  void recheck_clock() override;
  void stop() override;

 private:
  class Desk;
  // Whose scatter it is: a caller's, or that of somebody who waits and looks again.
  struct Flight {
    std::shared_ptr<Scatter> scatter;
    std::optional<ReplyTo> reply_to;
    std::optional<ClaimRetry> look;
    std::optional<WaitRequest> end;
    std::optional<WaitingClaim> last = {};  // one whose time is over, and who looks once more
    std::vector<std::string> workers = {};  // who report in it
    bool counts_waiting = false;            // it asks for metrics
    std::uint64_t started = 0;              // notes_ by then
    bool forgotten = false;
  };
  // A command on its way.
  struct Part {
    std::uint64_t flight = 0;  // 0: given up, see give_up()
    int shard = 0;
    std::optional<std::size_t> commit_thread;  // nothing: a read
    bool changes = false;                      // something, if it is done
    SteadyTime sent;
  };
  // What a commit thread has not answered yet.
  struct Burden {
    std::size_t given_up = 0;
    std::size_t under_way = 0;  // all of it
    SteadyTime moved;           // when it answered last, or began to have something to do
  };
  // A commit thread as one that might take the next command. The least of several does, whichever commit
  // thread that is.
  struct Offer {
    std::size_t given_up = 0;
    bool late = false;
    bool spare = false;  // none of the usual ones
    std::size_t under_way = 0;
    std::size_t commit_thread = 0;
    friend bool operator<(const Offer& a, const Offer& b) {
      return std::tie(a.given_up, a.late, a.spare, a.under_way) <
             std::tie(b.given_up, b.late, b.spare, b.under_way);
    }
  };
  struct Place {
    std::unique_ptr<Shard> shard;
    bool up = true;
    std::vector<Burden> commit_threads;
    std::size_t parts = 0;
    std::set<std::string> hinted;  // queues that are said to have events
  };
  // What to do without the mutex.
  struct Outbox {
    struct Sending {
      Shard* shard;
      std::optional<std::size_t> commit_thread;
      Envelope<Command> request;
    };
    std::vector<Sending> sendings;
    std::vector<Envelope<Answer>> answers;
  };

  void deliver(std::vector<Envelope<Answer>> answers) override;
  void on_hint(int place, const Hint& hint) override;
  void on_health(int place, bool up) override;

  // With mutex_ held.
  void begin(Flight flight);
  void step(std::uint64_t part, Answer answer);
  void send(std::uint64_t flight, int shard, Command command, std::optional<std::size_t> commit_thread);
  void finish(std::uint64_t flight, Answer answer);
  void finish_look(ClaimRetry look, bool forgotten, Answer answer);
  void finish_last(WaitingClaim waiter, bool forgotten, Answer answer);
  void finish_end(const WaitRequest& request, const Answer& answer);
  void keep_waiting(std::uint64_t flight, ClaimRequest claim, Answer so_far);
  void keep_waiting(std::uint64_t flight, const WaitRequest& wait, Answer so_far);
  void answer(const ReplyTo& reply_to, Answer answer);
  void answer_waits(std::vector<WaitingEnd> waits, const std::optional<Error>& error);
  void give_back(const std::vector<Claim>& claims);
  void fail_parts(int place);
  void give_up(SteadyTime now);
  void run_looks();
  void look_last(WaitingClaim waiter);
  void look_around(SteadyTime now);
  void end_waits();
  void stir();
  void dismiss();
  [[nodiscard]] Error away(int place) const;
  [[nodiscard]] Error stuck(int place) const;
  [[nodiscard]] bool none_up() const;
  [[nodiscard]] std::vector<int> rotated(std::size_t turn) const;
  [[nodiscard]] Millis pause() const;
  void note_part(Place& place, const Part& part, int change);
  [[nodiscard]] std::size_t usual_commit_threads(const Place& place) const;
  [[nodiscard]] Offer best_offer(const Place& place) const;
  bool may_stay(SteadyTime now);

  // Lets go of the mutex, then does what was gathered under it.
  void perform(std::unique_lock<std::mutex>& lock);
  void loop();

  // Set in the constructor, never changed.
  const Clock& clock_;
  const RouterOptions options_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<Place> places_;  // their shards: set in the constructor
  Uuid7Source ids_;
  std::map<std::uint64_t, Flight> flights_;
  std::map<std::uint64_t, Part> parts_;
  std::map<ReplyTo, std::uint64_t> by_reply_to_;  // of flights that may be forgotten
  std::uint64_t next_flight_ = 1;
  std::uint64_t next_part_ = 1;
  RetriedClaims retried_claims_;
  RetriedEnds retried_ends_;
  Polls polls_;
  std::map<std::string, std::uint64_t> ready_notes_;  // queues, and the last of notes_ that named them
  std::uint64_t all_note_ = 0;                        // the last that named all of them
  std::uint64_t end_note_ = 0;                        // the last that named an end
  std::uint64_t notes_ = 0;
  std::deque<std::pair<std::uint64_t, Answer>> arrived_;  // answers of shards that are away
  Outbox out_;
  std::size_t publish_turn_ = 0;
  std::size_t claim_turn_ = 0;
  std::size_t stayed_ = 0;  // turns in a row that claimed where they reported
  SteadyTime stay_until_;
  SteadyTime next_look_;
  SteadyTime next_end_look_;
  bool ends_noted_ = false;  // by another process
  bool poked_ = false;       // the thread is to look at the clock again
  bool dismissing_ = false;
  bool closed_ = false;  // takes nothing any more
  bool ended_ = false;   // the thread is to end

  std::thread thread_;
};

}  // namespace eventq
