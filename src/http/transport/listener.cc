// listener.cc: see listener.h.
#include "http/transport/listener.h"

#include <boost/asio/ip/address.hpp>
#include <string>
#include <utility>

#include "base/log.h"

namespace eventq::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 4096;

// Connections above connections_max that get a 503 at one time. Further ones are closed without a response.
constexpr std::size_t kRefusedMax = 64;

// A process without free descriptors cannot accept, and the connection stays ready. Without this pause the
// loop would spin.
constexpr std::chrono::milliseconds kRetryPause{100};
constexpr std::chrono::seconds kLogPause{10};

}  // namespace

Listener::Listener(SharedServerState& shared, std::span<const std::unique_ptr<IoLoop>> loops)
    : shared_(shared),
      loops_(loops),
      acceptor_(loops.front()->context()),
      retry_timer_(loops.front()->context()) {}

Result<tcp::endpoint> Listener::endpoint() const {
  const std::string& host = shared_.options.host;
  error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) {
    return Error{ErrorCode::invalid_argument,
                 "The host \"" + host + "\" is not an IPv4 or IPv6 address, nor localhost.", "host"};
  }
  return tcp::endpoint(address, shared_.options.port);
}

Result<void> Listener::open() {
  const auto address = endpoint();
  if (!address) return address.error();

  error_code error;
  acceptor_.open(address->protocol(), error);
  // Lets a restarted server bind while old connections are in TIME_WAIT. A port with a listener is still
  // refused.
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(*address, error);
  if (!error) acceptor_.listen(kBacklog, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (!error) return {};
  return Error{.code = ErrorCode::unavailable,
               .message = "Cannot listen on " + shared_.options.host + " port " +
                          std::to_string(shared_.options.port) + ": " + error.message() + "." +
                          (error == asio::error::address_in_use
                               ? " Another program listens there. Stop it, or listen on another port."
                               : "")};
}

void Listener::accept_next() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_accept(loops_[next_loop_]->context(), [this](const error_code& error, tcp::socket socket) {
    on_accept(error, std::move(socket));
  });
}

void Listener::close() {
  error_code ignored;  // the socket is closed even when close() fails
  acceptor_.close(ignored);
  retry_timer_.cancel();
}

void Listener::on_accept(const error_code& error, tcp::socket socket) {
  if (error == asio::error::operation_aborted) return;
  // The client closed before its connection was accepted.
  if (error == asio::error::connection_aborted) return accept_next();
  if (error) return back_off(error);
  admit(std::move(socket));
  accept_next();
}

// REQUIRES: `socket` belongs to the context of loops_[next_loop_], as accept_next() makes it. So next_loop_
// may only advance here, between two accepts.
void Listener::admit(tcp::socket socket) {
  IoLoop& loop = *loops_[next_loop_];
  next_loop_ = (next_loop_ + 1) % loops_.size();
  const std::size_t connections = shared_.connections.fetch_add(1) + 1;
  if (connections > shared_.options.connections_max + kRefusedMax) {
    shared_.connections.fetch_sub(1);
    return;  // the destructor closes the socket
  }
  // The loop subtracts the connection from the count when it closes.
  loop.adopt(std::move(socket),
             connections > shared_.options.connections_max ? Admission::refuse : Admission::serve);
}

void Listener::back_off(const error_code& error) {
  if (steady_now() >= log_again_at_ && shared_.options.logger) {
    log_again_at_ = steady_now() + kLogPause;
    shared_.options.logger(LogLevel::warning,
                           LogLine("cannot accept a connection").add("error", error.message()).str());
  }
  retry_timer_.expires_after(kRetryPause);
  retry_timer_.async_wait([this](const error_code& cancelled) {
    if (!cancelled) accept_next();
  });
}

}  // namespace eventq::http
