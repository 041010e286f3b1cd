// server.h: sockets to requests and back. Knows HTTP/1.1, nothing of events.
//
// Limits are enforced while reading: request line, header bytes and count, body
// (also chunked), time to send a header, least body speed, idle time. What breaks
// them is answered 4xx by the server itself, and the connection closes.
// One byte stream has one meaning: anything ambiguous (both lengths, folded
// lines, bare CR or LF, ...) is 400 and close, and nothing behind it runs.
//
// Threads: each IoThread owns its connections; a Service is called on the
// connection's IoThread. Requests of one connection run one after the other, in order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "eventq/error.h"
#include "eventq/options.h"
#include "http/transport/message.h"

namespace eventq::http {

// Names one request waiting for its response, unique within its IoThread.
enum class ExchangeId : std::uint64_t {};

class IoThread {
 public:
  virtual ~IoThread() = default;

  // Runs `work` on this thread soon. From any thread, also after the server stopped
  // (then it may never run).
  virtual void post(std::function<void()> work) = 0;

  // Sends the response of an exchange. On this thread only. False when the client is
  // gone and nothing could be sent: then the Service must undo what it gave away.
  virtual bool respond(ExchangeId exchange, Response response) = 0;

  // Sends the next piece of a response that streams; Service::on_sent() tells when it is out. On this
  // thread only. False when the client is gone, or the stream has ended.
  virtual bool send(ExchangeId exchange, std::string piece) = 0;

  // Ends a response that streams. Does nothing when it has ended.
  virtual void finish(ExchangeId exchange) = 0;

  // 0, 1, ...: for arrays of per-thread state.
  [[nodiscard]] virtual std::size_t index() const = 0;
};

struct RequestRoute {
  RouteMatch match;          // becomes Request::match
  std::size_t body_max = 0;  // a larger body is answered 413
};

class Service {
 public:
  virtual ~Service() = default;

  // Finds what will serve a request. Called once per request, when its header is complete.
  [[nodiscard]] virtual RequestRoute route(std::string_view method, std::string_view path) const = 0;

  // A whole request has arrived. Every exchange gets one respond(), now or later,
  // unless on_gone() came first. Never called from inside respond().
  virtual void on_request(IoThread& thread, ExchangeId exchange, Request request) = 0;

  // The kernel has all that was given to respond() or send() of a response that streams. Whoever sends
  // only then keeps no more in memory than one piece. Never called from inside either.
  virtual void on_sent(IoThread&, ExchangeId) {}

  // The connection ended before the response, or before the end of one that streams: the client closed
  // it, or does not read it, or close_listener() or stop() ended it. Never called from inside respond()
  // or send().
  virtual void on_gone(IoThread& thread, ExchangeId exchange) = 0;

  // The client sends no more, and may have left. True: it is to be answered all the same, if it is
  // still there. False: it counts as gone.
  [[nodiscard]] virtual bool answers_half_closed(const IoThread&, ExchangeId) const { return false; }

  // The body of an error the server itself found (status 400 to 505): `message` is the sentence.
  [[nodiscard]] virtual Response error_response(int status, std::string_view message) const = 0;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: any free one, see Server::port()
  std::size_t io_threads = 1;
  std::size_t connections_max = 16'384;  // one more is answered 503 and closed
  std::size_t request_line_max = 8 * 1024;
  std::size_t header_bytes_max = 32 * 1024;  // of all lines behind the request line
  std::size_t header_fields_max = 100;
  std::chrono::milliseconds header_time = std::chrono::seconds(10);  // from its first byte
  std::chrono::milliseconds body_grace = std::chrono::seconds(10);   // after it, body_rate_min is demanded
  std::size_t body_rate_min = 500;                                   // bytes per second, on average
  std::size_t bodies_bytes_max = 256 * 1024 * 1024;                  // of all requests under way; more is 503
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);    // between two requests
  std::chrono::milliseconds write_time = std::chrono::seconds(30);   // without reading any of a response
  std::chrono::milliseconds keep_alive_interval =
      std::chrono::seconds(10);  // of a stream; then Response::keep_alive_text
  Logger logger;
};

class Server {
 public:
  // Binds and starts its threads. Errors: invalid_argument for a bad address,
  // unavailable when it cannot be bound; the message says why.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Service& service);

  virtual ~Server() = default;  // stops
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  // Stops accepting and reading new requests, and ends streams. Exchanges under way may still be answered;
  // a request that is not wholly read is answered 503. The port is free when this returns.
  // Like stop(), not to be called on an IoThread.
  virtual void close_listener() = 0;

  // True once no exchange is under way and every response has been written; false when
  // `limit` is over first.
  virtual bool drain(std::chrono::milliseconds limit) = 0;

  // Closes all connections, telling the Service of exchanges still under way, and ends
  // the threads. Safe twice.
  virtual void stop() = 0;
};

}  // namespace eventq::http
