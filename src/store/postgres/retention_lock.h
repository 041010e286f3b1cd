// retention_lock.h: the lock that lets one server at a time remove old events of a database.
//
// It belongs to a connection of its own: if the server dies, the database releases the lock, and another
// server gets it.
//
// Threads: one thread at a time. interrupt() may be called from any thread.
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
    TimePoint now;       // the database's clock
    bool since = false;  // it was not held at the last call
  };
  // Takes the lock, or checks that it is still held. Returns null if another server holds it.
  Result<std::optional<RetentionHold>> hold();

  // Closes the connection, so that another server can take the lock.
  void release() { reconnector_.drop(connection_); }

  // As PostgresStore::interrupt().
  void interrupt(bool interrupted) { reconnector_.interrupt(interrupted); }

 private:
  Reconnector reconnector_;
  std::unique_ptr<PgConnection> connection_;
  bool held_ = false;
};

}  // namespace eventq::postgres
