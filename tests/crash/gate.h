// gate.h: which server clients talk to just now, while it is killed and started again.
//
// Threads: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace eventq {

class Gate {
 public:
  struct Server {
    int generation = 0;  // 1 is the first server
    std::uint16_t port = 0;
  };

  // Another server is there.
  void open(std::uint16_t port) {
    const std::scoped_lock lock(mutex_);
    server_ = {server_.generation + 1, port};
    changed_.notify_all();
  }
  // No client begins anything new.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Waits for a server that came after this one; nothing once the gate is closed.
  std::optional<Server> next(int generation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || server_.generation > generation; });
    return closed_ ? std::nullopt : std::optional(server_);
  }

  // False once the gate is closed, or another server is there.
  bool is_current(int generation) {
    const std::scoped_lock lock(mutex_);
    return !closed_ && server_.generation == generation;
  }

  // Events published and not ended. A publisher waits for room; false when it should look at is_current().
  void add_backlog(int change) {
    const std::scoped_lock lock(mutex_);
    backlog_ += change;
    if (change < 0) changed_.notify_all();
  }
  bool wait_for_room(int generation, int backlog_max) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return closed_ || server_.generation != generation || backlog_ < backlog_max; });
    return backlog_ < backlog_max;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Server server_;
  bool closed_ = false;
  int backlog_ = 0;
};

}  // namespace eventq
