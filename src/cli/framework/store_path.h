// store_path.h: the path of the SQLite file in the URL of a store.
#pragma once

#include <string>
#include <string_view>

#include "eventq/error.h"
#include "store/postgres/connection.h"

namespace eventq::cli {

// "sqlite:eventq.db" -> "eventq.db". `instead` is the advice for a PostgreSQL URL.
// Errors: invalid_argument, without the password of the URL.
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
