// framing_vectors.h: raw byte streams and what the server makes of them. For tests.
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
  std::size_t requests = 0;  // that reach the Service
};

// What a refused stream ends with. No such request may ever reach the Service.
inline constexpr std::string_view kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

// The body limit the vectors are made for.
inline constexpr std::size_t kVectorBodyLimit = 1000;

// For servers with the default limits, whose Service answers 200 to everything.
std::vector<FramingVector> framing_vectors();

}  // namespace eventq::http
