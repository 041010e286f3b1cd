// load.cc: see load.h.
#include "load.h"
#include "support/loopback.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace eventq::bench {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail_with_errno(const char* what) {
  std::fprintf(stderr, "load: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

class Connection {
 public:
  Connection(std::uint16_t port, Script& script) : script_(script), fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = loopback_address(port);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail_with_errno("connect");
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd_, F_SETFL, fcntl(fd_, F_GETFL) | O_NONBLOCK);
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool paused() const { return paused_; }

  // Asks the script for the next request; pauses when it has none.
  void send_next() {
    std::string request = script_.next(reply_);
    paused_ = request.empty();
    if (paused_) return;
    sent_at_ = Clock::now();
    input_.clear();
    std::size_t sent = 0;
    while (sent < request.size()) {
      const ssize_t n = write(fd_, request.data() + sent, request.size() - sent);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (errno != EAGAIN) {
        fail_with_errno("write");
      }
    }
  }

  // Reads the bytes that have arrived. Returns true when the reply is complete.
  bool receive() {
    for (;;) {
      const std::size_t used = input_.size();
      input_.resize(used + 65536);
      const ssize_t n = read(fd_, input_.data() + used, 65536);
      input_.resize(used + (n > 0 ? static_cast<std::size_t>(n) : 0));
      if (n == 0) fail_with_errno("the server closed a connection");
      if (n < 0) {
        if (errno == EAGAIN) return false;
        fail_with_errno("read");
      }
      if (parse()) return true;
    }
  }

  [[nodiscard]] std::uint32_t latency_us() const {
    return static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - sent_at_).count());
  }

 private:
  bool parse() {
    const std::size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    reply_.status = std::atoi(input_.c_str() + 9);
    std::size_t length = 0;
    const std::size_t field = input_.find("Content-Length: ");
    if (field < end) std::from_chars(input_.data() + field + 16, input_.data() + end, length);
    if (input_.size() < end + 4 + length) return false;
    reply_.body = std::string_view(input_).substr(end + 4, length);
    return true;
  }

  Script& script_;
  int fd_;
  bool paused_ = false;
  std::string input_;
  Reply reply_;
  Clock::time_point sent_at_;
};

}  // namespace

std::string get_request(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::string post_request(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

LoadResult run_load(std::uint16_t port, std::vector<std::unique_ptr<Script>>& scripts, double warm_up,
                    double measured, const std::function<void()>& at_start) {
  const int epoll = epoll_create1(0);
  std::vector<std::unique_ptr<Connection>> connections;
  for (auto& script : scripts) {
    connections.push_back(std::make_unique<Connection>(port, *script));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connections.back().get()}};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections.back()->fd(), &event) != 0) fail_with_errno("epoll_ctl");
  }
  for (auto& connection : connections) connection->send_next();

  LoadResult result;
  const auto begin = Clock::now();
  auto start = begin;
  bool measuring = false;
  std::array<epoll_event, 256> events{};
  for (;;) {
    const int ready = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 10);
    for (int i = 0; i < ready; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!connection.receive()) continue;
      if (measuring) result.latency_us.push_back(connection.latency_us());
      connection.send_next();
    }
    for (auto& connection : connections) {
      if (connection->paused()) connection->send_next();
    }
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - begin).count();
    if (!measuring && seconds >= warm_up) {
      measuring = true;
      start = now;
      at_start();
    }
    if (measuring && seconds >= warm_up + measured) {
      result.seconds = std::chrono::duration<double>(now - start).count();
      close(epoll);
      return result;
    }
  }
}

}  // namespace eventq::bench
