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

// The Connection field of a response.
enum class Persistence : std::uint8_t {
  keep,        // no field: HTTP/1.1 keeps the connection
  keep_named,  // keep-alive, for HTTP/1.0
  close,
};

// How the client finds the end of the body.
enum class BodyEnd : std::uint8_t {
  length,  // Content-Length; to HEAD it is sent without the body
  chunk,   // an empty chunk
  close,   // the end of the connection; for a stream to HTTP/1.0
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
