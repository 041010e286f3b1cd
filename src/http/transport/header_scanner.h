// header_scanner.h: finds the end of a request header while its bytes arrive.
//
// It refuses early what must not reach Beast: a line or header over its limit, a line that does not end in CR
// LF, a control character, a folded line, another protocol. It reads each byte once, even when bytes arrive
// one by one.
//
// Threads: belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eventq::http {

// Why the server refuses to read a request: the status and the sentence of the response.
struct ProtocolError {
  int status = 400;
  std::string message;
};

struct HeaderLimits {
  std::size_t request_line;  // bytes, without its CR LF
  std::size_t header_bytes;  // of all field lines, each with its CR LF
  std::size_t header_fields;
};

class HeaderScanner {
 public:
  enum class ScanState : std::uint8_t { incomplete, complete, refused };

  explicit HeaderScanner(const HeaderLimits& limits) : limits_(limits) {}

  // `bytes` are all bytes since the start of the header: those of the last call, possibly at another address,
  // and new ones.
  ScanState scan(std::string_view bytes);

  // The size of a complete header, with its empty line.
  [[nodiscard]] std::size_t header_size() const { return line_start_; }
  [[nodiscard]] const ProtocolError& protocol_error() const { return protocol_error_; }

  // Prepares for the next header.
  void reset();

 private:
  bool over_limit();
  bool check_line(std::string_view line);
  bool check_request_line(std::string_view line);
  ScanState refuse(int status, std::string_view message);

  const HeaderLimits limits_;
  std::size_t position_ = 0;    // bytes before it are scanned
  std::size_t line_start_ = 0;  // of the line at position_
  std::size_t fields_start_ = 0;
  std::size_t lines_ = 0;  // complete lines
  ProtocolError protocol_error_;
};

}  // namespace eventq::http
