// connection.cc: see connection.h.
#include "http/transport/connection.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "http/transport/io_loop.h"
#include "http/transport/response_writer.h"

namespace eventq::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kSmallBuffer = 4 * 1024;   // an idle connection has this much
constexpr std::size_t kLargeBuffer = 64 * 1024;  // while a large body is read

// Requests that one connection may have served before the loop serves others. A client that pipelines without
// end must not block the rest.
constexpr int kRequestsPerRun = 16;

// Bodies up to this size are copied behind the header, because one write of one buffer is faster than of two.
constexpr std::size_t kCopiedBody = 16 * 1024;

// After the last response, input is dropped for this long before the socket is closed. If unread bytes are
// left at close, the kernel resets the connection and the client may lose the response.
constexpr std::chrono::seconds kLingerTime{2};

}  // namespace

HttpConnection::HttpConnection(IoLoop& loop, asio::ip::tcp::socket socket, ExchangeId first_exchange)
    : loop_(loop),
      socket_(std::move(socket)),
      parser_(loop.options(), loop.service(), loop.budget()),
      exchange_(first_exchange) {
  error_code ignored;  // without these two the connection is slower, not wrong
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.non_blocking(true, ignored);
}

void HttpConnection::start() {
  deadline_ = steady_now() + loop_.options().idle_time;
  read_more();
}

bool HttpConnection::respond(Response response) {
  // HTTP/1.0 has no chunks, so only the end of the connection can end a stream.
  const bool ends_by_close = response.streams && parser_.header().http10;
  close_after_ = response.close || !parser_.header().keep_alive || loop_.draining() || ends_by_close;
  // A stream that begins while the server stops would never end.
  if (response.streams && loop_.draining()) {
    send(loop_.service().error_response(503, "The server is shutting down.", {}));
    return false;
  }
  return send(std::move(response));
}

void HttpConnection::refuse(int status, std::string_view message) {
  if (!std::exchange(under_way_, true)) loop_.exchange_began();
  close_after_ = true;
  send(loop_.service().error_response(status, message, parser_.header().request.headers));
}

void HttpConnection::sweep(SteadyTime now) {
  if (now < deadline_) return;
  // A pending write means that the client does not read. Without one, the stream only had no event to send.
  if (state_ == ConnectionState::streaming) return writing_ ? abandon() : send_keep_alive();
  if (state_ != ConnectionState::reading || parser_.progress() == ParseProgress::idle) return close();
  refuse(408, parser_.progress() == ParseProgress::header
                  ? "The header of the request took too long to arrive."
                  : "The body of the request arrives too slowly.");
}

void HttpConnection::drain() {
  if (state_ == ConnectionState::streaming) {
    loop_.service().on_gone(loop_, exchange_);
    return finish_stream();
  }
  if (state_ != ConnectionState::reading) return;  // finish_response() closes then
  // A request that has partly arrived gets a response, because its client waits for one.
  if (parser_.progress() == ParseProgress::idle && in_.empty()) return linger();
  refuse(503, "The server is shutting down.");
}

void HttpConnection::abandon() {
  const bool told = has_exchange();
  close();
  if (told) loop_.service().on_gone(loop_, exchange_);
}

void HttpConnection::read_more() {
  if (reading_ || state_ == ConnectionState::closed) return;
  if (client_done_) return close();
  if (state_ == ConnectionState::lingering) in_.clear();
  const auto space = in_.free_space(buffer_wanted());
  if (space.empty()) return watch_for_hangup();
  reading_ = true;
  socket_.async_read_some(asio::buffer(space.data(), space.size()),
                          [self = ConnectionPtr(this)](const error_code& error, std::size_t size) {
                            self->reading_ = false;
                            self->on_read(error, size);
                          });
}

std::size_t HttpConnection::buffer_wanted() const {
  if (state_ != ConnectionState::reading) return kSmallBuffer;
  if (parser_.progress() == ParseProgress::body) {
    return std::clamp(parser_.body_to_come(), kSmallBuffer, kLargeBuffer);
  }
  // Doubles when a header fills the buffer. HeaderLimits bounds this.
  return std::max(kSmallBuffer, std::bit_ceil(in_.size() + 1));
}

