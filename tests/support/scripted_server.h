// scripted_server.h: a server that follows the script of a test, byte by byte. For tests.
//
// Threads: belongs to one thread; the script runs on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace eventq::client {

// The requests that were read. Threads: any thread may call every method.
class Requests {
 public:
  void add(const std::string& request) {
    const std::scoped_lock lock(mutex_);
    all_.push_back(request);
  }
  std::vector<std::string> all() {
    const std::scoped_lock lock(mutex_);
    return all_;
  }

 private:
  // Guarded by mutex_.
  std::mutex mutex_;
  std::vector<std::string> all_;
};

// One accepted connection.
class Peer {
 public:
  Peer(int descriptor, Requests& requests) : descriptor_(descriptor), requests_(requests) {}
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Reads one request and keeps its header and body as they were sent.
  void read_request();
  void send(std::string_view bytes);
  // Sends a complete HTTP/1.1 response.
  void answer(std::string_view status, std::string_view body, std::string_view more_fields = {});
  // Waits until the client has closed.
  void await_close();
  // Resets the connection, as a crash does. Otherwise it is closed in order.
  void reset();

 private:
  int descriptor_;
  Requests& requests_;
  std::string bytes_;  // received and not yet returned
};

class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;

  // The n-th connection runs the n-th script and is then closed. After the last script no connection is
  // accepted.
  explicit ScriptedServer(std::vector<Script> scripts);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // The requests that were read, in order.
  [[nodiscard]] std::vector<std::string> requests() const { return requests_->all(); }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Requests> requests_ = std::make_unique<Requests>();
  std::jthread thread_;
};

// A port without a listener. It is bound, so no other process can listen on it meanwhile.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  [[nodiscard]] std::uint16_t number() const { return number_; }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(number_); }

 private:
  int socket_;
  std::uint16_t number_;
};

}  // namespace eventq::client
