// raw_client.h: a socket that sends any bytes and reads responses. For tests.
//
// Every call fails after a minute.
// Threads: belongs to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eventq::http {

struct RawResponse {
  int status = 0;
  std::string header;  // status line and fields
  std::string body;
};

enum class RawBody : bool { follows, left_out };

class RawClient {
 public:
  explicit RawClient(std::uint16_t port);  // on 127.0.0.1
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return socket_ >= 0; }

  // False when the connection broke.
  bool send(std::string_view bytes);
  // Closes the sending side; reads still work.
  void finish_sending();

  // Empty at the end of the stream, or after the time limit.
  std::optional<RawResponse> read_reply(RawBody body = RawBody::follows);
  std::optional<RawResponse> get(std::string_view target);

  // Reads up to the end of `text` and returns all of it; empty when `text` does not arrive.
  std::string read_through(std::string_view text);

  // True as soon as a byte or the end of the stream has arrived.
  bool readable_within(std::chrono::milliseconds limit);

  // True when the server closes in order and sends no further byte.
  bool at_end();
  // Reads to the end and returns the number of bytes.
  std::size_t read_to_end();

  void close();
  // Resets the connection, as a crash does.
  void reset();

 private:
  bool fill();

  int socket_ = -1;
  std::string bytes_;  // received and not yet returned
};

}  // namespace eventq::http
