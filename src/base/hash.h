// hash.h: short names for long contents.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace eventq {

// 32 hexadecimal digits (XXH3, 128 bits), the same on every machine. The length of
// each part counts: {"ab", "c"} and {"a", "bc"} differ. Not for where an
// attacker gains from a collision.
[[nodiscard]] std::string fingerprint(std::initializer_list<std::string_view> parts);

// 64 bits of XXH3, the same on every machine and for ever: what is placed by it stays where it is.
[[nodiscard]] std::uint64_t hash64(std::string_view text);

}  // namespace eventq
