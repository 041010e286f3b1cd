// scatter_admin.cc: changes of whole queues: on every shard, one after the other.
#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <variant>

#include "model/shard_of.h"
#include "shards/merge.h"
#include "shards/scatter.h"

namespace eventq {
namespace {

std::optional<Error> any_unavailable(const Dispatch& dispatch) {
  for (int shard = 0; shard < dispatch.shards(); ++shard) {
    if (!dispatch.is_up(shard)) return dispatch.unavailable_error(shard);
  }
  return std::nullopt;
}

// The error of a change that stopped at a shard. `done` is 0 while no shard has made the change. After that
// an error that means "nothing was changed" is wrong.
Error half_done(const Error& error, int done) {
  if (done == 0 || (error.code != ErrorCode::unavailable && error.code != ErrorCode::no_space)) return error;
  return {ErrorCode::unknown_outcome,
          "It was done on some databases and not on all. Do it again. The first that failed said: " +
              error.message,
          ""};
}

// Changes a queue on one shard after the other, so that an error stops it before more shards are changed.
class AdminScatter final : public Scatter {
 public:
  AdminScatter(QueueChange change, std::optional<WaitRequest> wait)
      : change_(std::move(change)), wait_(std::move(wait)) {}

  void start(Dispatch& dispatch) override {
    if (auto error = any_unavailable(dispatch)) return dispatch.finish({.error = std::move(error)});
    change_.log_id = dispatch.next_id();
    if (auto* made = std::get_if<QueueChange::MakeCheckpoint>(&change_.what)) made->id = dispatch.next_id();
    for (int shard = 0; shard < dispatch.shards(); ++shard) steps_.push_back({shard, change_});
    send_next(dispatch);
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    if (waiting_) return waiting_->take_answer(dispatch, shard, std::move(answer));
    if (answer.error)
      return dispatch.finish(Answer{.error = half_done(*answer.error, changes_.empty() ? 0 : 1)});
    auto& changed = std::get<Result<QueueChanged>>(answer.admin);
    if (changed) {
      changes_.insert_or_assign(shard, std::move(*changed));
    } else if (changed.error().code == ErrorCode::not_found) {
      absent_.push_back(shard);  // a shard has a queue only after its first event there
    } else {
      return dispatch.finish(std::move(answer));
    }
    const bool is_status = std::holds_alternative<QueueChange::SetStatus>(change_.what);
    if (steps_.empty() && !changes_.empty() && is_status) make_where_absent();
    if (!steps_.empty()) return send_next(dispatch);
    if (!changes_.empty()) {
      std::vector<QueueChanged> all;
      for (auto& [changed_shard, one] : changes_) all.push_back(std::move(one));
      answer.admin = Result<QueueChanged>(merge(std::move(all)));
    }
    if (!wait_ || changes_.empty()) return dispatch.finish(std::move(answer));
    waiting_ = make_wait(std::move(*wait_), std::move(answer));
    waiting_->start(dispatch);
  }

  void forget() override {
    wait_.reset();
    if (waiting_) waiting_->forget();
  }

 private:
  struct AdminStep {
    int shard = 0;
    QueueChange change;
  };

  void send_next(Dispatch& dispatch) {
    AdminStep step = std::move(steps_.front());
    steps_.pop_front();
    dispatch.send(step.shard, {.admin = std::move(step.change)});
  }

  // A status must also hold on shards that get their first event of the queue later, so it is made there.
  void make_where_absent() {
    const QueueConfig& config = changes_.begin()->second.row.config;
    for (const int shard : absent_) {
      steps_.push_back({shard, {change_.queue, QueueChange::Configure{config}, {}, {}, false}});
      steps_.push_back({shard, change_});
    }
    absent_.clear();
  }

