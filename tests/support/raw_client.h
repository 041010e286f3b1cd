// raw_client.h: a socket that sends any bytes and reads responses. For tests.
//
// Every call gives up after a minute.
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
  // Sends no more; still reads.
  void finish_sending();

  // Empty at the end of the stream, or when nothing came.
  std::optional<RawResponse> read_reply(RawBody body = RawBody::follows);
  std::optional<RawResponse> get(std::string_view target);

  // What comes up to the end of `text`; empty when it does not come.
  std::string read_through(std::string_view text);

  // True as soon as a byte or the end of the stream is there.
  bool readable_within(std::chrono::milliseconds limit);

  // True when the server closes in order, without another byte.
  bool at_end();
  // How many more bytes come before the end.
  std::size_t read_to_end();

  void close();
  // Ends at once, as a crash does.
  void reset();

 private:
  bool fill();

  int socket_ = -1;
  std::string bytes_;  // received, not yet used
};

}  // namespace eventq::http
