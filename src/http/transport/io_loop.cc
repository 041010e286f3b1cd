// io_loop.cc: see io_loop.h.
#include "http/transport/io_loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/assert.h"
#include "eventq/clock.h"
#include "http/transport/response_writer.h"

namespace eventq::http {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

// An ExchangeId is the slot of its connection, and below it a running number of this many bits.
constexpr unsigned kCountBits = 44;

std::size_t slot_of(ExchangeId exchange) { return static_cast<std::uint64_t>(exchange) >> kCountBits; }

// A second, or a quarter of the shortest time limit, so that a limit is exceeded by a quarter at most.
milliseconds sweep_interval(const ServerOptions& options) {
  const milliseconds shortest = std::min({options.header_time, options.body_grace, options.idle_time,
                                          options.write_time, options.keep_alive_interval});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(1000));
}

}  // namespace

IoLoop::IoLoop(std::size_t index, SharedServerState& shared)
    : index_(index), shared_(shared), sweep_interval_(sweep_interval(shared.options)) {}

void IoLoop::start() {
  date_ = http_date(system_clock().now());
  sweep_later();
  thread_ = std::thread([this] { context_.run(); });
}

void IoLoop::stop() {
  if (!thread_.joinable()) return;
  post([this] {
    close_all();
    context_.stop();
  });
  thread_.join();
}

void IoLoop::post(std::function<void()> work) { asio::post(context_, std::move(work)); }

void IoLoop::adopt(asio::ip::tcp::socket socket, Admission admission) {
  asio::post(context_, [this, socket = std::move(socket), admission]() mutable {
    admit(std::move(socket), admission);
  });
}

void IoLoop::admit(asio::ip::tcp::socket socket, Admission admission) {
  // The socket was accepted before the listener closed. Its destructor closes it.
  if (draining_) {
    shared_.connections.fetch_sub(1);
    return;
  }
  const std::size_t slot = free_slot();
  const ConnectionPtr connection(
      new HttpConnection(*this, std::move(socket), ExchangeId{last_exchange_[slot]}));
  slots_[slot] = connection;
  if (admission == Admission::refuse) {
    connection->refuse(503, "The server has reached its connection limit; try again later.");
  } else {
    connection->start();
  }
}

std::size_t IoLoop::free_slot() {
  if (free_slots_.empty()) {
    free_slots_.push_back(slots_.size());
    last_exchange_.push_back(static_cast<std::uint64_t>(slots_.size()) << kCountBits);
    slots_.emplace_back();
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void IoLoop::forget(const HttpConnection& connection) {
  const std::size_t slot = slot_of(connection.exchange());
  EVENTQ_ASSERT(slots_[slot].get() == &connection);
  // A late respond() to this connection must not reach the next one in the slot.
  last_exchange_[slot] = static_cast<std::uint64_t>(connection.exchange());
  slots_[slot].reset();
  free_slots_.push_back(slot);
  shared_.connections.fetch_sub(1);
}

IoLoop::ConnectionPtr IoLoop::connection_of(ExchangeId exchange) const {
  const std::size_t slot = slot_of(exchange);
  return slot < slots_.size() ? slots_[slot] : nullptr;
}

bool IoLoop::respond(ExchangeId exchange, Response response) {
  const ConnectionPtr connection = connection_of(exchange);
  if (!connection || !connection->waits_for(exchange)) return false;
  return connection->respond(std::move(response));
}

bool IoLoop::send(ExchangeId exchange, std::string piece) {
  const ConnectionPtr connection = connection_of(exchange);
  if (!connection || !connection->streams(exchange)) return false;
  return connection->send_piece(piece);
}

// Does nothing if the client left: the connection is gone, or its slot belongs to another exchange.
void IoLoop::finish(ExchangeId exchange) {
  const ConnectionPtr connection = connection_of(exchange);
  if (connection && connection->streams(exchange)) connection->finish_stream();
}

// Copies the pointer, here and below, because a connection that closes clears its slot.
void IoLoop::drain() {
  draining_ = true;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (const ConnectionPtr connection = slots_[slot]) connection->drain();
  }
}

void IoLoop::close_all() {
  draining_ = true;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (const ConnectionPtr connection = slots_[slot]) connection->abandon();
  }
}

void IoLoop::when_quiet(std::function<void()> done) {
  if (under_way_ == 0) return done();
  quiet_waiters_.push_back(std::move(done));
}

void IoLoop::exchange_ended() {
  // The list is taken first, because a callback may add to it.
  if (--under_way_ > 0) return;
  for (const auto& done : std::exchange(quiet_waiters_, {})) done();
}

void IoLoop::sweep_later() {
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) sweep();
  });
}

void IoLoop::sweep() {
  date_ = http_date(system_clock().now());
  const SteadyTime now = steady_now();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    if (const ConnectionPtr connection = slots_[slot]) connection->sweep(now);
  }
  sweep_later();
}

}  // namespace eventq::http
