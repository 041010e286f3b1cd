// scatter_next.cc: a worker's reports and its next claim: the reports go to the shards of their events at the
// same time, then the claim to one shard after the other until one has something.
#include <algorithm>
#include <map>
#include <utility>

#include "model/shard_of.h"
#include "shards/scatter.h"

namespace eventq {
namespace {

class NextScatter final : public Scatter {
 public:
  explicit NextScatter(Command command)
      : changes_(std::move(command.changes)), claim_(std::move(command.claim)), now_(command.now) {}

  // Only a claim, on these shards, that does not wait.
  NextScatter(ClaimRequest claim, std::vector<int> shards, RetryIn commit_threads)
      : claim_(std::move(claim)), commit_threads_(commit_threads), order_(std::move(shards)) {
    claim_->wait = Millis(0);
    order_known_ = true;
  }

  void start(Dispatch& dispatch) override {
    if (changes_.empty()) return begin_claim(dispatch);
    stage_ = NextStage::reporting;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      reports_[shard_of(changes_[i].lease.id, dispatch.shards())].push_back(i);
    }
    outstanding_ = reports_.size();
    results_.resize(changes_.size());
    // With the reports in one command, the claim costs no second round trip. A window must be counted on all
    // shards first.
    claims_with_reports_ = claim_ && reports_.size() == 1 &&
                           (dispatch.shards() == 1 || dispatch.may_claim_with_reports()) &&
                           claim_->window == 0;
    for (const auto& [shard, indices] : reports_) {
      Command command{.now = now_};
      for (const std::size_t i : indices) command.changes.push_back(std::move(changes_[i]));
      if (claims_with_reports_) command.claim = claim_now(claim_->limit);
      dispatch.send(shard, std::move(command));
    }
  }

  void take_answer(Dispatch& dispatch, int shard, Answer answer) override {
    switch (stage_) {
      case NextStage::reporting: return take_report(dispatch, shard, std::move(answer));
      case NextStage::counting: return take_count(dispatch, answer);
      case NextStage::claiming: return take_claims(dispatch, shard, std::move(answer));
    }
  }

 private:
  enum class NextStage : std::uint8_t { reporting, counting, claiming };

  [[nodiscard]] ClaimRequest claim_now(std::size_t limit) const {
    ClaimRequest request = *claim_;
    request.limit = limit;
    request.wait = Millis(0);
    request.window = 0;
    return request;
  }

  void take_report(Dispatch& dispatch, int shard, Answer answer) {
    const std::vector<std::size_t>& indices = reports_.at(shard);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      results_[indices[i]] = answer.error ? Result<Changed>(*answer.error) : std::move(answer.changed[i]);
    }
    if (answer.error) failed_ += 1;
    if (answer.error) error_ = std::move(answer.error);
    answer_.claims = std::move(answer.claims);
    if (--outstanding_ > 0) return;
    // No report reached its shard: the call failed as a whole, and the worker repeats it.
    if (failed_ == reports_.size()) return dispatch.finish(Answer{.error = std::move(error_)});
    error_.reset();
    for (std::optional<Result<Changed>>& result : results_) answer_.changed.push_back(std::move(*result));
    if (!claim_ || !answer_.claims.empty()) return dispatch.finish(std::move(answer_));
    if (claims_with_reports_) {
      dispatch.note_empty(shard, claim_->selector.queue);
      asked_ = shard;
    }
    begin_claim(dispatch);
  }

  void begin_claim(Dispatch& dispatch) {
    if (forgotten_) return dispatch.finish(std::move(answer_));
    // RetriedClaims runs the claims of a worker with a window one after the other, because each must count
    // the events that the last one took.
    if (claim_->window > 0 && claim_->wait > Millis(0)) {
      return dispatch.keep_waiting(std::move(*claim_), std::move(answer_));
    }
    if (!order_known_) order_ = dispatch.claim_rotation(claim_->selector.queue);
    std::erase_if(order_, [&](int shard) { return shard == asked_ || !dispatch.is_up(shard); });
    if (order_.empty() && !asked_) {
      error_ = dispatch.unavailable_error(0);
      return end_claim(dispatch);
    }
    if (claim_->window > 0) return count_held(dispatch);
    limit_ = claim_->limit;
    claim_next(dispatch);
  }

