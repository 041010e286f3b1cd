// sha256.h: the SHA-256 of bytes that arrive in pieces.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace eventq::notebook {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    EVENTQ_ASSERT(context_ != nullptr);
    EVENTQ_ASSERT(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }

  void add(std::string_view bytes) {
    EVENTQ_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
  }

  std::string hexadecimal() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, 32> bytes{};
    EVENTQ_ASSERT(EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr) == 1);
    std::string text;
    for (const unsigned char byte : bytes) {
      text += kDigits[byte >> 4];
      text += kDigits[byte & 0xF];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace eventq::notebook
