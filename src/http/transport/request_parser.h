// request_parser.h: parses the bytes of one connection into requests, one after the other.
//
// The parser does no I/O: it takes bytes from a buffer and reports its progress. It leaves the bytes behind a
// request in the buffer. After a protocol error it reads nothing more, because the meaning of the rest is
// unknown.
//
// Threads: belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "http/transport/body_budget.h"
#include "http/transport/chunked_body.h"
#include "http/transport/header_parser.h"
#include "http/transport/header_scanner.h"
#include "http/transport/input_buffer.h"
#include "http/transport/message.h"
#include "http/transport/server.h"

namespace eventq::http {

// How much of a request has arrived.
enum class ParseProgress : std::uint8_t {
  idle,      // no byte yet
  header,    // a part of the header
  body,      // a valid header, and not the whole body
  complete,  // take_request() returns it
  refused,   // protocol_error() says why
};

class RequestParser {
 public:
  // REQUIRES: all three outlive the parser.
  RequestParser(const ServerOptions& options, const Service& service, BodyBudget& budget);
  ~RequestParser() { reset(); }
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  // Takes the bytes of the request from the front of `in`.
  // REQUIRES: the last result was neither complete nor refused, or reset() was called since.
  ParseProgress step(InputBuffer& in);

  // True once, when the client waits for 100 Continue and its header was accepted.
  bool take_continue();

  // The body has kJsonPadding zero bytes behind it.
  // REQUIRES: step() returned complete.
  Request take_request();

  [[nodiscard]] const ProtocolError& protocol_error() const { return protocol_error_; }
  [[nodiscard]] ParseProgress progress() const { return progress_; }
  [[nodiscard]] const RequestHeader& header() const { return header_; }

  // Body bytes received so far, and an estimate of how many follow.
  [[nodiscard]] std::size_t body_size() const { return header_.request.body.size(); }
  [[nodiscard]] std::size_t body_to_come() const;

  // Prepares for the next request.
  void reset();

 private:
  void read_header(InputBuffer& in);
  void begin_body(bool body_is_here);
  void read_body(InputBuffer& in);
  void read_sized_body(InputBuffer& in);
  void read_chunked_body(InputBuffer& in);
  bool charge_body();
  void finish();
  void refuse_large_body();
  void refuse(int status, std::string_view message);

  // Set in the constructor, never changed.
  const Service& service_;
  BodyBudget& budget_;

  HeaderScanner scanner_;
  RequestHeader header_;
  ChunkedBody chunks_;
  std::size_t body_limit_ = 0;
  std::size_t charged_ = 0;  // taken from budget_ for this body
  ParseProgress progress_ = ParseProgress::idle;
  bool owes_continue_ = false;
  ProtocolError protocol_error_;
};

}  // namespace eventq::http
