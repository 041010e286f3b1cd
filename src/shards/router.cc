// router.cc: see router.h.
#include "shards/router.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "model/shard_of.h"

namespace eventq {
namespace {

// After this many claims in a row on the shard of their reports, or this long, one claims by rotation, so
// that no shard's events starve.
constexpr std::size_t kClaimsWithReportsMax = 64;
constexpr std::chrono::seconds kClaimWithReportsFor{1};

bool changes_something(const Command& command) {
  return command.publication || !command.changes.empty() ||
         std::holds_alternative<QueueChange>(command.admin) ||
         std::holds_alternative<Revival>(command.admin) || std::holds_alternative<Removal>(command.admin) ||
         std::holds_alternative<SignOff>(command.admin);
}

std::vector<std::string> workers_of(const std::vector<Change>& changes) {
  std::vector<std::string> workers;
  for (const Change& change : changes) {
    const std::string& id = change.lease.worker_id;
    if (workers.empty() || workers.back() != id) workers.push_back(id);
  }
  return workers;
}

}  // namespace

// The router as one scatter sees it. REQUIRES: the router's mutex is held.
class Router::RouterDispatch final : public Dispatch {
 public:
  RouterDispatch(Router& router, std::uint64_t call_id) : router_(router), call_id_(call_id) {}

  int shards() const override { return router_.shards(); }
  bool is_up(int shard) const override { return slot(shard).up; }
  std::size_t commit_threads(int shard) const override { return slot(shard).commit_threads.size(); }
  std::size_t usual_commit_threads(int shard) const override {
    return router_.usual_commit_threads(slot(shard));
  }
  Error unavailable_error(int shard) const override { return router_.unavailable_error(shard); }

  // Publishers that one commit answered come back together. The commit thread that just answered has the
  // least outstanding: there they are the next batch, elsewhere they would wait behind a commit that has
  // begun.
  std::vector<int> rotation() override {
    std::vector<int> order = router_.rotated(router_.next_publish_shard_++);
    std::ranges::stable_sort(order, std::less<>(),
                             [&](int shard) { return router_.choose_thread(slot(shard)); });
    return order;
  }
  std::vector<int> claim_rotation(const std::string& queue) override {
    std::vector<int> order = router_.rotated(router_.next_claim_shard_++);
    std::stable_partition(order.begin(), order.end(),
                          [&](int shard) { return slot(shard).hinted.contains(queue); });
    return order;
  }
  void note_empty(int shard, const std::string& queue) override {
    router_.slot_of(shard).hinted.erase(queue);
  }
  Command::ExtraDemand asked(const Event& event) const override {
    Command::ExtraDemand asked{router_.retried_claims_.waiting(event), std::nullopt};
    if (const auto last = router_.polls_.last(event)) asked.last_poll_ago = router_.clock_.now() - *last;
    return asked;
  }
  bool may_claim_with_reports() override { return router_.may_claim_with_reports(steady_now()); }
  std::string next_id() override { return router_.ids_.next(router_.clock_.now()); }

  void send(int shard, Command command, std::optional<std::size_t> commit_thread) override {
    router_.send(call_id_, shard, std::move(command), commit_thread);
  }
  void finish(Answer answer) override { router_.finish(call_id_, std::move(answer)); }
  void keep_waiting(ClaimRequest claim, Answer so_far) override {
    router_.keep_waiting(call_id_, std::move(claim), std::move(so_far));
  }
  void keep_waiting(const WaitRequest& wait, Answer so_far) override {
    router_.keep_waiting(call_id_, wait, std::move(so_far));
  }

