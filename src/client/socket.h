// socket.h: one TCP connection whose calls end by a deadline, or when they are told to stop.
//
// Threads: belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/steady.h"
#include "eventq/error.h"

namespace eventq::client {

// How long a call may take. The stop is noticed within 50 ms.
struct CallLimit {
  SteadyTime deadline;
  std::stop_token stop;
};

class Socket {
 public:
  // Tries every address of `host`. Errors: unavailable.
  static Result<Socket> connect(const std::string& host, std::uint16_t port, const CallLimit& limit);

  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  // True while the other side is there and has said nothing.
  [[nodiscard]] bool is_quiet() const;

  // Sends all of it, unless the other side answers or closes before that: false then.
  // Errors: timeout.
  Result<bool> send(std::string_view bytes, const CallLimit& limit);

  // Waits for bytes. 0: the other side sends no more. Errors: timeout; unknown_outcome for a reset.
  Result<std::size_t> receive(std::span<char> into, const CallLimit& limit);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace eventq::client
