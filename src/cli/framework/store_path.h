// store_path.h: the file that a store's URL names.
#pragma once

#include <string>
#include <string_view>

#include "eventq/error.h"
#include "store/postgres/connection.h"

namespace eventq::cli {

// "sqlite:eventq.db" -> "eventq.db". `instead`: what to do with a PostgreSQL database. Errors:
// invalid_argument.
[[nodiscard]] inline Result<std::string> store_path(std::string_view url,
                                                    std::string_view instead = "name a file, sqlite:FILE.") {
  constexpr std::string_view kScheme = "sqlite:";
  if (url.starts_with(kScheme) && url.size() > kScheme.size()) return std::string(url.substr(kScheme.size()));
  if (url.starts_with("postgres://") || url.starts_with("postgresql://")) {
    return Error{ErrorCode::invalid_argument,
                 postgres::without_password(std::string(url)) + " is not a file: " + std::string(instead),
                 "store"};
  }
  return Error{ErrorCode::invalid_argument,
               "\"" + postgres::without_password(std::string(url)) +
                   "\" does not name the file of a store; write sqlite:FILE, such as sqlite:eventq.db.",
               "store"};
}

}  // namespace eventq::cli