 private:
  [[nodiscard]] const ShardSlot& slot(int shard) const { return std::as_const(router_).slot_of(shard); }
  Router& router_;
  const std::uint64_t call_id_;
};

Router::Router(std::vector<std::unique_ptr<Shard>> shards, const Clock& clock, const RouterOptions& options)
    : clock_(clock),
      options_(options),
      ids_(Uuid7Source::from_entropy()),
      retried_claims_(static_cast<int>(shards.size())),
      asks_(options.stale_after) {
  for (std::unique_ptr<Shard>& shard : shards) {
    ShardSlot slot;
    slot.commit_threads.resize(shard->commit_threads());
    slot.shard = std::move(shard);
    slots_.push_back(std::move(slot));
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].shard->start(*this, static_cast<int>(i));
  thread_ = std::thread([this] { loop(); });
}

Router::~Router() { stop(); }

void Router::submit(Command command, AnswerSink& sink, std::uint64_t token) {
  const ReplyTo reply_to{&sink, token};
  std::unique_lock lock(mutex_);
  if (closed_) {
    lock.unlock();
    return refuse_closed(reply_to);
  }
  if (dismissing_) command.stop_waiting();
  PendingCall pending{.scatter = nullptr, .reply_to = reply_to};
  pending.workers = workers_of(command.changes);
  pending.counts_waiting = std::holds_alternative<MetricsRequest>(command.admin);
  if (command.claim) note_asked(*command.claim);
  if (const auto* leaving = std::get_if<SignOff>(&command.admin)) asks_.sign_off(leaving->worker_id);
  if (command.claim || command.wait) by_reply_to_[reply_to] = next_call_;  // start_call() takes this id
  pending.scatter = make_scatter(std::move(command), shards());
  start_call(std::move(pending));
  perform(lock);
}

void Router::start_call(PendingCall pending) {
  const std::uint64_t id = next_call_++;
  pending.activity_at_start = activity_count_;
  const std::shared_ptr<Scatter> scatter = pending.scatter;  // as in take_answer()
  calls_.emplace(id, std::move(pending));
  RouterDispatch dispatch(*this, id);
  scatter->start(dispatch);
}

void Router::deliver(std::vector<Envelope<Answer>> answers) {
  std::unique_lock lock(mutex_);
  for (Envelope<Answer>& answer : answers) take_answer(answer.reply_to.token, std::move(answer.content));
  perform(lock);
}

// Advances the scatter by one answer. An answer without a pending call came too late: its claims are
// released.
void Router::take_answer(std::uint64_t sub_id, Answer answer) {
  const auto found = sub_commands_.find(sub_id);
  if (found == sub_commands_.end()) return release_claims(answer.claims);
  const SubCommand sub = found->second;
  sub_commands_.erase(found);
  count_sub_command(sub, -1);
  const auto pending = calls_.find(sub.call_id);
  if (pending == calls_.end()) return release_claims(answer.claims);
  RouterDispatch dispatch(*this, sub.call_id);
  // finish() erases the pending call while its scatter is still running, so keep the scatter alive here.
  const std::shared_ptr<Scatter> scatter = pending->second.scatter;
  scatter->take_answer(dispatch, sub.shard, std::move(answer));
}

void Router::send(std::uint64_t call_id, int shard, Command command,
                  std::optional<std::size_t> commit_thread) {
  ShardSlot& slot = slot_of(shard);
  SubCommand sub{call_id, shard, std::nullopt, changes_something(command), steady_now()};
  if (!command.is_read())
    sub.commit_thread = commit_thread ? *commit_thread : choose_thread(slot).commit_thread;
  const std::uint64_t id = next_sub_command_++;
  sub_commands_.emplace(id, sub);
  count_sub_command(sub, 1);
  if (!slot.up) {
    arrived_.emplace_back(id, Answer{.error = unavailable_error(shard)});
    return;
  }
  // This command would queue behind one that may never be answered.
  if (sub.commit_thread && slot.commit_threads[*sub.commit_thread].timed_out > 0) {
    arrived_.emplace_back(id, Answer{.error = stalled_error(shard)});
    return;
  }
  out_.submissions.push_back(
      {slot.shard.get(), sub.commit_thread, Envelope<Command>{{this, id}, std::move(command)}});
}

std::size_t Router::usual_commit_threads(const ShardSlot& slot) const {
  return std::clamp(options_.commit_threads / slots_.size(), std::size_t{1}, slot.commit_threads.size());
}

Router::ThreadChoice Router::choose_thread(const ShardSlot& slot) const {
  const SteadyTime now = steady_now();
  const std::size_t usual = usual_commit_threads(slot);
  // Without a spare thread none counts as stalled, because the command would only queue elsewhere.
  const bool any_spare = usual < slot.commit_threads.size();
  std::optional<ThreadChoice> best;
  for (std::size_t commit_thread = 0; commit_thread < slot.commit_threads.size(); ++commit_thread) {
    const ThreadLoad& load = slot.commit_threads[commit_thread];
    const bool stalled =
        any_spare && load.outstanding > 0 && now - load.last_progress >= options_.stalled_after;
    const ThreadChoice choice{load.timed_out, stalled, commit_thread >= usual, load.outstanding,
                              commit_thread};
    if (!best || choice < *best) best = choice;
  }
  return *best;
}

bool Router::may_claim_with_reports(SteadyTime now) {
  if (++claims_with_reports_ < kClaimsWithReportsMax && now < claim_with_reports_until_) return true;
  claims_with_reports_ = 0;
  claim_with_reports_until_ = now + kClaimWithReportsFor;
  return false;
}

// Adds the sub-command to the counts of its shard and commit thread (change 1), or removes it (-1).
void Router::count_sub_command(const SubCommand& sub, int change) {
  ShardSlot& slot = slot_of(sub.shard);
  slot.outstanding += static_cast<std::size_t>(change);
  slot.shard->expect_answers(slot.outstanding > 0);
  if (!sub.commit_thread) return;
  ThreadLoad& commit_thread = slot.commit_threads[*sub.commit_thread];
  if (change < 0 || commit_thread.outstanding == 0) commit_thread.last_progress = steady_now();
  commit_thread.outstanding += static_cast<std::size_t>(change);
  if (sub.call_id == 0) commit_thread.timed_out += static_cast<std::size_t>(change);
}

void Router::finish(std::uint64_t id, Answer answer) {
  auto node = calls_.extract(id);
  PendingCall& pending = node.mapped();
  if (pending.retry) return finish_retry(std::move(*pending.retry), pending.forgotten, std::move(answer));
  if (pending.last_retry)
    return finish_last_retry(std::move(*pending.last_retry), pending.forgotten, std::move(answer));
  if (pending.end_retry) return finish_end_retry(*pending.end_retry, answer);
  by_reply_to_.erase(*pending.reply_to);
  // A worker that reported may hold fewer events now, so its claims with a window are retried.
  for (const std::string& worker : pending.workers) retried_claims_.note_moved(worker);
  if (pending.counts_waiting && !answer.error) {
    auto& metrics = std::get<Metrics>(answer.admin);
    metrics.waiting_claims += static_cast<std::int64_t>(retried_claims_.size());
    metrics.waiting_ends += static_cast<std::int64_t>(retried_ends_.size());
  }
  this->answer(*pending.reply_to, std::move(answer));
}

void Router::answer(const ReplyTo& reply_to, Answer answer) {
  out_.answers.push_back({reply_to, std::move(answer)});
}

// Gives events back whose caller has left or was answered already. All claims of one answer are from one
// shard, so the first id names the shard, and any of its commit threads can release them. The answer is
// ignored, because no sub-command has the number 0. stop() does not wait for releases, so a closed router
// sends none: the leases expire.
void Router::release_claims(const std::vector<Claim>& claims) {
  if (claims.empty() || closed_) return;
  ShardSlot& slot = slot_of(shard_of(claims.front().event.id, shards()));
  out_.submissions.push_back({slot.shard.get(), 0, Envelope<Command>{{this, 0}, release_of(claims)}});
}

void Router::recheck_clock() {
  std::unique_lock lock(mutex_);
  wake_thread();
  answer_expired();
  perform(lock);
  for (const ShardSlot& slot : slots_) slot.shard->recheck_clock();
}

// Waits for all pending calls before it stops the shards, because their answers still come here. A shard that
// does not answer fails its commands by itself or by answer_timed_out().
void Router::stop() {
  {
    std::unique_lock lock(mutex_);
    if (ended_) return;
    closed_ = true;
    dismiss();
    perform(lock);
    lock.lock();
    idle_.wait(lock, [this] { return calls_.empty(); });
    ended_ = true;
    wake_.notify_one();
  }
  thread_.join();
  for (const ShardSlot& slot : slots_) slot.shard->stop();
}

// Answers everything that is outstanding on the shard. Answers that still come from it are too late.
void Router::fail_sub_commands(int shard) {
  const Error unknown{ErrorCode::unknown_outcome,
                      unavailable_error(shard).message +
                          " The connection was lost during this call, so it is unknown whether it was done.",
                      ""};
  for (const auto& [id, sub] : sub_commands_) {
    if (sub.shard == shard)
      arrived_.emplace_back(id, Answer{.error = sub.changes ? unknown : unavailable_error(shard)});
  }
}

// A commit can hang in a shard that is up, such as one that waits for a synchronous standby. The caller is
// answered here. The sub-command stays with call_id 0 until its answer comes, so that its commit thread is
// avoided.
void Router::answer_timed_out(SteadyTime now) {
  std::vector<SubCommand> timed_out;
  for (auto& [id, sub] : sub_commands_) {
    if (now - sub.sent < options_.answer_timeout) break;  // those behind it were sent later
    if (sub.call_id == 0) continue;
    timed_out.push_back(sub);
    count_sub_command(sub, -1);
    sub.call_id = 0;
    count_sub_command(sub, 1);
  }
  for (SubCommand& sub : timed_out) {
    Error error = stalled_error(sub.shard);
    if (sub.changes) {
      error.code = ErrorCode::unknown_outcome;
      error.message += " It is unknown whether this was done.";
    }
    const std::uint64_t id = next_sub_command_++;
    sub.sent = now;
    count_sub_command(sub, 1);
    sub_commands_.emplace(id, sub);
    arrived_.emplace_back(id, Answer{.error = std::move(error)});
  }
}

Error Router::stalled_error(int shard) const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.answer_timeout).count();
  return shard_error(shard, "has not answered for " + std::to_string(seconds) + " s");
}

