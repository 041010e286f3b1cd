// body_budget.h: a limit on the bytes of all request bodies in memory.
//
// Threads: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace eventq::http {

class BodyBudget {
 public:
  explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Takes `bytes`. False, and nothing taken, when fewer are left.
  bool take(std::size_t bytes) {
    if (bytes_.fetch_add(bytes) + bytes <= bytes_max_) return true;
    give_back(bytes);
    return false;
  }
  void give_back(std::size_t bytes) { bytes_.fetch_sub(bytes); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace eventq::http
