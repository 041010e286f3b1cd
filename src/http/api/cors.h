// cors.h: pages of other sites that may use the API (CORS, in the Fetch standard of WHATWG).
//
// Only listed origins may, because the API does not authenticate its callers: a page of any other site could
// otherwise publish and read events of a visitor's server. Answers to a listed origin carry the CORS fields,
// also errors and streams. No credentials are used.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/transport/message.h"

namespace eventq::http {

// Threads: every function may be called from any thread.
class AllowedOrigins {
 public:
  explicit AllowedOrigins(std::vector<std::string> origins = {}) { set(std::move(origins)); }

  void set(std::vector<std::string> origins);
  // Without a lock, because it is asked for every response.
  [[nodiscard]] bool empty() const { return empty_; }
  [[nodiscard]] bool contains(std::string_view origin) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> origins_;
  std::atomic<bool> empty_ = true;  // of origins_
};

// True for "https://app.example.com" and "http://localhost:5173": scheme, host in lower case, and a port
// unless it is the scheme's own, as browsers write it. False with a path, for "*" and for "null".
[[nodiscard]] bool is_origin(std::string_view text);

// A browser's question whether a page may send a request.
[[nodiscard]] bool is_preflight(const Request& request);
// The answer for a listed origin. It allows every method and field, because the request itself is checked.
[[nodiscard]] Response preflight_response();

// Lets the page of `origin` read this response. REQUIRES: the origin is listed.
void add_cors_fields(Response& response, const std::string& origin);

}  // namespace eventq::http
