// gate.h: a one-time signal that threads can wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace eventq {

// Threads: every method may be called from any thread.
class Gate {
 public:
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

  // False when open() was not called within a minute, which no test needs.
  bool wait() {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, std::chrono::seconds(60), [this] { return open_; });
  }

  [[nodiscard]] bool is_open() const {
    const std::scoped_lock lock(mutex_);
    return open_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

}  // namespace eventq
