// link.cc: see link.h.
#include "store/postgres/link.h"

#include <algorithm>

#include "store/postgres/failure.h"

namespace eventq::postgres {
namespace {

// A database that is back is used again within this time.
constexpr Millis kLongestPause{1000};

Error given_up() { return away("calls to it were given up until it answers again"); }

}  // namespace

Result<void> Link::connect(std::unique_ptr<Connection>& connection) {
  {
    const std::scoped_lock lock(mutex_);
    if (interrupted_) return given_up();
    if (connection && !connection->broken()) return {};
    current_ = nullptr;
  }
  connection.reset();
  if (last_error_ && steady_now() < next_try_) return *last_error_;
  auto opened = Connection::open(url_);
  if (!opened) {
    last_error_ = opened.error();
    next_try_ = steady_now() + std::min(backoff_.failed(), kLongestPause);
    return opened.error();
  }
  last_error_.reset();
  backoff_.succeeded();

  const std::scoped_lock lock(mutex_);
  if (interrupted_) return given_up();
  connection = std::move(*opened);
  current_ = connection.get();
  return {};
}

void Link::drop(std::unique_ptr<Connection>& connection) {
  {
    const std::scoped_lock lock(mutex_);
    current_ = nullptr;
  }
  connection.reset();
}

void Link::interrupt(bool interrupted) {
  const std::scoped_lock lock(mutex_);
  interrupted_ = interrupted;
  if (interrupted && current_ != nullptr) current_->interrupt();
}

}  // namespace eventq::postgres
