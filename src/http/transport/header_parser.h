// header_parser.h: parses the header of a request. The only wrapper of Beast's parser.
//
// Beast parses lines, names and the Connection field. It accepts several ambiguous headers: lists of equal
// lengths, codings before "chunked", Host missing or sent twice. header_parser.cc refuses those.
//
// Threads: parse_header() may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "http/transport/header_scanner.h"
#include "http/transport/message.h"

namespace eventq::http {

struct RequestHeader {
  Request request;       // without its body
  bool is_head = false;  // the method is HEAD: the response has no body
  bool http10 = false;
  bool keep_alive = false;
  bool chunked = false;
  bool expect_continue = false;      // the client waits for 100 before it sends the body
  std::uint64_t content_length = 0;  // 0 when chunked
};

// Fills `result`. Empty when the header is valid.
// REQUIRES: `result` is default-constructed, and HeaderScanner returned complete for `header`.
std::optional<ProtocolError> parse_header(std::string_view header, RequestHeader& result);

}  // namespace eventq::http
