// http_client.h: HTTP/1.1 calls to one server, on connections that are kept. Knows nothing of events.
//
// Threads: call() may be called from any thread; each call has a connection of its own while it runs.
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

// http://HOST[:PORT][/]. Errors: invalid_argument, saying what would be right.
Result<HttpUrl> parse_url(std::string_view url);

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  std::string body;          // sent as JSON when not empty, or when the method is POST, PUT or PATCH
  std::vector<std::pair<std::string, std::string>> headers;  // others than the usual
  Millis timeout{30'000};                                    // from the first byte sent to the whole answer
};

struct HttpResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const;  // empty: not there
};

class HttpClient {
 public:
  explicit HttpClient(HttpUrl url);
  ~HttpClient();

  // One try. A kept connection that the server has closed meanwhile is made anew first.
  // Errors: unavailable when nothing can have been done (no connection); unknown_outcome when the request
  // was sent, at least in part, and no whole answer came; timeout, as that.
  Result<HttpResponse> call(const HttpRequest& request);

  // A response without end, handed on piece by piece as it arrives, until `on_data` returns false, `stop`
  // fires (noticed within 100 ms) or the connection ends. An answer other than 200 is returned whole and
  // nothing is handed on. request.timeout is the longest silence.
  Result<HttpResponse> stream(const HttpRequest& request,
                              const std::function<bool(std::string_view)>& on_data,
                              const std::stop_token& stop);

 private:
  struct Connections;
  std::unique_ptr<Connections> connections_;
};

}  // namespace eventq::client
