// socket.cc: see socket.h.
#include "client/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>

#include "eventq/clock.h"

namespace eventq::client {
namespace {

// poll() does not notice a stop token, so wait in slices of this length.
constexpr Millis kStopCheck{50};

std::string reason(int code) { return std::generic_category().message(code); }

// The events that poll() reports, or 0 when the limit is reached.
short wait_for(int descriptor, short events, const CallLimit& limit) {
  while (!limit.stop.stop_requested()) {
    const auto left = std::chrono::ceil<Millis>(limit.deadline - steady_now());
    if (left <= Millis(0)) return 0;
    Millis slice = std::min(left, Millis(60'000));
    if (limit.stop.stop_possible()) slice = std::min(slice, kStopCheck);
    pollfd wanted{.fd = descriptor, .events = events, .revents = 0};
    if (::poll(&wanted, 1, static_cast<int>(slice.count())) > 0) return wanted.revents;
  }
  return 0;
}

// Returns 0, or the errno of the failure.
int connect_to(int descriptor, const addrinfo& address, const CallLimit& limit) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (wait_for(descriptor, POLLOUT, limit) == 0) return ETIMEDOUT;
  int failed = 0;
  socklen_t size = sizeof(failed);
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failed, &size);
  return failed;
}

}  // namespace

Result<Socket> Socket::connect(const std::string& host, std::uint16_t port, const CallLimit& limit) {
  const auto fault = [&](const std::string& why) {
    return Error{ErrorCode::unavailable,
                 "Cannot connect to " + host + " at port " + std::to_string(port) + ": " + why +
                     ". Is an eventq server running there?",
                 ""};
  };
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return fault(failed == EAI_SYSTEM ? reason(errno) : ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);

  int last = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Descriptor& descriptor = socket.descriptor_;
    last = descriptor.open() ? connect_to(descriptor.number(), *at, limit) : errno;
    if (last != 0) continue;
    const int on = 1;
    ::setsockopt(descriptor.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return socket;
  }
  return fault(reason(last));
}

bool Socket::is_quiet() const {
  pollfd wanted{.fd = descriptor_.number(), .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, 0) == 0;
}

Result<bool> Socket::send(std::string_view bytes, const CallLimit& limit) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return false;
    const short ready = wait_for(descriptor_.number(), POLLIN | POLLOUT, limit);
    if (ready == 0) return Error{ErrorCode::timeout, "The server took no more of the request.", ""};
    if ((ready & POLLIN) != 0) return false;  // an early answer, such as 413: read it instead of sending on
  }
  return true;
}

Result<std::size_t> Socket::receive(std::span<char> into, const CallLimit& limit) {
  while (true) {
    const ssize_t size = ::recv(descriptor_.number(), into.data(), into.size(), 0);
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno == EINTR) continue;
    if (errno != EAGAIN) {
      return Error{ErrorCode::unknown_outcome, "The connection to the server broke: " + reason(errno) + ".",
                   ""};
    }
    if (wait_for(descriptor_.number(), POLLIN, limit) == 0) {
      return Error{ErrorCode::timeout, "The server did not answer in time.", ""};
    }
  }
}

}  // namespace eventq::client
