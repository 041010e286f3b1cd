// metrics.cc: see metrics.h.
#include "model/metrics.h"

#include <map>
#include <set>
#include <string_view>

namespace eventq {

std::array<std::int64_t, kWorkerStates> count_by_state(const std::vector<ListedWorker>& workers) {
  std::array<std::int64_t, kWorkerStates> counts{};
  for (const ListedWorker& worker : workers) counts.at(static_cast<std::size_t>(worker.state)) += 1;
  return counts;
}

bool is_asking(const ListedWorker& worker) {
  return worker.state == WorkerState::active || worker.asked_lately;
}

void count_subscribers(Metrics& metrics) {
  std::map<std::string_view, std::int64_t> subscribers;  // by queue
  for (const ListedWorker& worker : metrics.workers) {
    if (!is_asking(worker)) continue;
    std::set<std::string_view> queues;
    for (const Selector& it : worker.asks) queues.insert(it.queue);
    for (const std::string_view queue : queues) subscribers[queue] += 1;
  }
  for (QueueMetrics& queue : metrics.queues) {
    const auto found = subscribers.find(queue.queue);
    queue.subscribers = found == subscribers.end() ? 0 : found->second;
    const bool attended = queue.subscribers > 0 || queue.paused;
    queue.unattended = attended ? 0 : queue.counts.at(static_cast<std::size_t>(Status::pending));
  }
}

}  // namespace eventq
