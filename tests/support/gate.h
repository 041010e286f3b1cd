// gate.h: something that happens once, and those who wait for it.
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

  // False when it does not happen at all: no test is meant to wait that long.
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