  QueueChange change_;
  std::deque<AdminStep> steps_;  // not sent yet
  std::map<int, QueueChanged> changes_;
  std::vector<int> absent_;
  std::optional<WaitRequest> wait_;   // to start after the change
  std::unique_ptr<Scatter> waiting_;  // the wait, once it has started
};

// Removes a queue that holds no event on any shard. All shards are asked first. An event may arrive at a
// shard between its answer and its turn: that shard refuses, and the queue is made again where it was
// removed, so that it keeps its settings and status.
class RemoveScatter final : public Scatter {
 public:
  explicit RemoveScatter(QueueChange change) : change_(std::move(change)) {}

  void start(Dispatch& dispatch) override {
    if (auto error = any_unavailable(dispatch)) return dispatch.finish({.error = std::move(error)});
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      steps_.push_back({shard, {change_.queue, QueueChange::Remove{.only_check = true}}});
    }
    checking_ = dispatch.shards();
    change_.log_id = dispatch.next_id();
    send_next(dispatch);
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    if (answer.error)
      return dispatch.finish(Answer{.error = half_done(*answer.error, removed_.empty() ? 0 : 1)});
    auto& changed = std::get<Result<QueueChanged>>(answer.admin);
    const bool absent = !changed && changed.error().code == ErrorCode::not_found;
    if (!changed && !absent && !refusal_) {
      refusal_ = std::move(answer);
      steps_.clear();
      make_again();
      return go_on(dispatch, *refusal_);
    }
    if (checking_ > 0) {
      checking_ -= 1;
      if (changed) steps_.push_back({shard, change_});
      if (checking_ == 0) log_last_step();
    } else if (changed && !refusal_) {
      removed_.insert_or_assign(shard, *changed);
    }
    go_on(dispatch, refusal_ ? *refusal_ : std::move(answer));
  }

 private:
  struct RemoveStep {
    int shard = 0;
    QueueChange change;
  };

  void go_on(Dispatch& dispatch, Answer last) {
    if (!steps_.empty()) return send_next(dispatch);
    dispatch.finish(std::move(last));
  }

  // The queue's log says "deleted" only if no shard refused.
  void log_last_step() {
    for (RemoveStep& step : steps_) step.change.logged = &step == &steps_.back();
  }

  void send_next(Dispatch& dispatch) {
    RemoveStep step = std::move(steps_.front());
    steps_.pop_front();
    dispatch.send(step.shard, {.admin = std::move(step.change)});
  }

  // The queue's log has no entry for it, because no caller asked for it.
  void make_again() {
    for (const auto& [shard, it] : removed_) {
      steps_.push_back({shard, {change_.queue, QueueChange::Configure{it.row.config}, {}, {}, false}});
      if (it.row.status == QueueStatus::active) continue;
      const Actor actor{it.row.status_by, it.row.status_reason};
      steps_.push_back({shard, {change_.queue, QueueChange::SetStatus{it.row.status}, actor, {}, false}});
    }
  }

  QueueChange change_;
  std::deque<RemoveStep> steps_;         // not sent yet
  int checking_ = 0;                     // shards that have not said whether the queue can be removed
  std::map<int, QueueChanged> removed_;  // by shard
  std::optional<Answer> refusal_;        // the final answer, after the queue was made again
};

// Revives on one shard after the other until the limit is reached. The cursor to go on with names the shard
// by its event id.
class ReviveScatter final : public Scatter {
 public:
  explicit ReviveScatter(Revival revival) : revival_(std::move(revival)) {}

