// http_client.h: a small blocking HTTP/1.1 client on one keep-alive connection. For tests and benchmarks.
//
// The client never sends a request twice. When the response is incomplete, the error says whether the server
// may have received the request, and the next request opens a new connection.
// Threads: a client belongs to one thread. It supports neither HEAD nor chunked responses.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "eventq/error.h"

namespace eventq {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // as sent, in their order
  std::string body;

  // The value of a field; empty when there is none. Case does not matter.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

class HttpClient {
 public:
  // Connects to 127.0.0.1 with the first request. Each wait takes at most `limit`.
  explicit HttpClient(std::uint16_t port, std::chrono::milliseconds limit = std::chrono::seconds(60));
  ~HttpClient() { close(); }
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;

  // A body is sent as application/json unless `headers` says otherwise.
  // Errors: unavailable when the server cannot have received the request; unknown_outcome when it may have.
  Result<HttpResponse> request(std::string_view method, std::string_view target, std::string_view body = {},
                               const HttpHeaders& headers = {});
  Result<HttpResponse> get(std::string_view target) { return request("GET", target); }
  Result<HttpResponse> post(std::string_view target, std::string_view body = {}) {
    return request("POST", target, body);
  }

  // The two halves of request(), for tests that act between them. Several requests may be sent before the
  // first response is read; responses arrive in the same order.
  Result<void> send(std::string_view method, std::string_view target, std::string_view body = {},
                    const HttpHeaders& headers = {});
  Result<HttpResponse> receive();
  Result<HttpResponse> receive(std::chrono::milliseconds limit);

  // True as soon as a byte has arrived or the connection has ended.
  bool readable_within(std::chrono::milliseconds limit) const;

  // Closes the connection, also when a response is due.
  void close();

 private:
  Result<void> connect();
  bool is_stale() const;
  Result<void> fill(SteadyTime deadline);
  Error broken(std::string_view reason);

  // Set in the constructor, never changed.
  const std::uint16_t port_;
  const std::chrono::milliseconds limit_;

  int socket_ = -1;
  std::size_t unanswered_ = 0;  // requests without a response
  std::string bytes_;           // received and not yet returned
};

}  // namespace eventq
