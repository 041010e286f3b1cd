// words.h: the values of random operations, and how they are written into a request.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "eventq/event.h"

namespace eventq {

// Few values of each kind, so that operations often name the same ones.
inline constexpr std::array<std::string_view, 4> kQueues = {"main", "reports", "orders", "a/b"};
inline constexpr std::string_view kNoQueue = "nowhere";  // never published to
inline constexpr std::array<std::string_view, 6> kTags = {"email", "email2", "EMAIL",
                                                          "a_b",   "axb",    "a.b/c@d-e"};
inline constexpr std::array<std::string_view, 6> kWorkers = {
    "worker-01:7234", "worker-02:8742", "a:1", "b:2", "b:22", "host.example:65535"};
inline constexpr std::array<std::string_view, 4> kReasons = {"", "worker_timeout",
                                                             "50% off & \u00fcber=1+1 #?", "a b"};
inline constexpr std::array<std::string_view, 4> kOrderingKeys = {"user-1", "user-2", "a b",
                                                                  "\u00fc'; DROP TABLE"};
inline constexpr std::array<std::string_view, 5> kSupersedeKeys = {"price-1", "price-2", "price 3", "%", "x"};
inline constexpr std::array<std::string_view, 3> kPatterns = {"invoice.created", "invoice.paid", "x"};
inline constexpr int kCorrelations = 20;  // "order-1" and so on

inline std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (plain) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 0xF];
    }
  }
  return encoded;
}

inline std::string text_of(EventId id) { return std::to_string(static_cast<std::int64_t>(id)); }

}  // namespace eventq
