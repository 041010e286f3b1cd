// listener.h: the one listening socket; it gives connections to the loops round-robin.
//
// Threads: runs on the first loop's thread. open() is called before any thread starts.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/steady.h"
#include "eventq/error.h"
#include "http/transport/io_loop.h"

namespace eventq::http {

class Listener {
 public:
  // REQUIRES: `loops` is not empty, and both outlive the listener.
  Listener(SharedServerState& shared, std::span<const std::unique_ptr<IoLoop>> loops);

  // Binds to the address of the options. Errors: see Server::start().
  Result<void> open();
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Accepts connections until close(). On the first loop's thread only.
  void accept_next();
  void close();

 private:
  Result<boost::asio::ip::tcp::endpoint> endpoint() const;
  void on_accept(const boost::system::error_code& error, boost::asio::ip::tcp::socket socket);
  void admit(boost::asio::ip::tcp::socket socket);
  void back_off(const boost::system::error_code& error);

  SharedServerState& shared_;
  const std::span<const std::unique_ptr<IoLoop>> loops_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer retry_timer_;
  std::uint16_t port_ = 0;
  std::size_t next_loop_ = 0;  // gets the next connection
  SteadyTime log_again_at_ = SteadyTime::min();
};

}  // namespace eventq::http
