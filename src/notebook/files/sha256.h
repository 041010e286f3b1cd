// sha256.h: the SHA-256 of bytes that arrive in pieces, and the SHA-1 that git uses.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace eventq::notebook {

class PiecewiseHash {
 public:
  explicit PiecewiseHash(const EVP_MD* kind) : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVENTQ_ASSERT(context_ != nullptr);
    EVENTQ_ASSERT(EVP_DigestInit_ex(context_.get(), kind, nullptr) == 1);
  }

  void add(std::string_view bytes) {
    EVENTQ_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string hexadecimal() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVENTQ_ASSERT(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
    std::string text;
    text.reserve(std::size_t{2} * size);
    for (unsigned at = 0; at < size; ++at) {
      text += kDigits[bytes.at(at) >> 4];
      text += kDigits[bytes.at(at) & 0xF];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

class Sha256 : public PiecewiseHash {
 public:
  Sha256() : PiecewiseHash(EVP_sha256()) {}
};

// The id of a git blob: the SHA-1 of a header with the size and of the content.
class GitBlobHash : public PiecewiseHash {
 public:
  explicit GitBlobHash(std::int64_t size) : PiecewiseHash(EVP_sha1()) {
    const std::string header = "blob " + std::to_string(size);
    add({header.c_str(), header.size() + 1});  // with the NUL at the end
  }
};

}  // namespace eventq::notebook
