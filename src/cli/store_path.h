// store_path.h: the file that a store's URL names.
#pragma once

#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::cli {

// "sqlite:eventq.db" -> "eventq.db". Errors: invalid_argument.
[[nodiscard]] inline Result<std::string> store_path(std::string_view url) {
  constexpr std::string_view kScheme = "sqlite:";
  if (url.starts_with(kScheme) && url.size() > kScheme.size()) return std::string(url.substr(kScheme.size()));
  return Error{
      ErrorCode::invalid_argument,
      "\"" + std::string(url) + "\" names no file of a store; write sqlite:FILE, such as sqlite:eventq.db.",
      "store"};
}

}  // namespace eventq::cli
