// hash.cc: see hash.h.
#include "base/hash.h"

#include <xxhash.h>

#include <array>
#include <cstdint>
#include <memory>

#include "base/assert.h"

namespace eventq {
namespace {

std::array<unsigned char, 8> little_endian(std::uint64_t number) {
  std::array<unsigned char, 8> bytes{};
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(number & 0xFF);
    number >>= 8;
  }
  return bytes;
}

}  // namespace

std::string fingerprint(std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  EVENTQ_ASSERT(state != nullptr);
  XXH3_128bits_reset(state.get());
  for (const std::string_view part : parts) {
    // The length goes first, so that {"ab", "c"} and {"a", "bc"} differ.
    const auto size = little_endian(part.size());
    XXH3_128bits_update(state.get(), size.data(), size.size());
    XXH3_128bits_update(state.get(), part.data(), part.size());
  }

  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(state.get()));
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest.digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 0xF];
  }
  return text;
}

std::uint64_t hash64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace eventq
