// hash.h: hashes of texts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace eventq {

// 32 hexadecimal digits (XXH3, 128 bits), the same on every machine. The length of each part is hashed
// too, so {"ab", "c"} and {"a", "bc"} differ. Not cryptographic: do not use it where a collision helps an
// attacker.
[[nodiscard]] std::string fingerprint(std::initializer_list<std::string_view> parts);

// 64 bits of XXH3. The value never changes, on any machine or in any version, because stored events are
// assigned to shards by it.
[[nodiscard]] std::uint64_t hash64(std::string_view text);

}  // namespace eventq
