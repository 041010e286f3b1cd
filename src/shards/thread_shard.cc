// thread_shard.cc: see thread_shard.h.
#include "shards/thread_shard.h"

#include <utility>

namespace eventq {

LaneShard::LaneShard(std::string name, std::vector<Writer> writers,
                     std::vector<std::unique_ptr<Reader>> readers, const Clock& clock, const Logger& logger)
    : name_(std::move(name)),
      clock_(clock),
      logger_(logger),
      writers_(std::move(writers)),
      readers_(std::move(readers)) {}

LaneShard::~LaneShard() { stop(); }

void LaneShard::start(Watcher& watcher, int place) {
  watcher_ = &watcher;
  place_ = place;
  for (std::unique_ptr<Reader>& reader : readers_) {
    read_lanes_.push_back(std::make_unique<ReadLane>(std::move(reader)));
  }
  lanes_.reserve(writers_.size());  // the first is used by the others while they come
  for (std::size_t i = 0; i < writers_.size(); ++i) {
    lanes_.push_back(std::make_unique<Lane>(*writers_[i].store, *writers_[i].core, clock_, logger_,
                                            [this, i](const Happened& happened) { committed(i, happened); }));
  }
}

void LaneShard::submit(std::size_t lane, Request request) { lanes_[lane]->submit(std::move(request)); }

void LaneShard::read(Request request) {
  read_lanes_[next_read_.fetch_add(1) % read_lanes_.size()]->submit(std::move(request));
}

void LaneShard::poke() {
  for (const std::unique_ptr<Lane>& lane : lanes_) lane->poke();
}

void LaneShard::stop() {
  for (const std::unique_ptr<Lane>& lane : lanes_) lane->stop();
  for (const std::unique_ptr<ReadLane>& lane : read_lanes_) lane->stop();
}

// What one lane did, the one that maintains the store must know, and everybody who waits.
void LaneShard::committed(std::size_t lane, const Happened& happened) {
  if (lane > 0 && happened.next_due) lanes_.front()->expect(*happened.next_due);
  if (happened.ready.empty() && happened.ended.empty()) return;
  watcher_->on_hint(place_, Hint{happened.ready, false, happened.ended, false});
}

}  // namespace eventq
