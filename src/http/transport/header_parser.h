// header_parser.h: the bytes of a request header become values. The only wrapper round Beast's parser.
//
// Beast reads lines, names and the Connection field. It is laxer than we are in
// several places (lists of equal lengths, codings before "chunked", Host missing or
// sent twice): header_parser.cc checks those itself.
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

// Fills `result`, which is as new. Empty when the header is good.
// REQUIRES: HeaderScanner called `header` complete.
std::optional<ProtocolError> parse_header(std::string_view header, RequestHeader& result);

}  // namespace eventq::http
