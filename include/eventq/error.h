// error.h: failures as values.
//
// Result<T> holds a T or an Error. Its members are named as those of std::expected, so that it can
// become an alias of it in C++23. No function of the public API throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace eventq {

enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the request can never succeed as sent
  too_large,         // the request exceeds a maximum in limits.h
  not_found,         // there is no such event or queue
  conflict,          // the event's status, or an earlier request, forbids this now
  lease_lost,        // the caller does not hold the event
  queue_full,        // the queue is at its max_queue_depth; try again later
  timeout,           // the awaited event did not end in time
  unavailable,       // the store cannot answer; nothing was changed; try again later
  unknown_outcome,   // the store cannot say whether the change is on disk
  no_space,          // the disk is full; nothing was changed
  corrupt,           // stored data fails its own checks; do not retry
  internal,          // a bug of eventq
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message = {};             // a sentence that says what is wrong and what would be right
  std::string field = {};               // the member or parameter that is wrong; empty when there is none
  std::chrono::seconds retry_after{0};  // when a retry may succeed; 0: unknown
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(const T& value) : state_(std::in_place_index<0>, value) {}
  Result(T&& value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: has_value(). Otherwise the process aborts.
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !has_value(). Otherwise the process aborts.
  [[nodiscard]] const Error& error() const {
    if (has_value()) std::abort();
    return std::get<1>(state_);
  }

 private:
  T& checked() {
    if (!has_value()) std::abort();
    return std::get<0>(state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: !has_value(). Otherwise the process aborts.
  [[nodiscard]] const Error& error() const {
    if (!error_) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace eventq
