// local_server.h: the whole server inside the test's own process, on a clock the test moves.
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

// Returns when all that is due at the clock's time has been done, and every command that was submitted before
// has been answered, or waits.
void settle(Engine& engine);

class LocalServer {
 public:
  // `options` must name a clock. Starts; a store that cannot be opened ends the process.
  LocalServer(std::string store, Options options, http::Extension extension = {});
  ~LocalServer();  // stops
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;  // another one after each restart

  // Stops as the program does on SIGTERM, and starts again on the same store.
  void restart();

  // Of its engine.
  void settle();

  // How many commands requests have become since the start, and a wait for that many: a long poll
  // that was sent is known to wait once it is counted and settle() has returned.
  [[nodiscard]] std::size_t commands() const;
  void await_commands(std::size_t count);

 private:
  class CountingEngine;

  void start();
  void stop();

  // Set in the constructor, never changed.
  const std::string store_;
  const Options options_;
  const http::Extension extension_;

  std::unique_ptr<CountingEngine> engine_;
  std::unique_ptr<http::Service> service_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace eventq
