// retention_lock.cc: see retention_lock.h.
#include "store/postgres/retention_lock.h"

#include "generated/postgres_sql.h"

namespace eventq::postgres {

Result<std::optional<RetentionLock::RetentionHold>> RetentionLock::hold() {
  const bool lost = connection_ == nullptr || connection_->broken();
  if (lost) held_ = false;
  if (auto done = reconnector_.connect(connection_); !done) return done.error();
  if (held_) {
    // The lock belongs to the session, so it is held for as long as the connection answers.
    const auto time = connection_->run_one(sql::read_time);
    if (!time) held_ = false;
    if (!time) return time.error();
    return std::optional(RetentionHold{TimePoint(Millis(time->number(0, 0))), false});
  }
  const auto tried = connection_->run_one(sql::try_retention_lock);
  if (!tried) return tried.error();
  held_ = tried->number(0, 0) != 0;
  if (!held_) return std::optional<RetentionHold>();
  return std::optional(RetentionHold{TimePoint(Millis(tried->number(0, 1))), true});
}

}  // namespace eventq::postgres
