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

// The longest time between two looks at what no hint told of.
constexpr std::chrono::seconds kRouterLook{1};
// Hints that something ended come with every commit of every server; waits are looked for this often at most.
constexpr Millis kEndInterval{50};
// So many turns claim where they report before one claims elsewhere, or for so long when they are few.
constexpr std::size_t kStay = 64;
constexpr std::chrono::seconds kStayFor{1};
// Queues whose last hint is remembered; past this many they all count as hinted.
constexpr std::size_t kNotesMax = 10'000;

bool changes_something(const Command& command) {
  return command.publication || !command.changes.empty() ||
         std::holds_alternative<QueueChange>(command.admin) ||
         std::holds_alternative<Revival>(command.admin) || std::holds_alternative<Removal>(command.admin);
}

void let_not_wait(Command& command) {
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

// The router as one scatter sees it. Used with the mutex held.
class Router::Desk final : public Dispatch {
 public:
  Desk(Router& router, std::uint64_t flight) : router_(router), flight_(flight) {}

  int shards() const override { return static_cast<int>(router_.places_.size()); }
  bool is_up(int shard) const override { return place(shard).up; }
  std::size_t commit_threads(int shard) const override { return place(shard).commit_threads.size(); }
  std::size_t usual_commit_threads(int shard) const override {
    return router_.usual_commit_threads(place(shard));
  }
  Error away(int shard) const override { return router_.away(shard); }

  // Who was answered together comes back together. Where a commit thread has just answered, the least is
  // under way: there they are the next batch, and elsewhere they would wait behind one that has begun.
  std::vector<int> rotation() override {
    std::vector<int> order = router_.rotated(router_.publish_turn_++);
    std::ranges::stable_sort(order, std::less<>(),
                             [&](int shard) { return router_.best_offer(place(shard)); });
    return order;
  }
  std::vector<int> claim_rotation(const std::string& queue) override {
    std::vector<int> order = router_.rotated(router_.claim_turn_++);
    std::stable_partition(order.begin(), order.end(),
                          [&](int shard) { return place(shard).hinted.contains(queue); });
    return order;
  }
  void note_empty(int shard, const std::string& queue) override {
    router_.places_[static_cast<std::size_t>(shard)].hinted.erase(queue);
  }
  Command::ExtraDemand asked(const Event& event) const override {
    Command::ExtraDemand asked{router_.retried_claims_.waiting(event), std::nullopt};
    if (const auto last = router_.polls_.last(event)) asked.last_poll_ago = router_.clock_.now() - *last;
    return asked;
  }
  bool may_stay() override { return router_.may_stay(steady_now()); }
  std::string next_id() override { return router_.ids_.next(router_.clock_.now()); }

  void send(int shard, Command command, std::optional<std::size_t> commit_thread) override {
    router_.send(flight_, shard, std::move(command), commit_thread);
  }
  void finish(Answer answer) override { router_.finish(flight_, std::move(answer)); }
  void keep_waiting(ClaimRequest claim, Answer so_far) override {
    router_.keep_waiting(flight_, std::move(claim), std::move(so_far));
  }
  void keep_waiting(const WaitRequest& wait, Answer so_far) override {
    router_.keep_waiting(flight_, wait, std::move(so_far));
  }

 private:
  [[nodiscard]] const Place& place(int shard) const {
    return router_.places_[static_cast<std::size_t>(shard)];
  }
  Router& router_;
  const std::uint64_t flight_;
};

Router::Router(std::vector<std::unique_ptr<Shard>> shards, const Clock& clock, const RouterOptions& options)
    : clock_(clock),
      options_(options),
      ids_(Uuid7Source::from_entropy()),
      retried_claims_(static_cast<int>(shards.size())) {
  for (std::unique_ptr<Shard>& shard : shards) {
    Place place;
    place.commit_threads.resize(shard->commit_threads());
    place.shard = std::move(shard);
    places_.push_back(std::move(place));
  }
  for (std::size_t i = 0; i < places_.size(); ++i) places_[i].shard->start(*this, static_cast<int>(i));
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
  if (dismissing_) let_not_wait(command);
  Flight flight{.scatter = nullptr, .reply_to = reply_to, .look = {}, .end = {}};
  flight.workers = workers_of(command.changes);
  flight.counts_waiting = std::holds_alternative<MetricsRequest>(command.admin);
  if (command.claim) polls_.note(command.claim->selector, clock_.now());
  if (command.claim || command.wait) by_reply_to_[reply_to] = next_flight_;
  flight.scatter = make_scatter(std::move(command), static_cast<int>(places_.size()));
  begin(std::move(flight));
  perform(lock);
}

Answer Router::call(Command command) {
  OneAnswer sink;
  submit(std::move(command), sink, 0);
  return sink.wait();
}

void Router::begin(Flight flight) {
  const std::uint64_t id = next_flight_++;
  flight.started = notes_;
  const std::shared_ptr<Scatter> scatter = flight.scatter;  // as in step()
  flights_.emplace(id, std::move(flight));
  Desk desk(*this, id);
  scatter->start(desk);
}

void Router::deliver(std::vector<Envelope<Answer>> answers) {
  std::unique_lock lock(mutex_);
  for (Envelope<Answer>& answer : answers) step(answer.reply_to.token, std::move(answer.content));
  perform(lock);
}

// One answer, and the scatter goes on. An answer that nobody waits for any more came too late.
void Router::step(std::uint64_t part_id, Answer answer) {
  const auto found = parts_.find(part_id);
  if (found == parts_.end()) return give_back(answer.claims);
  const Part part = found->second;
  parts_.erase(found);
  note_part(places_[static_cast<std::size_t>(part.shard)], part, -1);
  const auto flight = flights_.find(part.flight);
  if (flight == flights_.end()) return give_back(answer.claims);
  Desk desk(*this, part.flight);
  // finish() forgets the flight, but the scatter is still at work then.
  const std::shared_ptr<Scatter> scatter = flight->second.scatter;
  scatter->take(desk, part.shard, std::move(answer));
}

void Router::send(std::uint64_t flight, int shard, Command command,
                  std::optional<std::size_t> commit_thread) {
  Place& place = places_[static_cast<std::size_t>(shard)];
  Part part{flight, shard, std::nullopt, changes_something(command), steady_now()};
  if (!command.is_read())
    part.commit_thread = commit_thread ? *commit_thread : best_offer(place).commit_thread;
  const std::uint64_t id = next_part_++;
  parts_.emplace(id, part);
  note_part(place, part, 1);
  if (!place.up) {
    arrived_.emplace_back(id, Answer{.error = away(shard)});
    return;
  }
  // What it has not answered may take for ever, and this would come behind it.
  if (part.commit_thread && place.commit_threads[*part.commit_thread].given_up > 0) {
    arrived_.emplace_back(id, Answer{.error = stuck(shard)});
    return;
  }
  out_.sendings.push_back(
      {place.shard.get(), part.commit_thread, Envelope<Command>{{this, id}, std::move(command)}});
}

std::size_t Router::usual_commit_threads(const Place& place) const {
  return std::clamp(options_.commit_threads / places_.size(), std::size_t{1}, place.commit_threads.size());
}

Router::Offer Router::best_offer(const Place& place) const {
  const SteadyTime now = steady_now();
  const std::size_t usual = usual_commit_threads(place);
  const bool any_spare = usual < place.commit_threads.size();
  std::optional<Offer> best;
  for (std::size_t commit_thread = 0; commit_thread < place.commit_threads.size(); ++commit_thread) {
    const Burden& burden = place.commit_threads[commit_thread];
    const bool late = any_spare && burden.under_way > 0 && now - burden.moved >= options_.stalled_after;
    const Offer offer{burden.given_up, late, commit_thread >= usual, burden.under_way, commit_thread};
    if (!best || offer < *best) best = offer;
  }
  return *best;
}

bool Router::may_stay(SteadyTime now) {
  if (++stayed_ < kStay && now < stay_until_) return true;
  stayed_ = 0;
  stay_until_ = now + kStayFor;
  return false;
}

void Router::note_part(Place& place, const Part& part, int change) {
  place.parts += static_cast<std::size_t>(change);
  place.shard->care(place.parts > 0);
  if (!part.commit_thread) return;
  Burden& commit_thread = place.commit_threads[*part.commit_thread];
  if (change < 0 || commit_thread.under_way == 0) commit_thread.moved = steady_now();
  commit_thread.under_way += static_cast<std::size_t>(change);
  if (part.flight == 0) commit_thread.given_up += static_cast<std::size_t>(change);
}

void Router::finish(std::uint64_t id, Answer answer) {
  auto node = flights_.extract(id);
  Flight& flight = node.mapped();
  if (flight.look) return finish_look(std::move(*flight.look), flight.forgotten, std::move(answer));
  if (flight.last) return finish_last(std::move(*flight.last), flight.forgotten, std::move(answer));
  if (flight.end) return finish_end(*flight.end, answer);
  by_reply_to_.erase(*flight.reply_to);
  for (const std::string& worker : flight.workers) retried_claims_.note_moved(worker);
  if (flight.counts_waiting && !answer.error) {
    auto& metrics = std::get<Metrics>(answer.admin);
    metrics.waiting_claims += static_cast<std::int64_t>(retried_claims_.size());
    metrics.waiting_ends += static_cast<std::int64_t>(retried_ends_.size());
  }
  this->answer(*flight.reply_to, std::move(answer));
}

void Router::finish_look(ClaimRetry look, bool forgotten, Answer answer) {
  by_reply_to_.erase(look.claim.reply_to);
  if (!answer.claims.empty()) {
    const int shard =
        static_cast<int>(static_cast<std::uint64_t>(answer.claims.front().event.id) % places_.size());
    retried_claims_.found(look, shard);
    if (forgotten) return give_back(answer.claims);
    look.claim.answer.claims = std::move(answer.claims);
    return this->answer(look.claim.reply_to, std::move(look.claim.answer));
  }
  const ReplyTo reply_to = look.claim.reply_to;
  const Millis left = look.claim.deadline - clock_.now();
  Answer last = look.claim.answer;
  retried_claims_.found_nothing(std::move(look));
  if (left < kRouterLook) stir();  // the thread did not know of it meanwhile
  if (!forgotten && !dismissing_ && !none_up()) return end_waits();
  retried_claims_.forget(reply_to);
  if (forgotten) return;
  if (!dismissing_ && last.changed.empty()) last.error = away(0);
  this->answer(reply_to, std::move(last));
}

void Router::finish_last(WaitingClaim waiter, bool forgotten, Answer answer) {
  by_reply_to_.erase(waiter.reply_to);
  if (forgotten) return give_back(answer.claims);
  waiter.answer.claims = std::move(answer.claims);
  this->answer(waiter.reply_to, std::move(waiter.answer));
}

void Router::finish_end(const WaitRequest& request, const Answer& answer) {
  // An event that is gone has ended long ago.
  const bool gone = answer.error && answer.error->code == ErrorCode::not_found;
  if (!answer.waited && !gone) return retried_ends_.not_ended(request);
  answer_waits(retried_ends_.ended(request), std::nullopt);
}

void Router::keep_waiting(std::uint64_t id, ClaimRequest claim, Answer so_far) {
  auto node = flights_.extract(id);
  const Flight& flight = node.mapped();
  by_reply_to_.erase(*flight.reply_to);
  for (const std::string& worker : flight.workers) retried_claims_.note_moved(worker);
  if (dismissing_ || flight.forgotten) return answer(*flight.reply_to, std::move(so_far));
  // What was told while it looked may have come behind its back.
  const auto noted = ready_notes_.find(claim.selector.queue);
  const std::uint64_t last = std::max(all_note_, noted == ready_notes_.end() ? 0 : noted->second);
  const bool look = claim.window > 0 || last > flight.started;
  const TimePoint deadline = clock_.now() + claim.wait;
  if (claim.wait < kRouterLook) stir();
  retried_claims_.add({*flight.reply_to, std::move(claim), deadline, std::move(so_far)}, look);
}

void Router::keep_waiting(std::uint64_t id, const WaitRequest& wait, Answer so_far) {
  auto node = flights_.extract(id);
  const Flight& flight = node.mapped();
  by_reply_to_.erase(*flight.reply_to);
  if (dismissing_ || flight.forgotten) return answer(*flight.reply_to, std::move(so_far));
  const TimePoint deadline = clock_.now() + wait.timeout;
  retried_ends_.add(wait, {*flight.reply_to, "", deadline, std::move(so_far)}, end_note_ > flight.started);
  if (wait.timeout < kRouterLook) stir();
}

void Router::answer(const ReplyTo& reply_to, Answer answer) {
  out_.answers.push_back({reply_to, std::move(answer)});
}

// Their end has come; or why they cannot wait on. What a command published stays published.
void Router::answer_waits(std::vector<WaitingEnd> waits, const std::optional<Error>& error) {
  for (WaitingEnd& wait : waits) {
    wait.answer.waited = !error;
    if (error && !wait.answer.published) wait.answer.error = error;
    answer(wait.reply_to, std::move(wait.answer));
  }
}

// The one they were for had an answer already, or is gone. Nobody hears of how that ends.
void Router::give_back(const std::vector<Claim>& claims) {
  if (claims.empty() || closed_) return;
  const auto shard = static_cast<std::size_t>(claims.front().event.id) % places_.size();
  Command command;
  for (const Claim& claim : claims) {
    const Event& event = claim.event;
    command.changes.push_back({Lease{event.id, event.worker_id, event.attempts},
                               Release{"The worker was gone before it got the event."}});
  }
  out_.sendings.push_back({places_[shard].shard.get(), 0, Envelope<Command>{{this, 0}, std::move(command)}});
}

void Router::cancel_wait(AnswerSink& sink, std::uint64_t token) {
  const ReplyTo reply_to{&sink, token};
  std::unique_lock lock(mutex_);
  retried_claims_.forget(reply_to);
  retried_ends_.forget(reply_to);
  const auto found = by_reply_to_.find(reply_to);
  if (found != by_reply_to_.end()) {
    Flight& flight = flights_.at(found->second);
    flight.forgotten = true;
    flight.scatter->forget();
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
  answer_waits(retried_ends_.take_all(),
               Error{ErrorCode::unavailable, "The queue is closing; ask again after its restart.", ""});
}

void Router::recheck_clock() {
  std::unique_lock lock(mutex_);
  stir();
  end_waits();
  perform(lock);
  for (const Place& place : places_) place.shard->recheck_clock();
}

// The shards first: they finish what is under way, and answer here. One that is silent is interrupted by
// itself.
void Router::stop() {
  {
    std::unique_lock lock(mutex_);
    if (ended_) return;
    closed_ = true;
    dismiss();
    perform(lock);
    lock.lock();
    idle_.wait(lock, [this] { return flights_.empty(); });
    ended_ = true;
    wake_.notify_one();
  }
  thread_.join();
  for (const Place& place : places_) place.shard->stop();
}

void Router::on_hint(int at, const Hint& hint) {
  std::unique_lock lock(mutex_);
  Place& place = places_[static_cast<std::size_t>(at)];
  notes_ += 1;
  if (ready_notes_.size() > kNotesMax) {
    ready_notes_.clear();
    all_note_ = notes_;
  }
  for (const std::string& queue : hint.ready) {
    ready_notes_[queue] = notes_;
    if (place.hinted.size() < kNotesMax) place.hinted.insert(queue);
    retried_claims_.note_ready(at, queue);
  }
  if (hint.all) {
    all_note_ = notes_;
    retried_claims_.note_ready(at);
  }
  if (!hint.ended.empty() || hint.any_ended) end_note_ = notes_;
  retried_ends_.note(hint.ended);
  if (hint.any_ended && retried_ends_.size() > 0 && !std::exchange(ends_noted_, true)) stir();
  perform(lock);
}

void Router::on_health(int at, bool up) {
  std::unique_lock lock(mutex_);
  Place& place = places_[static_cast<std::size_t>(at)];
  if (place.up == up) return;
  place.up = up;
  if (up) {
    notes_ += 1;
    all_note_ = end_note_ = notes_;
    retried_claims_.note_ready(at);
    retried_ends_.note_all();
  } else {
    fail_parts(at);
    answer_waits(retried_ends_.take_of(at, static_cast<int>(places_.size())), away(at));
    if (none_up()) {
      for (WaitingClaim& waiter : retried_claims_.take_all()) {
        if (waiter.answer.changed.empty()) waiter.answer.error = away(at);
        answer(waiter.reply_to, std::move(waiter.answer));
      }
    }
  }
  perform(lock);
}

// What is under way there is answered now. If it comes back, its answers are too late.
void Router::fail_parts(int at) {
  const Error unknown{
      ErrorCode::unknown_outcome,
      away(at).message + " It went away while this was under way, so nobody knows whether it was done.", ""};
  for (const auto& [id, part] : parts_) {
    if (part.shard == at) arrived_.emplace_back(id, Answer{.error = part.changes ? unknown : away(at)});
  }
}

// A shard may be up and a commit in it hang, as one that waits for a synchronous standby does. Whoever asked
// is answered here; the part stays, without a flight, until its answer comes.
void Router::give_up(SteadyTime now) {
  std::vector<Part> late;
  for (auto& [id, part] : parts_) {
    if (now - part.sent < options_.answer_timeout) break;  // as are all behind it
    if (part.flight == 0) continue;
    late.push_back(part);
    Place& place = places_[static_cast<std::size_t>(part.shard)];
    note_part(place, part, -1);
    part.flight = 0;
    note_part(place, part, 1);
  }
  for (Part& part : late) {
    Error error = stuck(part.shard);
    if (part.changes) {
      error.code = ErrorCode::unknown_outcome;
      error.message += " Nobody knows whether this was done.";
    }
    const std::uint64_t id = next_part_++;
    part.sent = now;
    note_part(places_[static_cast<std::size_t>(part.shard)], part, 1);
    parts_.emplace(id, part);
    arrived_.emplace_back(id, Answer{.error = std::move(error)});
  }
}

Error Router::stuck(int at) const {
  const Place& place = places_[static_cast<std::size_t>(at)];
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(options_.answer_timeout).count();
  return {ErrorCode::unavailable,
          "Shard " + std::to_string(at) + " (" + place.shard->name() + ") has not answered for " +
              std::to_string(seconds) + " s; try again later.",
          ""};
}

Error Router::away(int at) const {
  const Place& place = places_[static_cast<std::size_t>(at)];
  return {ErrorCode::unavailable,
          "Shard " + std::to_string(at) + " (" + place.shard->name() + ") is away; try again later.", ""};
}

bool Router::none_up() const {
  return std::none_of(places_.begin(), places_.end(), [](const Place& place) { return place.up; });
}

std::vector<int> Router::rotated(std::size_t turn) const {
  std::vector<int> order;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::size_t at = (turn + i) % places_.size();
    if (places_[at].up) order.push_back(static_cast<int>(at));
  }
  return order;
}

// Begins what those who wait are to look for.
void Router::run_looks() {
  while (auto look = retried_claims_.next_retry()) {
    Flight flight{
        .scatter = make_look(look->claim.request, look->shards), .reply_to = {}, .look = {}, .end = {}};
    by_reply_to_[look->claim.reply_to] = next_flight_;
    flight.look = std::move(*look);
    begin(std::move(flight));
  }
  while (auto end = retried_ends_.next_retry()) {
    Flight flight{.scatter = make_scatter({.wait = *end}, static_cast<int>(places_.size())),
                  .reply_to = {},
                  .look = {},
                  .end = *end};
    begin(std::move(flight));
  }
}

void Router::perform(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    while (!arrived_.empty()) {
      auto [part, answer] = std::move(arrived_.front());
      arrived_.pop_front();
      step(part, std::move(answer));
    }
    run_looks();
    if (arrived_.empty()) break;
  }
  if (flights_.empty()) idle_.notify_all();
  Outbox out = std::exchange(out_, {});
  lock.unlock();
  for (Outbox::Sending& sending : out.sendings) {
    if (sending.commit_thread) {
      sending.shard->submit(*sending.commit_thread, std::move(sending.request));
    } else {
      sending.shard->read(std::move(sending.request));
    }
  }
  eventq::deliver(std::move(out.answers));
}