  void start(Dispatch& dispatch) override {
    if (auto error = any_unavailable(dispatch)) return dispatch.finish({.error = std::move(error)});
    revival_.log_id = dispatch.next_id();
    if (dispatch.shards() == 1 || !revival_.checkpoint) return begin(dispatch);
    // A checkpoint that was made by time is stored on one shard. The other shards revive by its time.
    finding_ = dispatch.shards();
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      dispatch.send(shard, {.admin = CheckpointsQuery{revival_.filter.queue, limits::kPage}});
    }
  }

  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    if (finding_ > 0) return take_checkpoints(dispatch, answer);
    // The shard did not run the command, or its commit failed. An error of the revival itself is in
    // `revived`.
    if (answer.error) {
      return dispatch.finish(Answer{.error = half_done(*answer.error, all_.events.empty() ? 0 : shard_)});
    }
    auto& revived = std::get<Result<Revived>>(answer.admin);
    // A shard has a queue only after its first event there. end() answers not_found if no shard has it.
    const bool not_there = !revived && revived.error().code == ErrorCode::not_found;
    if (not_there) not_found_ = revived.error();
    if (!revived && !not_there) {
      // Events revived on earlier shards stay revived, so the answer must name them.
      if (all_.events.empty()) return dispatch.finish(std::move(answer));
      all_.more = true;
      return end(dispatch);
    }
    if (revived) {
      found_ = true;
      add(*revived);
      if (revived->more) return end(dispatch);
    }
    go_on(dispatch);
  }

 private:
  void begin(Dispatch& dispatch) {
    if (revival_.filter.after) shard_ = shard_of(revival_.filter.after->id, dispatch.shards());
    send(dispatch);
  }

  void send(Dispatch& dispatch) {
    Revival one = revival_;
    one.filter.limit = revival_.filter.limit - all_.matched.size();
    dispatch.send(shard_, {.admin = std::move(one)});
  }

  void add(const Revived& one) {
    all_.matched.insert(all_.matched.end(), one.matched.begin(), one.matched.end());
    all_.events.insert(all_.events.end(), one.events.begin(), one.events.end());
    all_.more = one.more;
    all_.next = one.next;
  }

  void go_on(Dispatch& dispatch) {
    shard_ += 1;
    revival_.filter.after.reset();
    if (shard_ == dispatch.shards()) return end(dispatch);
    if (all_.matched.size() < revival_.filter.limit) return send(dispatch);
    all_.more = true;
    // A cursor before every event of this shard that has ended.
    all_.next = EndedCursor{TimePoint(), static_cast<EventId>(shard_)};
    end(dispatch);
  }

  void end(Dispatch& dispatch) {
    dispatch.finish({.admin = found_ ? Result<Revived>(std::move(all_)) : Result<Revived>(*not_found_)});
  }

  void take_checkpoints(Dispatch& dispatch, const Answer& answer) {
    finding_ -= 1;
    const auto* list = std::get_if<Result<std::vector<Checkpoint>>>(&answer.admin);
    if (answer.error) error_ = answer.error;
    if (list != nullptr && *list) {
      const auto is_it = [&](const Checkpoint& it) { return it.id == *revival_.checkpoint; };
      const auto found = std::find_if((*list)->begin(), (*list)->end(), is_it);
      if (found != (*list)->end()) from_ = std::min(from_.value_or(found->created_at), found->created_at);
    }
    if (finding_ > 0) return;
    if (error_ && !from_) return dispatch.finish(Answer{.error = std::move(error_)});
    if (from_) {
      revival_.filter.from = from_;
      revival_.checkpoint.reset();  // otherwise a shard answers that it has none
    }
    begin(dispatch);
  }

  Revival revival_;
  int finding_ = 0;
  std::optional<TimePoint> from_;
  std::optional<Error> error_;
  int shard_ = 0;
  bool found_ = false;
  std::optional<Error> not_found_;
  Revived all_;
};

}  // namespace

std::unique_ptr<Scatter> make_queue_change(QueueChange change, std::optional<WaitRequest> wait) {
  if (std::holds_alternative<QueueChange::Remove>(change.what)) {
    return std::make_unique<RemoveScatter>(std::move(change));
  }
  return std::make_unique<AdminScatter>(std::move(change), std::move(wait));
}
std::unique_ptr<Scatter> make_revival(Revival revival) {
  return std::make_unique<ReviveScatter>(std::move(revival));
}

}  // namespace eventq
