// io_loop.h: one thread, and the connections it serves.
//
// Threads: every method runs on the loop's own thread, unless its comment names another.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "http/transport/body_budget.h"
#include "http/transport/connection.h"
#include "http/transport/server.h"

namespace eventq::http {

// The state that all loops of a server share.
struct SharedServerState {
  const ServerOptions options;
  Service& service;
  BodyBudget budget{options.bodies_bytes_max};
  std::atomic<std::size_t> connections{0};  // accepted and not closed
};

// Whether a new connection is served, or answered 503 because there are too many.
enum class Admission : std::uint8_t { serve, refuse };

class IoLoop final : public IoThread {
 public:
  // REQUIRES: `shared` outlives the loop.
  IoLoop(std::size_t index, SharedServerState& shared);
  ~IoLoop() override { stop(); }  // NOLINT(bugprone-exception-escape): only bad_alloc, as Boost wraps it

  // These two are called by the thread that owns the server.
  void start();
  void stop();  // closes all connections, then ends the thread; safe twice

  // These may be called from any thread.
  void post(std::function<void()> work) override;
  [[nodiscard]] std::size_t index() const override { return index_; }
  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  // Takes a socket of context(), already counted in SharedServerState::connections.
  void adopt(boost::asio::ip::tcp::socket socket, Admission admission);

  bool respond(ExchangeId exchange, Response response) override;
  bool send(ExchangeId exchange, std::string piece) override;
  void finish(ExchangeId exchange) override;

  // No further requests. Exchanges under way are answered, then their connections close.
  void drain();

  // Calls `done` once no exchange is under way.
  void when_quiet(std::function<void()> done);

  // For connections.
  [[nodiscard]] const ServerOptions& options() const { return shared_.options; }
  [[nodiscard]] Service& service() { return shared_.service; }
  [[nodiscard]] BodyBudget& budget() { return shared_.budget; }
  [[nodiscard]] bool draining() const { return draining_; }
  [[nodiscard]] std::string& scratch() { return scratch_; }
  [[nodiscard]] const std::string& date() const { return date_; }
  void exchange_began() { ++under_way_; }
  void exchange_ended();
  void forget(const HttpConnection& connection);

 private:
  using ConnectionPtr = boost::intrusive_ptr<HttpConnection>;

  [[nodiscard]] ConnectionPtr connection_of(ExchangeId exchange) const;
  void admit(boost::asio::ip::tcp::socket socket, Admission admission);
  std::size_t free_slot();
  void close_all();
  void sweep_later();
  void sweep();

  // Set in the constructor, never changed.
  const std::size_t index_;
  SharedServerState& shared_;
  const std::chrono::milliseconds sweep_interval_;

  std::vector<ConnectionPtr> slots_;  // the upper bits of an ExchangeId are its slot
  std::vector<std::size_t> free_slots_;
  std::vector<std::uint64_t> last_exchange_;  // of each slot's last connection, so that no id is used twice
  std::size_t under_way_ = 0;
  std::vector<std::function<void()>> quiet_waiters_;
  bool draining_ = false;
  std::string scratch_;  // the header of the response being sent; reused to save allocations
  std::string date_;     // for the Date field; each sweep renews it

  // Destroyed first, because the handlers that its destructor drops refer to the members above.
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  boost::asio::steady_timer sweep_timer_{context_};
  std::thread thread_;
};

}  // namespace eventq::http
