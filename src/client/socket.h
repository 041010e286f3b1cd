// socket.h: one TCP connection whose calls end by a deadline or when a stop is requested.
//
// Threads: belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/steady.h"
#include "eventq/error.h"

namespace eventq::client {

// How long a call may take. A requested stop is noticed within 50 ms.
struct CallLimit {
  SteadyTime deadline;
  std::stop_token stop;
};

class Socket {
 public:
  // Tries every address of `host`, one after the other.
  // Errors: unavailable.
  static Result<Socket> connect(const std::string& host, std::uint16_t port, const CallLimit& limit);

  // Whether the connection is open and no bytes have arrived.
  [[nodiscard]] bool is_quiet() const;

  // Sends all bytes. Returns false when the server answers or closes before it has received all.
  // Errors: timeout.
  Result<bool> send(std::string_view bytes, const CallLimit& limit);

  // Waits for bytes and returns how many arrived. 0: the server sends no more.
  // Errors: timeout; unknown_outcome when the connection was reset.
  Result<std::size_t> receive(std::span<char> into, const CallLimit& limit);

 private:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}

  Descriptor descriptor_;
};

}  // namespace eventq::client
