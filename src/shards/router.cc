// router.cc: see router.h.
#include "shards/router.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include "command/one_answer.h"
#include "engine/commit_thread.h"

namespace eventq {
namespace {

// Waiting calls are retried this often without a hint, because a hint can be lost with its connection.
constexpr std::chrono::seconds kCheckInterval{1};
// Hints that something ended come with every commit of every server; they cause a retry this often at most.
constexpr Millis kEndInterval{50};
// After this many claims in a row on the shard of their reports, or this long, one claims by rotation, so
// that no shard's events starve.
constexpr std::size_t kClaimsWithReportsMax = 64;
constexpr std::chrono::seconds kClaimWithReportsFor{1};
// Queues whose last activity is remembered; past this many, all queues count as just named.
constexpr std::size_t kQueuesMax = 10'000;

bool changes_something(const Command& command) {
  return command.publication || !command.changes.empty() ||
         std::holds_alternative<QueueChange>(command.admin) ||
         std::holds_alternative<Revival>(command.admin) || std::holds_alternative<Removal>(command.admin);
}

void clear_waits(Command& command) {
  if (command.claim) command.claim->wait = Millis(0);
  if (command.wait) command.wait->timeout = Millis(0);
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

  int shards() const override { return static_cast<int>(router_.slots_.size()); }
  bool is_up(int shard) const override { return slot(shard).up; }
  std::size_t commit_threads(int shard) const override { return slot(shard).commit_threads.size(); }
  std::size_t usual_commit_threads(int shard) const override {
    return router_.usual_commit_threads(slot(shard));
  }
  Error away_error(int shard) const override { return router_.away_error(shard); }

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
      retried_claims_(static_cast<int>(shards.size())) {
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
  if (dismissing_) clear_waits(command);
  PendingCall pending{.scatter = nullptr, .reply_to = reply_to};
  pending.workers = workers_of(command.changes);
  pending.counts_waiting = std::holds_alternative<MetricsRequest>(command.admin);
  if (command.claim) polls_.note(command.claim->selector, clock_.now());
  if (command.claim || command.wait) by_reply_to_[reply_to] = next_call_;
  pending.scatter = make_scatter(std::move(command), static_cast<int>(slots_.size()));
  start_call(std::move(pending));
  perform(lock);
}

Answer Router::call(Command command) {
  OneAnswer sink;
  submit(std::move(command), sink, 0);
  return sink.wait();
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
    arrived_.emplace_back(id, Answer{.error = away_error(shard)});
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
  for (const std::string& worker : pending.workers) retried_claims_.note_moved(worker);
  if (pending.counts_waiting && !answer.error) {
    auto& metrics = std::get<Metrics>(answer.admin);
    metrics.waiting_claims += static_cast<std::int64_t>(retried_claims_.size());
    metrics.waiting_ends += static_cast<std::int64_t>(retried_ends_.size());
  }
  this->answer(*pending.reply_to, std::move(answer));
}

void Router::finish_retry(ClaimRetry retry, bool forgotten, Answer answer) {
  by_reply_to_.erase(retry.claim.reply_to);
  if (!answer.claims.empty()) {
    const int shard =
        static_cast<int>(static_cast<std::uint64_t>(answer.claims.front().event.id) % slots_.size());
    retried_claims_.found(retry, shard);
    if (forgotten) return release_claims(answer.claims);
    retry.claim.answer.claims = std::move(answer.claims);
    return this->answer(retry.claim.reply_to, std::move(retry.claim.answer));
  }
  const ReplyTo reply_to = retry.claim.reply_to;
  const Millis left = retry.claim.deadline - clock_.now();
  Answer last = retry.claim.answer;
  retried_claims_.found_nothing(std::move(retry));
  if (left < kCheckInterval) wake_thread();  // it did not see this deadline during the retry
  if (!forgotten && !dismissing_ && !all_down()) return answer_expired();
  retried_claims_.forget(reply_to);
  if (forgotten) return;
  if (!dismissing_ && last.changed.empty()) last.error = away_error(0);
  this->answer(reply_to, std::move(last));
}

void Router::finish_last_retry(WaitingClaim waiter, bool forgotten, Answer answer) {
  by_reply_to_.erase(waiter.reply_to);
  if (forgotten) return release_claims(answer.claims);
  waiter.answer.claims = std::move(answer.claims);
  this->answer(waiter.reply_to, std::move(waiter.answer));
}

void Router::finish_end_retry(const WaitRequest& request, const Answer& answer) {
  // An event that retention has removed had ended before.
  const bool gone = answer.error && answer.error->code == ErrorCode::not_found;
  if (!answer.waited && !gone) return retried_ends_.not_ended(request);
  answer_ends(retried_ends_.ended(request), std::nullopt);
}

void Router::keep_waiting(std::uint64_t id, ClaimRequest claim, Answer so_far) {
  auto node = calls_.extract(id);
  const PendingCall& pending = node.mapped();
  by_reply_to_.erase(*pending.reply_to);
  for (const std::string& worker : pending.workers) retried_claims_.note_moved(worker);
  if (dismissing_ || pending.forgotten) return answer(*pending.reply_to, std::move(so_far));
  // An activity after the start of this call may concern a shard that the call had already asked.
  const auto noted = last_ready_.find(claim.selector.queue);
  const std::uint64_t last = std::max(last_all_ready_, noted == last_ready_.end() ? 0 : noted->second);
  const bool retry = claim.window > 0 || last > pending.activity_at_start;
  const TimePoint deadline = clock_.now() + claim.wait;
  if (claim.wait < kCheckInterval) wake_thread();
  retried_claims_.add({*pending.reply_to, std::move(claim), deadline, std::move(so_far)}, retry);
}

void Router::keep_waiting(std::uint64_t id, const WaitRequest& wait, Answer so_far) {
  auto node = calls_.extract(id);
  const PendingCall& pending = node.mapped();
  by_reply_to_.erase(*pending.reply_to);
  if (dismissing_ || pending.forgotten) return answer(*pending.reply_to, std::move(so_far));
  const TimePoint deadline = clock_.now() + wait.timeout;
  retried_ends_.add(wait, {*pending.reply_to, "", deadline, std::move(so_far)},
                    last_end_ > pending.activity_at_start);
  if (wait.timeout < kCheckInterval) wake_thread();
}

void Router::answer(const ReplyTo& reply_to, Answer answer) {
  out_.answers.push_back({reply_to, std::move(answer)});
}

// Without an error, the event, correlation or drain that these callers wait for has ended. With an error, a
// caller that also published gets its publication instead, because that is committed.
void Router::answer_ends(std::vector<WaitingEnd> waits, const std::optional<Error>& error) {
  for (WaitingEnd& wait : waits) {
    wait.answer.waited = !error;
    if (error && !wait.answer.published) wait.answer.error = error;
    answer(wait.reply_to, std::move(wait.answer));
  }
}

// Gives events back whose caller has left or was answered already. All claims of one answer are from one
// shard, so the first id names the shard. The answer to this command is ignored.
void Router::release_claims(const std::vector<Claim>& claims) {
  if (claims.empty() || closed_) return;
  const auto shard = static_cast<std::size_t>(claims.front().event.id) % slots_.size();
  Command command;
  for (const Claim& claim : claims) {
    const Event& event = claim.event;
    command.changes.push_back({Lease{event.id, event.worker_id, event.attempts},
                               Release{"The worker was gone before it got the event."}});
  }
  out_.submissions.push_back(
      {slots_[shard].shard.get(), 0, Envelope<Command>{{this, 0}, std::move(command)}});
}

void Router::cancel_wait(AnswerSink& sink, std::uint64_t token) {
  const ReplyTo reply_to{&sink, token};
  std::unique_lock lock(mutex_);
  retried_claims_.forget(reply_to);
  retried_ends_.forget(reply_to);
  const auto found = by_reply_to_.find(reply_to);
  if (found != by_reply_to_.end()) {
    PendingCall& pending = calls_.at(found->second);
    pending.forgotten = true;
    pending.scatter->forget();
  }
  perform(lock);
}

void Router::end_all_waits() {
  std::unique_lock lock(mutex_);
  dismiss();
  perform(lock);
}

void Router::dismiss() {
  dismissing_ = true;
  for (WaitingClaim& waiter : retried_claims_.take_all()) answer(waiter.reply_to, std::move(waiter.answer));
  answer_ends(retried_ends_.take_all(),
              Error{ErrorCode::unavailable, "The queue is closing; ask again after its restart.", ""});
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

void Router::on_activity(int shard, const ShardActivity& activity) {
  std::unique_lock lock(mutex_);
  ShardSlot& slot = slot_of(shard);
  activity_count_ += 1;
  if (last_ready_.size() > kQueuesMax) {
    last_ready_.clear();
    last_all_ready_ = activity_count_;
  }
  for (const std::string& queue : activity.ready) {
    last_ready_[queue] = activity_count_;
    if (slot.hinted.size() < kQueuesMax) slot.hinted.insert(queue);
    retried_claims_.note_ready(shard, queue);
  }
  if (activity.all_ready) {
    last_all_ready_ = activity_count_;
    retried_claims_.note_ready(shard);
  }
  if (!activity.ended.empty() || activity.any_ended) last_end_ = activity_count_;
  retried_ends_.note(activity.ended);
  if (activity.any_ended && retried_ends_.size() > 0 && !std::exchange(ends_marked_, true)) wake_thread();
  perform(lock);
}

void Router::on_health(int shard, bool up) {
  std::unique_lock lock(mutex_);
  ShardSlot& slot = slot_of(shard);
  if (slot.up == up) return;
  slot.up = up;
  if (up) {
    activity_count_ += 1;
    last_all_ready_ = last_end_ = activity_count_;
    retried_claims_.note_ready(shard);
    retried_ends_.note_all();
  } else {
    fail_sub_commands(shard);
    answer_ends(retried_ends_.take_of(shard, static_cast<int>(slots_.size())), away_error(shard));
    if (all_down()) {
      for (WaitingClaim& waiter : retried_claims_.take_all()) {
        if (waiter.answer.changed.empty()) waiter.answer.error = away_error(shard);
        answer(waiter.reply_to, std::move(waiter.answer));
      }
    }
  }
  perform(lock);
}

// Answers everything that is outstanding on the shard. Answers that still come from it are too late.
void Router::fail_sub_commands(int shard) {
  const Error unknown{ErrorCode::unknown_outcome,
                      away_error(shard).message +
                          " It went away while this was under way, so it is unknown whether this was done.",
                      ""};
  for (const auto& [id, sub] : sub_commands_) {
    if (sub.shard == shard)
      arrived_.emplace_back(id, Answer{.error = sub.changes ? unknown : away_error(shard)});
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
  const ShardSlot& slot = slot_of(shard);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.answer_timeout).count();
  return {ErrorCode::unavailable,
          "Shard " + std::to_string(shard) + " (" + slot.shard->name() + ") has not answered for " +
              std::to_string(seconds) + " s; try again later.",
          ""};
}

Error Router::away_error(int shard) const {
  const ShardSlot& slot = slot_of(shard);
  return {ErrorCode::unavailable,
          "Shard " + std::to_string(shard) + " (" + slot.shard->name() + ") is away; try again later.", ""};
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

// Starts a call for every waiting claim and end that a hint marked.
void Router::start_retries() {
  while (auto retry = retried_claims_.next_retry()) {
    PendingCall pending{.scatter = make_claim_retry(retry->claim.request, retry->shards)};
    by_reply_to_[retry->claim.reply_to] = next_call_;
    pending.retry = std::move(*retry);
    start_call(std::move(pending));
  }
  while (auto end = retried_ends_.next_retry()) {
    PendingCall pending{.scatter = make_scatter({.wait = *end}, static_cast<int>(slots_.size())),
                        .end_retry = *end};
    start_call(std::move(pending));
  }
}

void Router::perform(std::unique_lock<std::mutex>& lock) {
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

Millis Router::wait_time() const {
  Millis pause = kCheckInterval;
  if (ends_marked_) {
    const auto left = std::chrono::ceil<Millis>(next_end_retry_ - steady_now());
    pause = std::clamp(left, Millis(0), kEndInterval);
  }
  for (const auto& deadline : {retried_claims_.next_deadline(), retried_ends_.next_deadline()}) {
    if (deadline) pause = std::clamp(*deadline - clock_.now(), Millis(0), pause);
  }
  return pause;
}

void Router::answer_expired() {
  const TimePoint now = clock_.now();
  for (WaitingClaim& waiter : retried_claims_.take_expired(now)) retry_last(std::move(waiter));
  for (WaitingEnd& wait : retried_ends_.take_expired(now)) answer(wait.reply_to, std::move(wait.answer));
}

// An event that became due at the claim's deadline may have caused no hint yet, so the claim is tried once
// more, in every commit thread. A claim with a window is not: its stream asks again at once, and its worker's
// claims must run one after the other, which only RetriedClaims ensures.
void Router::retry_last(WaitingClaim waiter) {
  std::vector<int> shards = rotated(next_claim_shard_++);
  if (waiter.request.window > 0 || shards.empty()) return answer(waiter.reply_to, std::move(waiter.answer));
  PendingCall pending{.scatter =
                          make_claim_retry(waiter.request, std::move(shards), RetryIn::every_commit_thread)};
  by_reply_to_[waiter.reply_to] = next_call_;
  pending.last_retry = std::move(waiter);
  start_call(std::move(pending));
}

// Does what needs no hint: retries all waiting calls, and answers for shards that do not.
void Router::check_periodically(SteadyTime now) {
  if (ends_marked_ && now >= next_end_retry_) {
    ends_marked_ = false;
    next_end_retry_ = now + kEndInterval;
    retried_ends_.note_all();
  }
  if (now < next_check_) return;
  next_check_ = now + kCheckInterval;
  answer_timed_out(now);
  retried_claims_.note_all();
  retried_ends_.note_all();
}

}  // namespace eventq
