// header_scanner.cc: see header_scanner.h.
#include "http/transport/header_scanner.h"

#include <array>

#include "base/ascii.h"

namespace eventq::http {
namespace {

// The bytes that a line may contain: tab, space, visible characters and bytes above ASCII.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 256; ++c) plain[c] = c != 0x7f;
  plain['\t'] = true;
  return plain;
}();

std::size_t skip_plain(std::string_view bytes, std::size_t position) {
  while (position < bytes.size() && kPlain[static_cast<unsigned char>(bytes[position])]) ++position;
  return position;
}

// "HTTP/d.d", any digits.
bool is_version(std::string_view text) {
  return text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) && text[6] == '.' &&
         is_digit(text[7]);
}

}  // namespace

HeaderScanner::ScanState HeaderScanner::scan(std::string_view bytes) {
  for (;;) {
    position_ = skip_plain(bytes, position_);
    // Before the line is complete, so that an endless line is refused while it arrives.
    if (over_limit()) return ScanState::refused;
    if (position_ == bytes.size()) return ScanState::incomplete;
    if (bytes[position_] == '\n')
      return refuse(400, "A line of the header ends in LF alone; it must end in CR LF.");
    if (bytes[position_] != '\r') return refuse(400, "The header contains a control character.");
    if (position_ + 1 == bytes.size()) return ScanState::incomplete;
    if (bytes[position_ + 1] != '\n') return refuse(400, "The header contains a CR without LF behind it.");

    const std::string_view line = bytes.substr(line_start_, position_ - line_start_);
    position_ += 2;
    line_start_ = position_;
    if (line.empty() && lines_ > 0) return ScanState::complete;
    if (!check_line(line)) return ScanState::refused;
    ++lines_;
  }
}

void HeaderScanner::reset() {
  position_ = line_start_ = fields_start_ = lines_ = 0;
  protocol_error_ = {};
}

bool HeaderScanner::over_limit() {
  if (lines_ == 0 && position_ > limits_.request_line) {
    refuse(414, "The request line has more than " + std::to_string(limits_.request_line) + " bytes.");
    return true;
  }
  if (lines_ > 0 && position_ - fields_start_ > limits_.header_bytes) {
    refuse(431, "The header fields have more than " + std::to_string(limits_.header_bytes) + " bytes.");
    return true;
  }
  return false;
}

bool HeaderScanner::check_line(std::string_view line) {
  if (lines_ == 0) {
    fields_start_ = line_start_;
    return check_request_line(line);
  }
  if (line.front() == ' ' || line.front() == '\t') {
    refuse(400, "A header line starts with white space; folded lines are not read.");
    return false;
  }
  if (lines_ > limits_.header_fields) {
    refuse(431, "The request has more than " + std::to_string(limits_.header_fields) + " header fields.");
    return false;
  }
  return !over_limit();
}

// Checks only the version; Beast checks the rest. Without this check an HTTP/0.9 client would wait for its
// response until header_time is over.
bool HeaderScanner::check_request_line(std::string_view line) {
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return true;
  if (is_version(version)) {
    refuse(505, "The server supports HTTP/1.1 and HTTP/1.0 only.");
  } else {
    refuse(400, "The request line must be: method, space, target, space, HTTP/1.1.");
  }
  return false;
}

HeaderScanner::ScanState HeaderScanner::refuse(int status, std::string_view message) {
  protocol_error_ = {status, std::string(message)};
  return ScanState::refused;
}

}  // namespace eventq::http
