// gate.h: the server, or the servers, that clients connect to while servers are killed and restarted.
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

  // A new server runs on this port.
  void open(std::uint16_t port) {
    const std::scoped_lock lock(mutex_);
    server_ = {server_.generation + 1, port};
    changed_.notify_all();
  }
  // Several servers of one queue: after a call without an answer, the client connects to the next one.
  void open_all(std::vector<std::uint16_t> ports) {
    const std::scoped_lock lock(mutex_);
    ports_ = std::move(ports);
    changed_.notify_all();
  }
  // Clients stop: next() returns nothing and is_current() is false.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Waits for a server newer than `generation`; nothing once the gate is closed.
  std::optional<Server> next(int generation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !ports_.empty() || server_.generation > generation; });
    if (!ports_.empty() && generation > 0) changed_.wait_for(lock, kMoment, [&] { return closed_; });
    if (closed_) return std::nullopt;
    if (ports_.empty()) return server_;
    return Server{generation + 1, ports_[turn_++ % ports_.size()]};
  }

  // False once the gate is closed or a newer server runs.
  bool is_current(int generation) {
    const std::scoped_lock lock(mutex_);
    return !closed_ && (!ports_.empty() || server_.generation == generation);
  }

  // The number of events published and not ended. A publisher waits while it is too high; after false it must
  // check is_current().
  void add_backlog(int change) {
    const std::scoped_lock lock(mutex_);
    backlog_ += change;
    if (change < 0) changed_.notify_all();
  }
  bool wait_for_room(int generation, int backlog_max) {
    std::unique_lock lock(mutex_);
    if (!ports_.empty()) {
      // A publication without an answer is not counted, so the count is wrong after many outages. Do not wait
      // forever.
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
  std::vector<std::uint16_t> ports_;  // when there are several servers
  std::size_t turn_ = 0;              // index of the next client's server
  bool closed_ = false;
  int backlog_ = 0;
};

}  // namespace eventq