void Router::stir() {
  poked_ = true;
  wake_.notify_one();
}

void Router::loop() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    wake_.wait_for(lock, pause(), [this] { return ended_ || poked_; });
    poked_ = false;
    end_waits();
    look_around(steady_now());
    perform(lock);
    lock.lock();
  }
}

Millis Router::pause() const {
  Millis pause = kRouterLook;
  if (ends_noted_) {
    const auto left = std::chrono::ceil<Millis>(next_end_look_ - steady_now());
    pause = std::clamp(left, Millis(0), kEndInterval);
  }
  for (const auto& deadline : {retried_claims_.next_deadline(), retried_ends_.next_deadline()}) {
    if (deadline) pause = std::clamp(*deadline - clock_.now(), Millis(0), pause);
  }
  return pause;
}

void Router::end_waits() {
  const TimePoint now = clock_.now();
  for (WaitingClaim& waiter : retried_claims_.take_expired(now)) look_last(std::move(waiter));
  for (WaitingEnd& wait : retried_ends_.take_expired(now)) answer(wait.reply_to, std::move(wait.answer));
}

// What came due together with the end of the wait may not have been told of yet. A stream asks again at once,
// and only in the room one claim at a time.
void Router::look_last(WaitingClaim waiter) {
  std::vector<int> shards = rotated(claim_turn_++);
  if (waiter.request.window > 0 || shards.empty()) return answer(waiter.reply_to, std::move(waiter.answer));
  Flight flight{.scatter = make_look(waiter.request, std::move(shards), LookIn::every_commit_thread),
                .reply_to = {},
                .look = {},
                .end = {}};
  by_reply_to_[waiter.reply_to] = next_flight_;
  flight.last = std::move(waiter);
  begin(std::move(flight));
}

// What no hint told of.
void Router::look_around(SteadyTime now) {
  if (ends_noted_ && now >= next_end_look_) {
    ends_noted_ = false;
    next_end_look_ = now + kEndInterval;
    retried_ends_.note_all();
  }
  if (now < next_look_) return;
  next_look_ = now + kRouterLook;
  give_up(now);
  retried_claims_.note_all();
  retried_ends_.note_all();
}

}  // namespace eventq