// The buffer is full of requests that must wait, so no read is possible. An orderly close is behind the
// unread bytes and not seen, but a reset is.
void HttpConnection::watch_for_hangup() {
  if (std::exchange(watching_, true)) return;
  socket_.async_wait(asio::socket_base::wait_error, [self = ConnectionPtr(this)](const error_code&) {
    self->watching_ = false;
    if (self->has_exchange()) self->abandon();
  });
}

void HttpConnection::on_read(const error_code& error, std::size_t size) {
  if (state_ == ConnectionState::closed) return;
  if (error) return on_read_end(error);
  if (state_ == ConnectionState::lingering) return read_more();
  in_.commit(size);
  if (state_ == ConnectionState::reading) return run();
  if (has_exchange()) read_more();
}

void HttpConnection::on_read_end(const error_code& error) {
  // A client that closed only its sending side can still read the response.
  const bool wanted =
      state_ == ConnectionState::writing ||
      (state_ == ConnectionState::exchange && loop_.service().answers_half_closed(loop_, exchange_));
  if (wanted && error == asio::error::eof) {
    client_done_ = true;
    return;
  }
  abandon();
}

void HttpConnection::run() {
  for (int served = 0; served < kRequestsPerRun; ++served) {
    if (!next_request()) return;
  }
  run_later();
}

void HttpConnection::run_later() {
  if (std::exchange(run_posted_, true)) return;
  asio::post(socket_.get_executor(), [self = ConnectionPtr(this)] {
    self->run_posted_ = false;
    if (self->state_ == ConnectionState::reading) self->run();
  });
}

// True when the connection is ready to parse another request.
bool HttpConnection::next_request() {
  const ParseProgress progress = parser_.step(in_);
  if (progress == ParseProgress::complete) return dispatch();
  if (progress == ParseProgress::refused) {
    refuse(parser_.protocol_error().status, parser_.protocol_error().message);
  } else {
    await_rest(progress);
  }
  return false;
}

void HttpConnection::await_rest(ParseProgress progress) {
  const ServerOptions& options = loop_.options();
  if (progress == ParseProgress::header && !std::exchange(header_timed_, true)) {
    deadline_ = steady_now() + options.header_time;
  }
  if (progress == ParseProgress::body) {
    if (body_start_ == SteadyTime()) body_start_ = steady_now();
    // Each byte extends the deadline, so the average speed is limited and not the size.
    const auto earned = std::chrono::milliseconds(parser_.body_size() * 1000 /
                                                  std::max<std::size_t>(options.body_rate_min, 1));
    deadline_ = body_start_ + options.body_grace + earned;
  }
  if (parser_.take_continue() && !send_continue()) return close();
  read_more();
}

// False when the 25 bytes do not fit into the socket buffer: the client does not read.
bool HttpConnection::send_continue() {
  error_code error;
  return socket_.write_some(asio::buffer(kContinue), error) == kContinue.size();
}

bool HttpConnection::dispatch() {
  // No deadline while the Service has the request: the engine limits how long a wait takes.
  state_ = ConnectionState::exchange;
  deadline_ = SteadyTime::max();
  exchange_ = ExchangeId{static_cast<std::uint64_t>(exchange_) + 1};
  under_way_ = true;
  loop_.exchange_began();

  dispatching_ = true;
  loop_.service().on_request(loop_, exchange_, parser_.take_request());
  dispatching_ = false;

  if (has_exchange()) read_more();
  return state_ == ConnectionState::reading;
}

// False when the write shows that the client is gone.
bool HttpConnection::send(Response response) {
  const RequestHeader& request = parser_.header();
  const Persistence persistence = close_after_     ? Persistence::close
                                  : request.http10 ? Persistence::keep_named
                                                   : Persistence::keep;
  std::string& header = loop_.scratch();
  header.clear();
  chunked_ = response.streams && !request.http10;
  const BodyEnd end = chunked_ ? BodyEnd::chunk : response.streams ? BodyEnd::close : BodyEnd::length;
  append_header(header, response, persistence, loop_.date(), end);
  if (request.is_head || !may_have_body(response.status)) response.body.clear();
  if (chunked_ && !response.body.empty()) response.body = chunk_of(response.body);
  if (response.body.size() <= kCopiedBody) header += std::exchange(response.body, {});

  state_ = response.streams ? ConnectionState::streaming : ConnectionState::writing;
  report_sent_ = response.streams;
  keep_alive_text_ = response.keep_alive_text;
  return write(header, std::move(response.body));
}

