// raw_client.cc: see raw_client.h.
#include "support/raw_client.h"
#include "support/loopback.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace eventq::http {

RawClient::RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address = loopback_address(port);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) close();
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawClient::finish_sending() { ::shutdown(socket_, SHUT_WR); }

std::optional<RawResponse> RawClient::read_reply(RawBody body) {
  while (bytes_.find("\r\n\r\n") == std::string::npos) {
    if (!fill()) return std::nullopt;
  }
  RawResponse reply;
  const std::size_t header_size = bytes_.find("\r\n\r\n") + 4;
  reply.header = bytes_.substr(0, header_size);
  bytes_.erase(0, header_size);
  reply.status = std::stoi(reply.header.substr(reply.header.find(' ')));

  const std::string field = "\r\nContent-Length: ";
  const std::size_t found = reply.header.find(field);
  if (found == std::string::npos || body == RawBody::left_out) return reply;
  const std::size_t size = std::stoul(reply.header.substr(found + field.size()));
  while (bytes_.size() < size) {
    if (!fill()) return std::nullopt;
  }
  reply.body = bytes_.substr(0, size);
  bytes_.erase(0, size);
  return reply;
}

std::optional<RawResponse> RawClient::get(std::string_view target) {
  if (!send("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n")) return std::nullopt;
  return read_reply();
}

std::string RawClient::read_through(std::string_view text) {
  for (;;) {
    const std::size_t found = bytes_.find(text);
    if (found != std::string::npos) {
      std::string read = bytes_.substr(0, found + text.size());
      bytes_.erase(0, read.size());
      return read;
    }
    if (!fill()) return "";
  }
}

bool RawClient::readable_within(std::chrono::milliseconds limit) {
  pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
  return !bytes_.empty() || ::poll(&wanted, 1, static_cast<int>(limit.count())) > 0;
}

bool RawClient::at_end() {
  char byte = 0;
  return bytes_.empty() && ::recv(socket_, &byte, 1, 0) == 0;
}

std::size_t RawClient::read_to_end() {
  std::size_t size = std::exchange(bytes_, {}).size();
  while (fill()) size += std::exchange(bytes_, {}).size();
  return size;
}

void RawClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void RawClient::reset() {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close();
}

bool RawClient::fill() {
  std::array<char, 64 * 1024> block;
  const ssize_t size = ::recv(socket_, block.data(), block.size(), 0);
  if (size <= 0) return false;
  bytes_.append(block.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace eventq::http
