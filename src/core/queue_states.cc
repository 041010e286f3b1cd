// queue_states.cc: see queue_states.h.
#include "core/queue_states.h"

#include <algorithm>
#include <utility>

namespace eventq {
namespace {

// DrainRate counts ends of this time: long enough to smooth batches, short enough to follow a change of load.
constexpr std::chrono::seconds kWindow{10};
// Bucket bounds of the wait and run histograms.
constexpr double kSeconds[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600};

std::int64_t live(const Counts& counts) {
  return counts[static_cast<std::size_t>(Status::pending)] +
         counts[static_cast<std::size_t>(Status::processing)];
}

bool is_buffered(const QueueState& queue) { return queue.policy.durability == Durability::buffered; }

std::int64_t ended(const Totals& totals) {
  return totals.completed + totals.failed_for_good + totals.superseded + totals.cancelled;
}

}  // namespace

void DrainRate::note(std::int64_t ended, TimePoint now) {
  if (ended <= 0) return;
  const TimePoint second = std::chrono::floor<std::chrono::seconds>(now);
  if (ends_.empty() || ends_.back().first != second) ends_.emplace_back(second, 0);
  ends_.back().second += ended;
  while (ends_.front().first < now - kWindow) ends_.pop_front();
}

double DrainRate::per_second(TimePoint now) const {
  std::int64_t ended = 0;
  TimePoint first = now;
  for (const auto& [second, count] : ends_) {
    if (second < now - kWindow) continue;
    ended += count;
    first = std::min(first, second);
  }
  // At least one second, because one event that ended just now says little about the rate.
  const std::chrono::duration<double> time = std::max<Millis>(now - first, std::chrono::seconds(1));
  return static_cast<double>(ended) / time.count();
}

std::int64_t share_of(std::int64_t limit, const Share& share) {
  return limit / share.shards + (share.shard < limit % share.shards ? 1 : 0);
}

std::int64_t QueueState::depth() const { return live(counts); }
std::int64_t QueueDelta::depth() const { return live(counts); }

const QueueState* QueueStates::find(const std::string& queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

QueueState* QueueStates::find(const std::string& queue) {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : &found->second;
}

QueueState QueueStates::make(QueueRow row, Counters counters) const {
  QueueState state;
  const QueueState* known = find(row.id);
  if (known != nullptr && counters == Counters::present) {
    state = *known;
  } else {
    state.wait = Histogram(kSeconds);
    state.run = Histogram(kSeconds);
  }
  state.policy = resolve(row.id, row.config, defaults_);
  if (auto& depth = state.policy.max_queue_depth) {
    state.share_max = share_of(*depth, {0, share_.shards});
    depth = share_of(*depth, share_);
  }
  // With a watermark of 0 backpressure would never end.
  if (auto& mark = state.policy.high_watermark) mark = std::max<std::int64_t>(1, share_of(*mark, share_));
  state.row = std::move(row);
  return state;
}

void QueueStates::put(QueueState state) {
  state.backpressure = backpressure(state.policy, state.depth(), state.backpressure);
  if (const QueueState* replaced = find(state.row.id); replaced && is_buffered(*replaced)) --buffered_;
  if (is_buffered(state)) ++buffered_;
  std::string name = state.row.id;
  queues_.insert_or_assign(std::move(name), std::move(state));
}

void QueueStates::erase(const std::string& queue) {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return;
  if (is_buffered(found->second)) --buffered_;
  queues_.erase(found);
}

void QueueStates::add(const std::string& queue, const QueueDelta& delta, TimePoint now) {
  QueueState* state = find(queue);
  if (state == nullptr) return;
  for (std::size_t i = 0; i < kStatuses; ++i) state->counts[i] += delta.counts[i];
  state->totals += delta.totals;
  state->drain_rate.note(delta.ended, now);
  state->backpressure = backpressure(state->policy, state->depth(), state->backpressure);
  if (delta.last_completed) state->checkpoint_id = delta.checkpoint_id;
  for (const double seconds : delta.waits) state->wait.add(seconds);
  for (const double seconds : delta.runs) state->run.add(seconds);
}

void QueueStates::refresh(const QueueRecord& record, TimePoint now) {
  QueueState* state = find(record.row.id);
  if (state == nullptr) return;
  state->drain_rate.note(ended(record.totals) - ended(state->totals), now);
  state->counts = record.counts;
  state->totals = record.totals;
  state->checkpoint_id = record.checkpoint_id;
  state->backpressure = backpressure(state->policy, state->depth(), state->backpressure);
}

std::int64_t QueueStates::depth() const {
  std::int64_t depth = 0;
  for (const auto& [name, state] : queues_) depth += state.depth();
  return depth;
}

// A sync covers the whole store, so this resets all queues and not only those of the last batch.
void QueueStates::note_persisted() {
  for (auto& [name, state] : queues_) state.unpersisted = 0;
}

}  // namespace eventq
