// gate.h: which server clients talk to just now, while it is killed and started again, or which of several.
//
// Threads: every method may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

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
  // Several servers of one queue: a client that got no answer asks the next one, after a moment.
  void open_all(std::vector<std::uint16_t> ports) {
    const std::scoped_lock lock(mutex_);
    ports_ = std::move(ports);
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
    changed_.wait(lock, [&] { return closed_ || !ports_.empty() || server_.generation > generation; });
    if (!ports_.empty() && generation > 0) changed_.wait_for(lock, kMoment, [&] { return closed_; });
    if (closed_) return std::nullopt;
    if (ports_.empty()) return server_;
    return Server{generation + 1, ports_[turn_++ % ports_.size()]};
  }

  // False once the gate is closed, or another server is there.
  bool is_current(int generation) {
    const std::scoped_lock lock(mutex_);
    return !closed_ && (!ports_.empty() || server_.generation == generation);
  }

  // Events published and not ended. A publisher waits for room; false when it should look at is_current().
  void add_backlog(int change) {
    const std::scoped_lock lock(mutex_);
    backlog_ += change;
    if (change < 0) changed_.notify_all();
  }
  bool wait_for_room(int generation, int backlog_max) {
    std::unique_lock lock(mutex_);
    if (!ports_.empty()) {
      // What was told nothing is not counted, so that the count is wrong after many outages.
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return closed_ || backlog_ < backlog_max; });
      return !closed_;
    }
    changed_.wait(lock,
                  [&] { return closed_ || server_.generation != generation || backlog_ < backlog_max; });
    return backlog_ < backlog_max;
  }

 private:
  static constexpr std::chrono::milliseconds kMoment{20};

  std::mutex mutex_;
  std::condition_variable changed_;
  Server server_;
  std::vector<std::uint16_t> ports_;  // of several
  std::size_t turn_ = 0;              // of the next client
  bool closed_ = false;
  int backlog_ = 0;
};

}  // namespace eventq
