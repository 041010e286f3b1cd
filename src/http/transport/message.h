// message.h: an HTTP request and its response as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eventq::http {

// The header fields that the API uses. The parser drops all others. Empty: not sent.
struct Headers {
  std::string content_type;
  std::string accept;
  std::string idempotency_key;
  std::string if_match;        // all If-Match fields, joined with commas
  std::string prefer;          // all Prefer fields, joined with commas
  std::string traceparent;     // the same; two joined ones are no valid value, as the standard demands
  std::string tracestate;      // all tracestate fields, joined with commas
  std::string request_id;      // X-Request-Id
  std::string origin;          // Origin
  std::string sec_fetch_site;  // Sec-Fetch-Site
  std::string access_control_request_method;
  std::string host;
  std::vector<std::pair<std::string, std::string>> cloud_event;  // the ce-* fields, without that prefix
};

struct Route;

// A part of a text. Unlike a string_view it stays valid when the text is moved.
struct TextRange {
  std::size_t begin = 0;
  std::size_t size = 0;

  [[nodiscard]] std::string_view of(std::string_view text) const { return text.substr(begin, size); }
};

// What the Service chose for a request when its header was complete. The transport only carries it.
struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or not with this method
  TextRange id;                  // in the target
  TextRange name;
  unsigned allowed = 0;  // the methods of a path that does not take this one; see allowed_methods()
};

struct Request {
  std::string method;  // "GET"; for HEAD the transport drops the body of the response
  std::string target;  // path and query as sent
  Headers headers;
  RouteMatch match;
  // The decoded body. kJsonPadding more bytes are readable behind size().
  std::string body;
};

struct Response {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";             // a literal
  std::vector<std::pair<std::string_view, std::string>> headers;  // names are literals
  bool close = false;                                             // end the connection after this response
  // The response is a stream, and `body` only its beginning: see IoThread::send().
  bool streams = false;
  std::string_view keep_alive_text;  // a literal; a stream sends it after keep_alive_interval
};

}  // namespace eventq::http
