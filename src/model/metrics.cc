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
  }
}

std::vector<AskedTags> asked_tags(const Metrics& metrics) {
  std::set<std::string_view> all_asked;                    // queues of which a worker asks for all events
  std::map<std::string_view, std::set<std::string>> tags;  // by queue
  for (const ListedWorker& worker : metrics.workers) {
    if (!is_asking(worker)) continue;
    for (const Selector& it : worker.asks) {
      if (it.tags.empty()) all_asked.insert(it.queue);
      tags[it.queue].insert(it.tags.begin(), it.tags.end());
    }
  }
  std::vector<AskedTags> asked;
  for (const QueueMetrics& queue : metrics.queues) {
    // An event whose lease expired is PROCESSING until a worker claims it again.
    const bool live = queue.counts.at(static_cast<std::size_t>(Status::pending)) > 0 ||
                      queue.counts.at(static_cast<std::size_t>(Status::processing)) > 0;
    if (!live || queue.paused || all_asked.contains(queue.queue)) continue;
    const std::set<std::string>& of_queue = tags[queue.queue];
    asked.push_back({queue.queue, {of_queue.begin(), of_queue.end()}});
  }
  return asked;
}

void set_unattended(Metrics& metrics, std::span<const AskedTags> asked,
                    std::span<const std::int64_t> counts) {
  std::map<std::string_view, std::int64_t> by_queue;
  for (std::size_t i = 0; i < asked.size(); ++i) by_queue[asked[i].queue] = counts[i];
  for (QueueMetrics& queue : metrics.queues) {
    const auto found = by_queue.find(queue.queue);
    queue.unattended = found == by_queue.end() ? 0 : found->second;
  }
}

}  // namespace eventq
