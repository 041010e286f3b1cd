// running_servers.h: the server, or the servers, that clients connect to while servers are killed and
// restarted.
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

class RunningServers {
 public:
  struct Server {
    int generation = 0;  // 1 is the first server
    std::uint16_t port = 0;
  };

  // A new server runs on this port.
  void set_server(std::uint16_t port) {
    const std::scoped_lock lock(mutex_);
    server_ = {server_.generation + 1, port};
    changed_.notify_all();
  }
  // Several servers of one queue: after a call without an answer, the client connects to the next one.
  void set_servers(std::vector<std::uint16_t> ports) {
    const std::scoped_lock lock(mutex_);
    ports_ = std::move(ports);
    changed_.notify_all();
  }
  // From now on next() returns nothing and is_current() is false.
  void stop_clients() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

  // Waits for a server newer than `generation`; nothing after stop_clients().
  std::optional<Server> next(int generation) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || !ports_.empty() || server_.generation > generation; });
    if (!ports_.empty() && generation > 0) changed_.wait_for(lock, kReconnectDelay, [&] { return stopped_; });
    if (stopped_) return std::nullopt;
    if (ports_.empty()) return server_;
    return Server{generation + 1, ports_[next_port_++ % ports_.size()]};
  }

  // False after stop_clients() or once a newer server runs.
  bool is_current(int generation) {
    const std::scoped_lock lock(mutex_);
    return !stopped_ && (!ports_.empty() || server_.generation == generation);
  }

  // The number of events published and not ended. A publisher waits while it is too high; after false it must
  // check is_current().
  void add_backlog(int change) {
    const std::scoped_lock lock(mutex_);
    backlog_ += change;
    if (change < 0) changed_.notify_all();
  }
  bool wait_for_backlog_below(int generation, int backlog_max) {
    std::unique_lock lock(mutex_);
    if (!ports_.empty()) {
      // A publication without an answer is not counted, so the count is wrong after many outages. Do not wait
      // forever.
      changed_.wait_for(lock, std::chrono::seconds(1), [&] { return stopped_ || backlog_ < backlog_max; });
      return !stopped_;
    }
    changed_.wait(lock,
                  [&] { return stopped_ || server_.generation != generation || backlog_ < backlog_max; });
    return backlog_ < backlog_max;
  }

 private:
  static constexpr std::chrono::milliseconds kReconnectDelay{20};

  std::mutex mutex_;
  std::condition_variable changed_;
  Server server_;
  std::vector<std::uint16_t> ports_;  // when there are several servers
  std::size_t next_port_ = 0;         // of the next client, modulo their number
  bool stopped_ = false;
  int backlog_ = 0;
};

}  // namespace eventq
