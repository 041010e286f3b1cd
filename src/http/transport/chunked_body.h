// chunked_body.h: decodes a body sent in chunks, byte for byte as strict as the header.
//
// Beast's decoder is not used, because it accepts LF in chunk extensions, buffers a whole size line and all
// trailers before it checks them, and treats trailers as header fields. Here extensions are refused, because
// our clients send none; trailers are checked, counted and dropped.
//
// Threads: belongs to one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace eventq::http {

class ChunkedBody {
 public:
  enum class ChunkResult : std::uint8_t {
    more,  // all bytes are used and the body has not ended
    done,  // the bytes left in the input are behind the body
    malformed,
    too_large,          // over the limit; no byte beyond it was stored
    trailers_too_long,  // over kTrailerBytes
  };

  static constexpr std::size_t kTrailerBytes = 4 * 1024;

  // Takes bytes from the front of `in` and appends their data to `body`, which may grow to `limit`.
  // REQUIRES: every earlier call returned `more`.
  ChunkResult feed(std::string_view& in, std::string& body, std::size_t limit);

 private:
  enum class ChunkState : std::uint8_t {
    size,       // hexadecimal digits, then CR
    size_end,   // LF
    data,       // left_ bytes
    data_cr,    // CR
    data_end,   // LF
    trailer,    // the first byte of a line behind the last chunk
    name,       // a trailer's name, then ':'
    value,      // a trailer's value, then CR
    value_end,  // LF
    body_end,   // LF of the empty line
  };

  ChunkResult take_data(std::string_view& in, std::string& body);
  ChunkResult take(char c, std::size_t limit_left);
  ChunkResult take_size(char c, std::size_t limit_left);
  ChunkResult take_trailer(char c);
  ChunkResult expect(char c, char wanted, ChunkState next);

  ChunkState state_ = ChunkState::size;
  unsigned digits_ = 0;     // of the size being read
  std::uint64_t left_ = 0;  // bytes of this chunk that have not arrived
  std::size_t trailer_bytes_ = 0;
};

}  // namespace eventq::http
