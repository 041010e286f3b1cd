// reconnector.cc: see reconnector.h.
#include "store/postgres/reconnector.h"

#include <algorithm>

#include "store/postgres/sqlstate.h"

namespace eventq::postgres {
namespace {

// The longest pause between two attempts: a database that is up again is used within this time.
constexpr Millis kLongestPause{1000};

Error interrupted() { return unavailable("it did not answer, so calls fail until it answers a ping"); }

}  // namespace

Result<void> Reconnector::connect(std::unique_ptr<PgConnection>& connection) {
  {
    const std::scoped_lock lock(mutex_);
    if (interrupted_) return interrupted();
    if (connection && !connection->broken()) return {};
    current_ = nullptr;
  }
  connection.reset();
  // During the pause the last error is returned at once, so that callers do not wait for an attempt that
  // would fail.
  if (last_error_ && steady_now() < next_try_) return *last_error_;
  auto opened = PgConnection::open(url_);
  if (!opened) {
    last_error_ = opened.error();
    next_try_ = steady_now() + std::min(backoff_.failed(), kLongestPause);
    return opened.error();
  }
  last_error_.reset();
  backoff_.succeeded();

  const std::scoped_lock lock(mutex_);
  // interrupt() may have been called while the connection was being opened.
  if (interrupted_) return interrupted();
  connection = std::move(*opened);
  current_ = connection.get();
  return {};
}

void Reconnector::drop(std::unique_ptr<PgConnection>& connection) {
  {
    const std::scoped_lock lock(mutex_);
    current_ = nullptr;
  }
  connection.reset();
}

void Reconnector::interrupt(bool interrupted) {
  const std::scoped_lock lock(mutex_);
  interrupted_ = interrupted;
  if (interrupted && current_ != nullptr) current_->interrupt();
}

}  // namespace eventq::postgres
