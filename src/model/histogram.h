// histogram.h: counts of durations or sizes in buckets, as Prometheus defines them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eventq {

// Threads: belongs to one thread at a time.
class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(std::span<const double> bounds)
      : bounds_(bounds.begin(), bounds.end()), counts_(bounds.size() + 1) {}

  void add(double value) {
    const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
    counts_[static_cast<std::size_t>(bucket)] += 1;
    sum_ += value;
    total_ += 1;
  }

  // Adds the counts of `more`.
  // REQUIRES: both have the same bounds, or this one has none yet.
  Histogram& operator+=(const Histogram& more) {
    if (bounds_.empty()) return *this = more;
    for (std::size_t i = 0; i < more.counts_.size(); ++i) counts_[i] += more.counts_[i];
    sum_ += more.sum_;
    total_ += more.total_;
    return *this;
  }

  // The upper bounds of the buckets, ascending. counts() has one more, for values above the last bound.
  [[nodiscard]] const std::vector<double>& bounds() const { return bounds_; }
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] std::int64_t total() const { return total_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::int64_t> counts_;
  double sum_ = 0;
  std::int64_t total_ = 0;
};

}  // namespace eventq
