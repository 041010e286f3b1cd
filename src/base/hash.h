// hash.h: short names for long contents.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace eventq {

// 32 hexadecimal digits (XXH3, 128 bits), the same on every machine. The length of
// each part counts: {"ab", "c"} and {"a", "bc"} differ. Not for where an
// attacker gains from a collision.
[[nodiscard]] std::string fingerprint(std::initializer_list<std::string_view> parts);

}  // namespace eventq