bool HttpConnection::send_piece(std::string_view piece) {
  report_sent_ = true;
  return write_piece(chunked_ ? chunk_of(piece) : std::string(piece));
}

void HttpConnection::finish_stream() {
  state_ = ConnectionState::writing;
  if (chunked_) {
    write_piece(std::string(kLastChunk));
  } else if (!writing_) {
    on_all_written();
  }
}

// Send a keep-alive; a write error means that the client left.
void HttpConnection::send_keep_alive() {
  const std::string piece(keep_alive_text_);
  deadline_ = SteadyTime::max();
  if (!piece.empty() && !write_piece(chunked_ ? chunk_of(piece) : piece)) {
    loop_.service().on_gone(loop_, exchange_);
  }
}

// Writes more of a stream, or its end. False when the write shows that the client is gone.
bool HttpConnection::write_piece(std::string bytes) {
  if (!writing_) return write({}, std::move(bytes));
  out_next_ += bytes;
  return true;
}

// False when the write shows that the client is gone.
bool HttpConnection::write(const std::string& header, std::string body) {
  error_code error;
  // Most responses fit into the socket buffer, so this write saves a pass through the loop.
  const std::array buffers = {asio::buffer(header), asio::buffer(std::as_const(body))};
  const std::size_t written = socket_.write_some(buffers, error);
  if (error && error != asio::error::would_block) {
    close();
    return false;
  }
  if (written == header.size() + body.size()) {
    on_all_written();
    return true;
  }
  out_header_ = header;
  out_body_ = std::move(body);
  out_written_ = written;
  write_rest();
  return true;
}

void HttpConnection::write_rest() {
  writing_ = true;
  deadline_ = steady_now() + loop_.options().write_time;
  const std::size_t header_written = std::min(out_written_, out_header_.size());
  const std::array buffers = {
      asio::buffer(std::as_const(out_header_)) + header_written,
      asio::buffer(std::as_const(out_body_)) + (out_written_ - header_written),
  };
  socket_.async_write_some(buffers, [self = ConnectionPtr(this)](const error_code& error, std::size_t size) {
    self->on_written(error, size);
  });
}

void HttpConnection::on_written(const error_code& error, std::size_t size) {
  if (state_ == ConnectionState::closed) return;
  if (error) return abandon();
  out_written_ += size;
  if (out_written_ < out_header_.size() + out_body_.size()) return write_rest();
  writing_ = false;
  out_header_ = {};
  out_body_ = std::exchange(out_next_, {});
  out_written_ = 0;
  if (!out_body_.empty()) return write_rest();
  on_all_written();
}

void HttpConnection::on_all_written() {
  if (state_ == ConnectionState::writing) return finish_response();
  deadline_ = steady_now() + loop_.options().keep_alive_interval;
  // A keep-alive is no piece of the Service, so it causes no on_sent().
  if (std::exchange(report_sent_, false)) report_sent();
}

// Posted, because the Service must not be called from inside its own respond() or send().
void HttpConnection::report_sent() {
  asio::post(socket_.get_executor(), [self = ConnectionPtr(this), exchange = exchange_] {
    if (self->streams(exchange)) self->loop_.service().on_sent(self->loop_, exchange);
  });
}

void HttpConnection::finish_response() {
  under_way_ = false;
  loop_.exchange_ended();
  if (close_after_ || loop_.draining()) return linger();

  parser_.reset();
  state_ = ConnectionState::reading;
  header_timed_ = false;
  body_start_ = {};
  deadline_ = steady_now() + loop_.options().idle_time;
  if (dispatching_) return;  // run() continues with the next request
  // Posted, because the Service must not be called from inside its own respond().
  if (in_.empty()) {
    read_more();
  } else {
    run_later();
  }
}

void HttpConnection::linger() {
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  if (error || client_done_) return close();
  state_ = ConnectionState::lingering;
  deadline_ = steady_now() + kLingerTime;
  read_more();
}

void HttpConnection::close() {
  if (state_ == ConnectionState::closed) return;
  state_ = ConnectionState::closed;
  if (std::exchange(under_way_, false)) loop_.exchange_ended();
  error_code ignored;  // the socket is closed even when close() fails
  socket_.close(ignored);
  loop_.forget(*this);
}

}  // namespace eventq::http