  // Counts the events that the worker holds. Those on an unavailable shard do not count, because the worker
  // cannot finish them now.
  void count_held(Dispatch& dispatch) {
    stage_ = NextStage::counting;
    held_ = 0;
    outstanding_ = 0;
    for (int shard = 0; shard < dispatch.shards(); ++shard) {
      if (!dispatch.is_up(shard)) continue;
      ++outstanding_;
      dispatch.send(shard, {.admin = HoldingQuery{claim_->worker_id, claim_->selector.queue}});
    }
  }

  void take_count(Dispatch& dispatch, const Answer& answer) {
    const auto* count = std::get_if<Result<std::int64_t>>(&answer.admin);
    // Without a count the window counts as full until the next retry.
    held_ += !answer.error && count != nullptr && *count ? static_cast<std::size_t>(**count) : claim_->window;
    if (--outstanding_ > 0) return;
    const std::size_t left = claim_->window > held_ ? claim_->window - held_ : 0;
    if (left == 0) return dispatch.finish(std::move(answer_));
    limit_ = std::min(claim_->limit, left);
    claim_next(dispatch);
  }

  void claim_next(Dispatch& dispatch) {
    stage_ = NextStage::claiming;
    if (next_ == order_.size() || forgotten_) return end_claim(dispatch);
    Command command{.claim = claim_now(limit_), .now = now_};
    const int shard = order_[next_];
    if (commit_threads_ == RetryIn::one_commit_thread) {
      ++next_;
      return dispatch.send(shard, std::move(command));
    }
    // The threads of one shard, then those of the next.
    const std::size_t commit_thread = commit_thread_++;
    if (commit_thread_ == dispatch.commit_threads(shard)) {
      ++next_;
      commit_thread_ = 0;
    }
    dispatch.send(shard, std::move(command), commit_thread);
  }

  void take_claims(Dispatch& dispatch, int shard, Answer answer) {
    if (answer.error) {
      error_ = std::move(answer.error);
    } else if (answer.claims.empty()) {
      any_empty_ = true;
      dispatch.note_empty(shard, claim_->selector.queue);
    } else {
      answer_.claims = std::move(answer.claims);
      return dispatch.finish(std::move(answer_));
    }
    claim_next(dispatch);
  }

  // No shard had an event. An error becomes the answer only if no shard could be asked.
  void end_claim(Dispatch& dispatch) {
    const bool failed = error_ && !any_empty_ && !asked_;
    if (failed && answer_.changed.empty()) answer_.error = std::move(error_);
    if (failed || forgotten_ || claim_->wait == Millis(0)) return dispatch.finish(std::move(answer_));
    dispatch.keep_waiting(std::move(*claim_), std::move(answer_));
  }

  std::vector<Change> changes_;
  std::optional<ClaimRequest> claim_;
  std::optional<TimePoint> now_;
  RetryIn commit_threads_ = RetryIn::one_commit_thread;

  NextStage stage_ = NextStage::claiming;
  std::map<int, std::vector<std::size_t>> reports_;  // by shard
  std::vector<std::optional<Result<Changed>>> results_;
  bool claims_with_reports_ = false;  // in the same command
  std::size_t outstanding_ = 0;
  std::size_t failed_ = 0;
  std::size_t held_ = 0;
  std::size_t limit_ = 0;
  std::vector<int> order_;
  bool order_known_ = false;
  std::size_t next_ = 0;           // index in order_
  std::size_t commit_thread_ = 0;  // of that shard
  std::optional<int> asked_;       // the shard that was asked with the reports and had nothing
  bool any_empty_ = false;
  std::optional<Error> error_;
  Answer answer_;
};

}  // namespace

std::unique_ptr<Scatter> make_next(Command command) {
  return std::make_unique<NextScatter>(std::move(command));
}

std::unique_ptr<Scatter> make_claim_retry(ClaimRequest claim, std::vector<int> shards,
                                          RetryIn commit_threads) {
  return std::make_unique<NextScatter>(std::move(claim), std::move(shards), commit_threads);
}

}  // namespace eventq
