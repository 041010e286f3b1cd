// http_client.cc: see http_client.h.
#include "support/http_client.h"
#include "support/loopback.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/numbers.h"

namespace eventq {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view find_header(const HttpHeaders& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& header) { return same_name(header.first, name); });
  return found == headers.end() ? std::string_view() : found->second;
}

std::string to_bytes(std::string_view method, std::string_view target, std::string_view body,
                     const HttpHeaders& headers) {
  std::string bytes;
  bytes.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  if (find_header(headers, "Host").empty()) bytes += "Host: 127.0.0.1\r\n";
  for (const auto& [name, value] : headers) bytes.append(name).append(": ").append(value).append("\r\n");
  if (!body.empty() && find_header(headers, "Content-Type").empty()) {
    bytes += "Content-Type: application/json\r\n";
  }
  if (!body.empty() || method != "GET") {
    bytes.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  }
  return bytes.append("\r\n").append(body);
}

// Empty when `header` is no header of a response. REQUIRES: it ends with an empty line.
std::optional<HttpResponse> parse_header(std::string_view header) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!header.starts_with(kVersion)) return std::nullopt;
  const auto status = parse_whole<int>(header.substr(kVersion.size(), 3));
  if (!status) return std::nullopt;

  HttpResponse response{.status = *status};
  header.remove_prefix(header.find("\r\n") + 2);
  while (!header.starts_with("\r\n")) {
    const std::string_view line = header.substr(0, header.find("\r\n"));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    response.headers.emplace_back(line.substr(0, colon), value);
    header.remove_prefix(line.size() + 2);
  }
  return response;
}

// Empty when the response does not say. A 204 or 304 never has a body.
std::optional<std::size_t> body_size(const HttpResponse& response) {
  if (response.status == 204 || response.status == 304) return 0;
  return parse_whole<std::size_t>(response.header("Content-Length"));
}

}  // namespace

std::string_view HttpResponse::header(std::string_view name) const { return find_header(headers, name); }

HttpClient::HttpClient(std::uint16_t port, std::chrono::milliseconds limit) : port_(port), limit_(limit) {}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : port_(other.port_),
      limit_(other.limit_),
      socket_(std::exchange(other.socket_, -1)),
      unanswered_(std::exchange(other.unanswered_, 0)),
      bytes_(std::move(other.bytes_)) {}

Result<HttpResponse> HttpClient::request(std::string_view method, std::string_view target,
                                         std::string_view body, const HttpHeaders& headers) {
  if (auto sent = send(method, target, body, headers); !sent) return sent.error();
  return receive();
}

Result<void> HttpClient::send(std::string_view method, std::string_view target, std::string_view body,
                              const HttpHeaders& headers) {
  if (is_stale()) close();
  if (socket_ < 0) {
    if (auto connected = connect(); !connected) return connected;
  }
  const std::string bytes = to_bytes(method, target, body, headers);
  ++unanswered_;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) return broken(std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<HttpResponse> HttpClient::receive() { return receive(limit_); }

Result<HttpResponse> HttpClient::receive(std::chrono::milliseconds limit) {
  const SteadyTime deadline = steady_now() + limit;
  std::size_t end = bytes_.find("\r\n\r\n");
  while (end == std::string::npos) {
    if (auto filled = fill(deadline); !filled) return filled.error();
    end = bytes_.find("\r\n\r\n");
  }
  auto response = parse_header(std::string_view(bytes_).substr(0, end + 4));
  if (!response) return broken("that is no HTTP response");
  const auto size = body_size(*response);
  if (!size) return broken("the response has no Content-Length");
  const std::size_t header_size = end + 4;
  while (bytes_.size() < header_size + *size) {
    if (auto filled = fill(deadline); !filled) return filled.error();
  }
  response->body = bytes_.substr(header_size, *size);
  bytes_.erase(0, header_size + *size);
  --unanswered_;
  if (same_name(response->header("Connection"), "close")) close();
  return *std::move(response);
}

bool HttpClient::readable_within(std::chrono::milliseconds limit) const {
  pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
  return !bytes_.empty() || ::poll(&wanted, 1, static_cast<int>(limit.count())) > 0;
}

void HttpClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  bytes_.clear();
  unanswered_ = 0;
}

Result<void> HttpClient::connect() {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_);
  const timeval limit{.tv_sec = seconds.count() + 1, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address = loopback_address(port_);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return {};
  const std::string reason = std::strerror(errno);
  close();
  return Error{.code = ErrorCode::unavailable, .message = "Cannot connect: " + reason + "."};
}

// True when no response is due, and the server closed the connection or sent bytes.
bool HttpClient::is_stale() const {
  return socket_ >= 0 && unanswered_ == 0 && readable_within(std::chrono::milliseconds(0));
}

Result<void> HttpClient::fill(SteadyTime deadline) {
  if (socket_ < 0) return broken("there is no connection");
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_now());
  pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  if (ready <= 0) return broken("none in time");
  std::array<char, 64 * 1024> block;
  const ssize_t size = ::recv(socket_, block.data(), block.size(), 0);
  if (size < 0) return broken(std::strerror(errno));
  if (size == 0) return broken("the server closed the connection");
  bytes_.append(block.data(), static_cast<std::size_t>(size));
  return {};
}

Error HttpClient::broken(std::string_view reason) {
  close();
  return {.code = ErrorCode::unknown_outcome, .message = "No response: " + std::string(reason) + "."};
}

}  // namespace eventq
