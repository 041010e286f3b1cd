// retention_lock.h: the right to remove old events of a database, which one server has at a time.
//
// It is bound to a connection of its own: a server that dies loses it, and another gets it.
//
// Threads: one at a time; interrupt() from any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "store/postgres/connection.h"
#include "store/postgres/reconnector.h"

namespace eventq::postgres {

class RetentionLock {
 public:
  explicit RetentionLock(std::string url) : reconnector_(std::move(url)) {}

  struct RetentionHold {
    TimePoint now;       // by the database
    bool since = false;  // it was not held at the last call
  };
  // Nothing when another has it.
  Result<std::optional<RetentionHold>> hold();

  // Another may have it.
  void release() { reconnector_.drop(connection_); }

  // As PostgresStore::interrupt().
  void interrupt(bool interrupted) { reconnector_.interrupt(interrupted); }

 private:
  Reconnector reconnector_;
  std::unique_ptr<PgConnection> connection_;
  bool held_ = false;
};

}  // namespace eventq::postgres
