// reconnector.h: opens a connection on first use, and again after it was lost.
//
// Threads: one thread at a time. interrupt() may be called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/backoff.h"
#include "base/steady.h"
#include "eventq/error.h"
#include "store/postgres/connection.h"

namespace eventq::postgres {

class Reconnector {
 public:
  explicit Reconnector(std::string url) : url_(std::move(url)) {}

  // Opens `connection` if it is null or broken. REQUIRES: every call gets the same `connection`.
  // Errors: unavailable; at once while interrupted, and for up to 1 s after a failed attempt.
  Result<void> connect(std::unique_ptr<PgConnection>& connection);

  // Closes the connection.
  void drop(std::unique_ptr<PgConnection>& connection);

  // interrupt(true) makes a running call and every connect() fail until interrupt(false).
  void interrupt(bool interrupted);

 private:
  // Set in the constructor, never changed.
  const std::string url_;

  Backoff backoff_;
  std::optional<Error> last_error_;  // of the last attempt; null if it succeeded
  SteadyTime next_try_{};

  std::mutex mutex_;
  PgConnection* current_ = nullptr;  // guarded by mutex_
  bool interrupted_ = false;         // guarded by mutex_
};

}  // namespace eventq::postgres
