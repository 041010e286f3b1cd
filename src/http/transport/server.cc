// server.cc: a listener and its loops as one Server.
#include "http/transport/server.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "http/transport/io_loop.h"
#include "http/transport/listener.h"

namespace eventq::http {
namespace {

// Waits until count_down() was called `count` times.
class Countdown {
 public:
  explicit Countdown(std::size_t count) : count_(count) {}

  void count_down() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) zero_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [this] { return count_ == 0; });
  }
  bool wait_for(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return zero_.wait_for(lock, limit, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  std::size_t count_;
};

class ServerImpl final : public Server {
 public:
  ServerImpl(const ServerOptions& options, Service& service)
      : shared_{.options = options, .service = service},
        loops_(make_loops(shared_)),
        listener_(shared_, loops_) {}

  ~ServerImpl() override { stop(); }

  Result<void> start() {
    if (auto opened = listener_.open(); !opened) return opened;
    for (const auto& loop : loops_) loop->start();
    loops_.front()->post([this] { listener_.accept_next(); });
    running_ = true;
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return listener_.port(); }

  void close_listener() override {
    const std::lock_guard lock(control_);
    if (!running_) return;
    // On the loop's thread, because the acceptor belongs to it. Waits, so that the port is free on return.
    Countdown closed(1);
    loops_.front()->post([this, &closed] {
      listener_.close();
      closed.count_down();
    });
    closed.wait();
    for (const auto& loop : loops_) loop->post([&loop = *loop] { loop.drain(); });
  }

  bool drain(std::chrono::milliseconds limit) override {
    if (!running_) return true;
    // Shared, because a loop may count down after wait_for() has timed out.
    const auto quiet = std::make_shared<Countdown>(loops_.size());
    for (const auto& loop : loops_) {
      loop->post([&loop = *loop, quiet] { loop.when_quiet([quiet] { quiet->count_down(); }); });
    }
    return quiet->wait_for(limit);
  }

  // No connection may be accepted while the loops close theirs, so the listener closes first.
  void stop() override {
    close_listener();
    const std::lock_guard lock(control_);
    running_ = false;
    for (const auto& loop : loops_) loop->stop();
  }

 private:
  static std::vector<std::unique_ptr<IoLoop>> make_loops(SharedServerState& shared) {
    std::vector<std::unique_ptr<IoLoop>> loops;
    for (std::size_t i = 0; i < std::max<std::size_t>(shared.options.io_threads, 1); ++i) {
      loops.push_back(std::make_unique<IoLoop>(i, shared));
    }
    return loops;
  }

  SharedServerState shared_;
  std::vector<std::unique_ptr<IoLoop>> loops_;
  Listener listener_;   // destroyed before the loops that it uses
  std::mutex control_;  // held while loops start or end
  std::atomic<bool> running_{false};
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, Service& service) {
  auto server = std::make_unique<ServerImpl>(options, service);
  if (auto started = server->start(); !started) return started.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace eventq::http
