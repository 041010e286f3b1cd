// chunked_body.cc: see chunked_body.h.
#include "http/transport/chunked_body.h"

#include <algorithm>

namespace eventq::http {
namespace {

constexpr unsigned kSizeDigits = 16;  // of 64 bits, leading zeros counted

// -1: none.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_name_char(char c) {
  const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_value_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

}  // namespace

ChunkedBody::Status ChunkedBody::feed(std::string_view& in, std::string& body, std::size_t limit) {
  Status status = Status::more;
  while (status == Status::more && !in.empty()) {
    if (state_ == State::data) {
      status = take_data(in, body);
    } else {
      const char c = in.front();
      in.remove_prefix(1);
      status = take(c, limit - body.size());
    }
  }
  return status;
}

ChunkedBody::Status ChunkedBody::take_data(std::string_view& in, std::string& body) {
  const std::size_t size = std::min<std::uint64_t>(left_, in.size());
  body.append(in.substr(0, size));
  in.remove_prefix(size);
  left_ -= size;
  if (left_ == 0) state_ = State::data_cr;
  return Status::more;
}

ChunkedBody::Status ChunkedBody::take(char c, std::size_t room) {
  switch (state_) {
    case State::size: return take_size(c, room);
    case State::size_end: return expect(c, '\n', left_ == 0 ? State::trailer : State::data);
    case State::data_cr: return expect(c, '\r', State::data_end);
    case State::data_end: return expect(c, '\n', State::size);
    default: return take_trailer(c);
  }
}

ChunkedBody::Status ChunkedBody::take_size(char c, std::size_t room) {
  if (c == '\r' && digits_ > 0) {
    digits_ = 0;
    state_ = State::size_end;
    return left_ > room ? Status::too_large : Status::more;
  }
  const int digit = hex_value(c);
  if (digit < 0 || digits_ == kSizeDigits) return Status::malformed;
  ++digits_;
  left_ = left_ * 16 + static_cast<unsigned>(digit);
  return Status::more;
}

ChunkedBody::Status ChunkedBody::take_trailer(char c) {
  if (++trailer_bytes_ > kTrailerBytes) return Status::trailers_too_long;
  switch (state_) {
    case State::trailer:
      if (c == '\r') return expect(c, '\r', State::body_end);
      state_ = State::name;
      return is_name_char(c) ? Status::more : Status::malformed;
    case State::name:
      if (c == ':') return expect(c, ':', State::value);
      return is_name_char(c) ? Status::more : Status::malformed;
    case State::value:
      if (c == '\r') return expect(c, '\r', State::value_end);
      return is_value_char(c) ? Status::more : Status::malformed;
    case State::value_end: return expect(c, '\n', State::trailer);
    default: return c == '\n' ? Status::done : Status::malformed;
  }
}

ChunkedBody::Status ChunkedBody::expect(char c, char wanted, State next) {
  if (c != wanted) return Status::malformed;
  state_ = next;
  return Status::more;
}

}  // namespace eventq::http
