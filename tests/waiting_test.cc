// waiting_test.cc: ten thousand callers wait for one event of a real server. Tests their cost, and that each
// is answered.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/steady.h"
#include "support/http_client.h"
#include "support/loopback.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWaiters = 10'000;
// Descriptors besides those of the waiters, for the test and the server.
constexpr rlim_t kOthers = 200;
// How much the server's resident memory may grow for each waiter; docs/queues.md states it.
constexpr std::size_t kBytesPerWaiter = 16'384;

// A number in /proc/<pid>/status; "VmRSS" is in KiB.
std::size_t status_line(pid_t pid, std::string_view name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(std::string(name) + ":")) return std::stoul(line.substr(name.size() + 1));
  }
  return 0;
}

// Raises the limit of descriptors to the system's maximum and returns it.
rlim_t raise_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

// Connections that sent the same request and wait for its answer.
class WaitingConnections {
 public:
  WaitingConnections() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~WaitingConnections() {
    for (const int socket : sockets_) ::close(socket);
    ::close(epoll_);
  }
  WaitingConnections(const WaitingConnections&) = delete;
  WaitingConnections& operator=(const WaitingConnections&) = delete;

  // Opens one more connection and sends the request.
  bool add(std::uint16_t port, std::string_view request) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return false;
    sockets_.push_back(socket);
    sockaddr_in address = loopback_address(port);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) != std::ssize(request)) return false;
    epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = socket}};
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0;
  }

  // Closes the connections with a reset, as when their process dies. After a close in order, the server sees
  // only that the client sends no more.
  void reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    for (const int socket : sockets_) {
      ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      ::close(socket);
    }
    sockets_.clear();
  }
  // Closes the sending side of each connection.
  void finish_sending() {
    for (const int socket : sockets_) ::shutdown(socket, SHUT_WR);
  }

  // The number of answers that begin with `start`, once all have arrived or `limit` has passed.
  std::size_t count_answers(std::string_view start, std::chrono::milliseconds limit) {
    const SteadyTime deadline = steady_now() + limit;
    std::size_t answered = 0;
    std::size_t matching = 0;
    std::array<epoll_event, 1000> events{};
    while (answered < sockets_.size() && steady_now() < deadline) {
      const int ready = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
      for (int i = 0; i < ready; ++i) {
        std::array<char, 64> bytes{};
        const ssize_t got =
            ::recv(events.at(static_cast<std::size_t>(i)).data.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        ++answered;
        const std::string_view answer(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
        if (answer.starts_with(start)) ++matching;
      }
    }
    return matching;
  }

 private:
  const int epoll_;
  std::vector<int> sockets_;
};

class WaitingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const rlim_t allowed = raise_descriptors(); allowed < kWaiters + kOthers) {
      GTEST_SKIP() << "needs " << kWaiters + kOthers << " descriptors; the system allows " << allowed << ".";
    }
    ASSERT_TRUE(server_.start()) << server_.log();
    client_ = std::make_unique<HttpClient>(server_.port());
    ASSERT_EQ(client_->post("/events", R"({"title":"awaited","tags":"t"})").value().status, 201);
  }

  void open_waits(std::string_view request) {
    for (std::size_t i = 0; i < kWaiters; ++i) {
      ASSERT_TRUE(connections_.add(server_.port(), request)) << "waiter " << i;
    }
    ASSERT_TRUE(await_waiting(kWaiters));
  }

  // Waits until the server reports this many waits for an end; false after a minute.
  bool await_waiting(std::size_t count) {
    const std::string wanted = R"("waiting_ends":)" + std::to_string(count) + ",";
    for (const SteadyTime deadline = steady_now() + 60s; steady_now() < deadline;) {
      const auto metrics = client_->request("GET", "/metrics", "", {{"Accept", "application/json"}});
      if (metrics && metrics->body.find(wanted) != std::string::npos) return true;
    }
    return false;
  }

  void end_event() {
    ASSERT_EQ(client_->get("/events/subscribe?tags=t&worker_id=w:1").value().status, 200);
    ASSERT_EQ(client_->post("/events/1/complete", R"({"worker_id":"w:1"})").value().status, 200);
  }

  ServerProcess server_;
  std::unique_ptr<HttpClient> client_;
  WaitingConnections connections_;
};

constexpr std::string_view kWait =
    "POST /events/1/wait?timeout=60 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";

TEST_F(WaitingTest, TenThousandWaitersTakeNoThreadsAndLittleMemoryAndAreAllAnswered) {
  const std::size_t threads = status_line(server_.pid(), "Threads");
  const std::size_t before = status_line(server_.pid(), "VmRSS") * 1024;
  ASSERT_NO_FATAL_FAILURE(open_waits(kWait));

  const std::size_t with = status_line(server_.pid(), "VmRSS") * 1024;
  const std::size_t each = (with - before) / kWaiters;
  RecordProperty("bytes_per_waiter", std::to_string(each));
  EXPECT_LT(each, kBytesPerWaiter) << before << " bytes before, " << with << " with " << kWaiters
                                   << " waiters";
  EXPECT_LE(status_line(server_.pid(), "Threads"), threads);  // threads of the start may have ended

  ASSERT_NO_FATAL_FAILURE(end_event());
  EXPECT_EQ(connections_.count_answers("HTTP/1.1 200 ", 60s), kWaiters);
  EXPECT_TRUE(await_waiting(0));
}

TEST_F(WaitingTest, WaitersThatCloseTheirConnectionAreRemoved) {
  ASSERT_NO_FATAL_FAILURE(open_waits(kWait));

  connections_.finish_sending();

  EXPECT_TRUE(await_waiting(0));
}

TEST_F(WaitingTest, WaitersWhoseConnectionBreaksAreRemoved) {
  ASSERT_NO_FATAL_FAILURE(open_waits(kWait));

  connections_.reset();

  EXPECT_TRUE(await_waiting(0));
}

TEST_F(WaitingTest, TenThousandWaitersAreAnsweredWhenTheServerStops) {
  ASSERT_NO_FATAL_FAILURE(open_waits(kWait));

  server_.signal(SIGTERM);

  EXPECT_EQ(connections_.count_answers("HTTP/1.1 503 ", 60s), kWaiters);
  EXPECT_EQ(server_.wait(60s), 0);
}

}  // namespace
}  // namespace eventq
