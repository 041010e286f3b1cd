// retried_ends.cc: see retried_ends.h.
#include "wait/retried_ends.h"

#include <utility>
#include <variant>

#include "base/overloaded.h"
#include "model/shard_of.h"

namespace eventq {
namespace {

std::string key_of(const WaitRequest& request) {
  return std::visit(Overloaded{
                        [](const WaitRequest::ThisPublication&) { return std::string(); },
                        [](const auto& what) { return wait_key(what); },
                    },
                    request.what);
}

}  // namespace

void RetriedEnds::add(const WaitRequest& request, WaitingEnd wait, bool retry_now) {
  wait.key = key_of(request);
  sought_.try_emplace(wait.key, SoughtEnd{{request.what, Millis(0)}});
  if (retry_now) marked_.insert(wait.key);
  WaitingEnds::add(std::move(wait));
}

void RetriedEnds::note(const std::vector<EventId>& events) {
  if (sought_.empty()) return;
  for (const EventId id : events) {
    std::string key = wait_key(id);
    if (sought_.contains(key)) marked_.insert(std::move(key));
  }
  for (const auto& [key, sought] : sought_) {
    if (!std::holds_alternative<EventId>(sought.request.what)) marked_.insert(key);
  }
}

void RetriedEnds::note_all() {
  for (const auto& [key, sought] : sought_) marked_.insert(key);
}

std::optional<WaitRequest> RetriedEnds::next_retry() {
  for (auto it = marked_.begin(); it != marked_.end();) {
    const auto found = sought_.find(*it);
    if (found == sought_.end() || find(*it) == nullptr) {
      if (found != sought_.end() && !found->second.retrying) sought_.erase(found);
      it = marked_.erase(it);
    } else if (found->second.retrying) {
      ++it;  // the mark stays, so a retry follows when this one is over
    } else {
      marked_.erase(it);
      found->second.retrying = true;
      return found->second.request;
    }
  }
  return std::nullopt;
}

std::vector<WaitingEnd> RetriedEnds::ended(const WaitRequest& request) {
  const std::string key = key_of(request);
  sought_.erase(key);
  return take(key);
}

void RetriedEnds::not_ended(const WaitRequest& request) {
  const auto found = sought_.find(key_of(request));
  if (found != sought_.end()) found->second.retrying = false;
}

std::vector<WaitingEnd> RetriedEnds::take_of(int shard, int shards) {
  std::vector<WaitingEnd> taken;
  for (const auto& [key, sought] : sought_) {
    const auto* id = std::get_if<EventId>(&sought.request.what);
    if (id != nullptr && shard_of(*id, shards) != shard) continue;
    for (WaitingEnd& wait : take(key)) taken.push_back(std::move(wait));
  }
  return taken;
}

}  // namespace eventq
