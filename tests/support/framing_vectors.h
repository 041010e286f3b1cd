// framing_vectors.h: raw byte streams, and the responses that a server must give to them. For tests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace eventq::http {

enum class After : bool { closes, stays_open };

struct FramingVector {
  std::string name;
  std::string bytes;
  std::vector<int> statuses;  // of the responses, in order
  After after = After::closes;
  std::size_t requests = 0;  // the number that reaches the Service
};

// The end of every refused stream. This request must never reach the Service.
inline constexpr std::string_view kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

// The body limit that the vectors expect.
inline constexpr std::size_t kVectorBodyLimit = 1000;

// REQUIRES: the server has the default limits, and its Service answers 200 to every request.
std::vector<FramingVector> framing_vectors();

}  // namespace eventq::http