Error Router::unavailable_error(int shard) const { return shard_error(shard, "is unavailable"); }

Error Router::shard_error(int shard, const std::string& what) const {
  return {ErrorCode::unavailable,
          "Shard " + std::to_string(shard) + " (" + slot_of(shard).shard->name() + ") " + what +
              "; try again later.",
          ""};
}

bool Router::all_down() const {
  return std::none_of(slots_.begin(), slots_.end(), [](const ShardSlot& slot) { return slot.up; });
}

std::vector<int> Router::rotated(std::size_t first) const {
  std::vector<int> order;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::size_t shard = (first + i) % slots_.size();
    if (slots_[shard].up) order.push_back(static_cast<int>(shard));
  }
  return order;
}

void Router::perform(std::unique_lock<std::mutex>& lock) {
  // A retry on an unavailable shard puts its answer into arrived_ at once, so this repeats until none is
  // left.
  for (;;) {
    while (!arrived_.empty()) {
      auto [sub, answer] = std::move(arrived_.front());
      arrived_.pop_front();
      take_answer(sub, std::move(answer));
    }
    start_retries();
    if (arrived_.empty()) break;
  }
  if (calls_.empty()) idle_.notify_all();
  Outbox out = std::exchange(out_, {});
  lock.unlock();
  for (Outbox::Submission& submission : out.submissions) {
    if (submission.commit_thread) {
      submission.shard->submit(*submission.commit_thread, std::move(submission.request));
    } else {
      submission.shard->read(std::move(submission.request));
    }
  }
  eventq::deliver(std::move(out.answers));
}

void Router::wake_thread() {
  poked_ = true;
  wake_.notify_one();
}

void Router::loop() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    wake_.wait_for(lock, wait_time(), [this] { return ended_ || poked_; });
    poked_ = false;
    answer_expired();
    check_periodically(steady_now());
    perform(lock);
    lock.lock();
  }
}

}  // namespace eventq
