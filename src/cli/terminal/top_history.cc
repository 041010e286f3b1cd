// top_history.cc: see top_history.h.
#include "cli/terminal/top_history.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/json.h"
#include "cli/framework/record.h"

namespace eventq::cli {
namespace {

// JsonValue has no accessor for numbers with a fraction.
std::optional<double> number_at(const JsonValue& value, std::string_view path) {
  const auto text = text_at(value, path);
  double number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

std::int64_t count_at(const JsonValue& value, std::string_view path) {
  return integer_at(value, path).value_or(0);
}

TopQueue read_queue(const JsonValue& value) {
  return {.name = text_at(value, "queue").value_or(""),
          .state = "",
          .waiting = count_at(value, "counts.PENDING"),
          .running = count_at(value, "counts.PROCESSING"),
          .failed = count_at(value, "counts.FAILED"),
          .published = count_at(value, "published"),
          .completions = count_at(value, "completed"),
          .failures = count_at(value, "failed"),
          .oldest_seconds = number_at(value, "oldest_pending_seconds"),
          .unattended = count_at(value, "unattended")};
}

}  // namespace

const TopQueue* find_queue(const TopSample& sample, const std::string& name) {
  const auto found = std::find_if(sample.queues.begin(), sample.queues.end(),
                                  [&](const TopQueue& queue) { return queue.name == name; });
  return found == sample.queues.end() ? nullptr : &*found;
}

Result<TopSample> read_top_sample(std::string_view metrics, std::string_view queues,
                                  std::string_view workers) {
  TopSample sample;
  JsonParser parser(kAnswerDepth);
  auto json = parser.parse(metrics);
  if (!json) return json.error();
  for (const JsonValue& queue : elements_at(*json, "queues")) sample.queues.push_back(read_queue(queue));
  sample.file_bytes = count_at(*json, "store.file_bytes");
  sample.log_bytes = count_at(*json, "store.log_bytes");

  json = parser.parse(queues);
  if (!json) return json.error();
  std::map<std::string, std::string> states;
  for (const JsonValue& queue : elements_at(*json, "queues")) {
    states[text_at(queue, "id").value_or("")] = text_at(queue, "status").value_or("");
  }
  // Joined by name, because /metrics does not contain the states. A queue that is only in one answer was just
  // added or removed.
  for (TopQueue& queue : sample.queues) queue.state = states[queue.name];

  json = parser.parse(workers);
  if (!json) return json.error();
  for (const JsonValue& worker : elements_at(*json, "workers")) {
    const std::string state = text_at(worker, "state").value_or("");
    if (state == "gone") continue;
    sample.workers.push_back({.id = text_at(worker, "worker_id").value_or(""),
                              .state = state,
                              .holding = elements_at(worker, "holding").size(),
                              .completed = count_at(worker, "completed"),
                              .failed = count_at(worker, "failed")});
  }
  return sample;
}

void TopHistory::add(TopSample sample, SteadyTime at) {
  const double seconds = at_ ? std::chrono::duration<double>(at - *at_).count() : 0;
  rates_.clear();
  for (const TopQueue& queue : sample.queues) {
    const TopQueue* const before = seconds > 0 ? find_queue(last_, queue.name) : nullptr;
    // Counters only grow. A smaller value means that another server answers now, so there is no rate.
    if (before == nullptr || queue.published < before->published || queue.completions < before->completions ||
        queue.failures < before->failures) {
      continue;
    }
    const auto done = static_cast<double>(queue.completions - before->completions);
    rates_[queue.name] = {.in = static_cast<double>(queue.published - before->published) / seconds,
                          .done = done / seconds,
                          .failed = static_cast<double>(queue.failures - before->failures) / seconds};
    // A cell sums events and seconds, because samples are not exactly one second apart.
    auto& cells = cells_[queue.name];
    if (cells.empty() || cells.back().seconds >= std::chrono::duration<double>(kCell).count())
      cells.push_back({});
    if (cells.size() > kCells) cells.pop_front();
    cells.back().events += done;
    cells.back().seconds += seconds;
  }
  last_ = std::move(sample);
  at_ = at;
}

std::optional<TopRates> TopHistory::rates(const std::string& queue) const {
  const auto found = rates_.find(queue);
  if (found == rates_.end()) return std::nullopt;
  return found->second;
}

std::optional<TopRates> TopHistory::rates() const {
  if (rates_.empty()) return std::nullopt;
  TopRates sum;
  for (const auto& [name, rates] : rates_) {
    sum.in += rates.in;
    sum.done += rates.done;
    sum.failed += rates.failed;
  }
  return sum;
}

std::vector<double> TopHistory::done(const std::string& queue) const {
  std::vector<double> rates;
  const auto found = cells_.find(queue);
  if (found == cells_.end()) return rates;
  for (const Cell& cell : found->second) rates.push_back(cell.events / cell.seconds);
  return rates;
}

}  // namespace eventq::cli
