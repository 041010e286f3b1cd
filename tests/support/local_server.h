// local_server.h: a server inside the process of the test, on a clock that the test sets.
//
// Threads: belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "eventq/options.h"
#include "http/api/routes.h"
#include "http/transport/server.h"

namespace eventq {

// Returns when the engine has done everything that is due at the clock's time, and every earlier command has
// been answered or waits.
void settle(Engine& engine);

class LocalServer {
 public:
  // Starts the server. A store that cannot be opened aborts the process.
  // REQUIRES: `options` names a clock.
  LocalServer(std::string store, Options options, http::ApiExtension extension = {});
  ~LocalServer();  // stops
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;  // another one after each restart

  // Stops as the program does on SIGTERM, and starts again on the same store.
  void restart();

  // eventq::settle() of its engine.
  void settle();

  // The number of commands since the start, and a wait until it is `count`. A long poll waits in the engine
  // once its command is counted and settle() has returned.
  [[nodiscard]] std::size_t commands() const;
  void await_commands(std::size_t count);

 private:
  class CountingEngine;

  void start();
  void stop();

  // Set in the constructor, never changed.
  const std::string store_;
  const Options options_;
  const http::ApiExtension extension_;

  std::unique_ptr<CountingEngine> engine_;
  std::unique_ptr<http::Service> service_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace eventq
