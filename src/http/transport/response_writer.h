// response_writer.h: a response's header as bytes.
//
// Threads: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "eventq/clock.h"
#include "http/transport/message.h"

namespace eventq::http {

// What the connection says about itself.
enum class Persistence : std::uint8_t {
  keep,        // HTTP/1.1 keeps a connection that says nothing
  keep_named,  // to a client of HTTP/1.0
  close,
};

// How a client knows where the body ends.
enum class BodyEnd : std::uint8_t {
  length,  // Content-Length is that of the body, which follows unless the request was HEAD
  chunk,   // an empty chunk
  close,   // of the connection; for a stream to a client of HTTP/1.0
};

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Appends status line, fields and the empty line. `date` is http_date() or empty.
void append_header(std::string& out, const Response& response, Persistence persistence, std::string_view date,
                   BodyEnd end = BodyEnd::length);

// A piece of a body as a chunk. REQUIRES: it is not empty.
[[nodiscard]] std::string chunk_of(std::string_view piece);

// False for the statuses that never have one: 1xx, 204, 304.
[[nodiscard]] bool may_have_body(int status);

// "Sun, 06 Nov 1994 08:49:37 GMT"
[[nodiscard]] std::string http_date(TimePoint time);

}  // namespace eventq::http
