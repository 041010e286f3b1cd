// reconnector.h: a connection that is made when it is needed, and again after it was lost.
//
// Threads: one at a time; interrupt() from any.
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

  // Sees to it that `connection`, always the same one, can be used.
  // Errors: unavailable; at once while interrupted, and for a moment after a try that failed.
  Result<void> connect(std::unique_ptr<PgConnection>& connection);

  // Closes it.
  void drop(std::unique_ptr<PgConnection>& connection);

  // Ends a call under way and makes every later connect() fail, until `false`.
  void interrupt(bool interrupted);

 private:
  // Set in the constructor, never changed.
  const std::string url_;

  Backoff backoff_;
  std::optional<Error> last_error_;  // since the last success
  SteadyTime next_try_{};

  std::mutex mutex_;
  PgConnection* current_ = nullptr;  // guarded by mutex_
  bool interrupted_ = false;         // guarded by mutex_
};

}  // namespace eventq::postgres
