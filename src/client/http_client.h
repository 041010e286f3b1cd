// http_client.h: HTTP/1.1 calls to one server on connections that are kept open. Does not know the API.
//
// Threads: call() and stream() may be called from any thread. Each call has its own connection while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"

namespace eventq::client {

struct HttpUrl {
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 80;
};

// Parses http://HOST[:PORT][/].
// Errors: invalid_argument.
Result<HttpUrl> parse_url(std::string_view url);

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, percent-encoded
  std::string body;          // sent as JSON when not empty, or when the method is POST, PUT or PATCH
  std::vector<std::pair<std::string, std::string>> headers;  // besides Host, Accept and Content-*
  Millis timeout{30'000};                                    // from the first byte sent to the whole answer
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const;  // empty when absent
};

class HttpClient {
 public:
  explicit HttpClient(HttpUrl url);
  ~HttpClient();

  // Makes one try. Replaces a kept connection that the server has closed.
  // Errors: invalid_argument for a header that contains a line break; unavailable when there is no
  // connection, so that nothing was changed; unknown_outcome when a part of the request was sent and no
  // complete answer came; timeout, with the same meaning.
  Result<HttpResponse> call(const HttpRequest& request);

  // Passes an endless response to `on_data` piece by piece, until `on_data` returns false, `stop` is
  // requested (noticed within 100 ms) or the connection ends. An answer other than 200 is returned
  // completely, without a call of `on_data`. `request.timeout` is the longest time without data.
  // Errors: as call().
  Result<HttpResponse> stream(const HttpRequest& request,
                              const std::function<bool(std::string_view)>& on_data,
                              const std::stop_token& stop);

 private:
  struct Connections;
  std::unique_ptr<Connections> connections_;
};

}  // namespace eventq::client
