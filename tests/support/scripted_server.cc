// scripted_server.cc: see scripted_server.h.
#include "support/scripted_server.h"
#include "support/loopback.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/assert.h"

namespace eventq::client {
namespace {

// Binds to a free port of 127.0.0.1 and returns it.
std::uint16_t bind_to_free_port(int socket) {
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(socket, generic, size) == 0 && ::getsockname(socket, generic, &size) == 0;
  EVENTQ_ASSERT(bound);
  return ntohs(address.sin_port);
}

}  // namespace

Peer::~Peer() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Peer::read_request() {
  std::array<char, 64 * 1024> block;
  while (true) {
    const std::size_t header_end = bytes_.find("\r\n\r\n");
    if (header_end != std::string::npos) {
      const std::string field = "\r\nContent-Length: ";
      const std::size_t found = bytes_.substr(0, header_end).find(field);
      const std::size_t body =
          found == std::string::npos ? 0 : std::stoul(bytes_.substr(found + field.size()));
      const std::size_t size = header_end + 4 + body;
      if (bytes_.size() >= size) {
        requests_.add(bytes_.substr(0, size));
        bytes_.erase(0, size);
        return;
      }
    }
    const ssize_t size = ::recv(descriptor_, block.data(), block.size(), 0);
    if (size <= 0) return;
    bytes_.append(block.data(), static_cast<std::size_t>(size));
  }
}

void Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Peer::answer(std::string_view status, std::string_view body, std::string_view more_fields) {
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: application/json\r\nContent-Length: ");
  text.append(std::to_string(body.size())).append("\r\n").append(more_fields).append("\r\n").append(body);
  send(text);
}

void Peer::await_close() {
  std::array<char, 64 * 1024> block;
  while (::recv(descriptor_, block.data(), block.size(), 0) > 0) {
  }
}

void Peer::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  ::close(std::exchange(descriptor_, -1));
}

ScriptedServer::ScriptedServer(std::vector<Script> scripts)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  port_ = bind_to_free_port(listener_);
  const bool listens = ::listen(listener_, 16) == 0;
  EVENTQ_ASSERT(listens);
  thread_ = std::jthread([listener = listener_, &requests = *requests_, scripts = std::move(scripts)] {
    for (const Script& script : scripts) {
      const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted < 0) break;
      Peer peer(accepted, requests);
      script(peer);
    }
    ::shutdown(listener, SHUT_RDWR);  // refuses from now on
  });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

ClosedPort::ClosedPort()
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), number_(bind_to_free_port(socket_)) {}

ClosedPort::~ClosedPort() { ::close(socket_); }

}  // namespace eventq::client
