// http_client.h: a small blocking HTTP/1.1 client on one keep-alive connection. For tests and benchmarks.
//
// Nothing is sent twice: a request whose response did not arrive whole is an error that says
// whether the server may have seen it, and the next request starts a new connection.
// Threads: a client belongs to one thread.
// It knows neither HEAD nor chunked responses.
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

  // Whatever the case of its name; empty when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

class HttpClient {
 public:
  // To 127.0.0.1. Connects with the first request; each wait is bounded by `limit`.
  explicit HttpClient(std::uint16_t port, std::chrono::milliseconds limit = std::chrono::seconds(60));
  ~HttpClient() { close(); }
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;

  // A body is sent as application/json unless `headers` says otherwise.
  // Errors: unavailable when the server cannot have seen the request; unknown_outcome when it may have.
  Result<HttpResponse> request(std::string_view method, std::string_view target, std::string_view body = {},
                               const HttpHeaders& headers = {});
  Result<HttpResponse> get(std::string_view target) { return request("GET", target); }
  Result<HttpResponse> post(std::string_view target, std::string_view body = {}) {
    return request("POST", target, body);
  }

  // The two halves of request(), for what happens between them. Several requests may be sent
  // before the first response is read: responses come in the same order.
  Result<void> send(std::string_view method, std::string_view target, std::string_view body = {},
                    const HttpHeaders& headers = {});
  Result<HttpResponse> receive();
  Result<HttpResponse> receive(std::chrono::milliseconds limit);

  // True as soon as there is something to receive, or the connection has ended.
  bool readable_within(std::chrono::milliseconds limit) const;

  // Ends the connection, whatever is under way.
  void close();

 private:
  Result<void> connect();
  bool is_stale() const;
  Result<void> fill(SteadyTime deadline);
  Error broken(std::string_view why);

  // Set in the constructor, never changed.
  const std::uint16_t port_;
  const std::chrono::milliseconds limit_;

  int socket_ = -1;
  std::size_t under_way_ = 0;  // requests sent and not answered
  std::string bytes_;          // received, not yet used
};

}  // namespace eventq
