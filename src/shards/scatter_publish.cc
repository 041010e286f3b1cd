// scatter_publish.cc: new events: to the shard of their keys, or to any shard that accepts them.
#include <utility>

#include "model/shard_of.h"
#include "shards/placement.h"
#include "shards/scatter.h"

namespace eventq {
namespace {

class PublishScatter final : public Scatter {
 public:
  explicit PublishScatter(Command command) : command_(std::move(command)) {
    wait_ = std::exchange(command_.wait, std::nullopt);
  }

  void start(Dispatch& dispatch) override {
    auto hash = placement_of(*command_.publication, dispatch.shards());
    if (!hash) return dispatch.finish(Answer{.published = hash.error()});
    hash_ = *hash;
    // Events with a key have one shard, also while it is unavailable.
    shards_ = hash_ ? std::vector<int>{shard_of(*hash_, dispatch.shards())} : dispatch.rotation();
    if (shards_.empty()) shards_ = {0};
    send_next(dispatch);
  }

  void take_answer(Dispatch& dispatch, int, Answer answer) override {
    if (goes_elsewhere(answer) && tried_ < shards_.size()) {
      if (!refusal_ || !is_full(*refusal_)) refusal_ = std::move(answer);
      return send_next(dispatch);
    }
    // queue_full invites the caller to retry, too_large does not, so queue_full from any shard wins.
    if (refusal_ && goes_elsewhere(answer) && is_full(*refusal_)) answer = std::move(*refusal_);
    if (!wait_ || forgotten_ || answer.error || !*answer.published || answer.waited) {
      return dispatch.finish(std::move(answer));
    }
    const EventId id = (*answer.published)->events.front().id;
    dispatch.keep_waiting(WaitRequest{id, wait_->timeout}, std::move(answer));
  }

 private:
  static bool is_full(const Answer& answer) {
    return answer.published && !*answer.published && answer.published->error().code == ErrorCode::queue_full;
  }

  // Nothing was stored, and another shard may accept the events: this one is unavailable, or its share of the
  // depth limit is used up.
  static bool goes_elsewhere(const Answer& answer) {
    if (answer.error) return answer.error->code == ErrorCode::unavailable;
    if (!answer.published || *answer.published) return false;
    const ErrorCode code = answer.published->error().code;
    return code == ErrorCode::queue_full || code == ErrorCode::too_large;
  }

  void send_next(Dispatch& dispatch) {
    const int shard = shards_[tried_++];
    Command command{.now = command_.now};
    const bool last = tried_ == shards_.size();
    command.publication = last ? std::move(*command_.publication) : *command_.publication;
    if (makes_correlation(*command.publication)) {
      command.publication->spare_correlation_id =
          correlation_id_for(shard, dispatch.shards(), [&] { return dispatch.next_id(); });
    }
    if (wait_) command.wait = WaitRequest{WaitRequest::ThisPublication{}, Millis(0)};
    std::optional<std::size_t> commit_thread;
    // A key has one commit thread, so that a commit that waits for the key's lock delays only that thread.
    // The upper half of the hash chooses it, because the lower half chose the shard.
    if (hash_) commit_thread = (*hash_ >> 32U) % dispatch.usual_commit_threads(shard);
    dispatch.send(shard, std::move(command), commit_thread);
  }

  Command command_;
  std::optional<WaitRequest> wait_;
  std::optional<std::uint64_t> hash_;
  std::vector<int> shards_;
  std::size_t tried_ = 0;
  std::optional<Answer> refusal_;
};

}  // namespace

std::unique_ptr<Scatter> make_publish(Command command) {
  return std::make_unique<PublishScatter>(std::move(command));
}

}  // namespace eventq
