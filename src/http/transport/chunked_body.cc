// chunked_body.cc: see chunked_body.h.
#include "http/transport/chunked_body.h"

#include <algorithm>

#include "base/ascii.h"

namespace eventq::http {
namespace {

constexpr unsigned kSizeDigits = 16;  // of 64 bits, leading zeros counted

// -1: none.
int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_name_char(char c) {
  return is_alphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_value_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

}  // namespace

ChunkedBody::ChunkResult ChunkedBody::feed(std::string_view& in, std::string& body, std::size_t limit) {
  // Data is copied in blocks. Everything between is short, and is read byte by byte through the states.
  ChunkResult result = ChunkResult::more;
  while (result == ChunkResult::more && !in.empty()) {
    if (state_ == ChunkState::data) {
      result = take_data(in, body);
    } else {
      const char c = in.front();
      in.remove_prefix(1);
      result = take(c, limit - body.size());
    }
  }
  return result;
}

ChunkedBody::ChunkResult ChunkedBody::take_data(std::string_view& in, std::string& body) {
  const std::size_t size = std::min<std::uint64_t>(left_, in.size());
  body.append(in.substr(0, size));
  in.remove_prefix(size);
  left_ -= size;
  if (left_ == 0) state_ = ChunkState::data_cr;
  return ChunkResult::more;
}

ChunkedBody::ChunkResult ChunkedBody::take(char c, std::size_t limit_left) {
  switch (state_) {
    case ChunkState::size: return take_size(c, limit_left);
    case ChunkState::size_end: return expect(c, '\n', left_ == 0 ? ChunkState::trailer : ChunkState::data);
    case ChunkState::data_cr: return expect(c, '\r', ChunkState::data_end);
    case ChunkState::data_end: return expect(c, '\n', ChunkState::size);
    default: return take_trailer(c);
  }
}

ChunkedBody::ChunkResult ChunkedBody::take_size(char c, std::size_t limit_left) {
  if (c == '\r' && digits_ > 0) {
    digits_ = 0;
    state_ = ChunkState::size_end;
    // Compared when the size is known, before any byte of the chunk is stored.
    return left_ > limit_left ? ChunkResult::too_large : ChunkResult::more;
  }
  const int digit = hex_value(c);
  if (digit < 0 || digits_ == kSizeDigits) return ChunkResult::malformed;
  ++digits_;
  left_ = left_ * 16 + static_cast<unsigned>(digit);
  return ChunkResult::more;
}

ChunkedBody::ChunkResult ChunkedBody::take_trailer(char c) {
  // Trailers are dropped, so only this counter limits them.
  if (++trailer_bytes_ > kTrailerBytes) return ChunkResult::trailers_too_long;
  switch (state_) {
    case ChunkState::trailer:
      if (c == '\r') return expect(c, '\r', ChunkState::body_end);
      state_ = ChunkState::name;
      return is_name_char(c) ? ChunkResult::more : ChunkResult::malformed;
    case ChunkState::name:
      if (c == ':') return expect(c, ':', ChunkState::value);
      return is_name_char(c) ? ChunkResult::more : ChunkResult::malformed;
    case ChunkState::value:
      if (c == '\r') return expect(c, '\r', ChunkState::value_end);
      return is_value_char(c) ? ChunkResult::more : ChunkResult::malformed;
    case ChunkState::value_end: return expect(c, '\n', ChunkState::trailer);
    default: return c == '\n' ? ChunkResult::done : ChunkResult::malformed;
  }
}

ChunkedBody::ChunkResult ChunkedBody::expect(char c, char wanted, ChunkState next) {
  if (c != wanted) return ChunkResult::malformed;
  state_ = next;
  return ChunkResult::more;
}

}  // namespace eventq::http
