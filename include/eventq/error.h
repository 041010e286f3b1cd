// error.h: failures as values.
//
// Result<T> carries a T or an Error and has the member names of std::expected,
// so that it can become an alias of it in C++23. Nothing in the public API throws.
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
  too_large,         // over a maximum in limits.h
  not_found,
  conflict,         // the event's status, or an earlier request, forbids this now
  lease_lost,       // the caller does not hold the event
  queue_full,       // the queue is at its max_queue_depth; try again later
  timeout,          // what was waited for did not happen in time
  unavailable,      // the store cannot answer; nothing was changed; try again later
  unknown_outcome,  // the store cannot say whether the change is on disk
  no_space,         // the disk is full; nothing was changed
  corrupt,          // stored data fails its own checks; do not retry
  internal,         // our bug, caught at an edge
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;                  // a sentence: what is wrong, and what would be right
  std::string field;                    // the member or parameter to blame, empty when there is none
  std::chrono::seconds retry_after{0};  // when it may work; 0: not known
};

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // REQUIRES: has_value(). Anything else ends the process.
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

  // REQUIRES: !has_value().
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

  // REQUIRES: !has_value().
  [[nodiscard]] const Error& error() const {
    if (!error_) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace eventq
