// server.h: an HTTP/1.1 server. It knows nothing of events.
//
// This folder turns bytes into requests and responses into bytes; a Service (../api) decides what a request
// means. A Listener accepts sockets and deals them to IoLoops. A loop has one thread and its HttpConnections.
// A connection reads into an InputBuffer, the RequestParser takes requests from it, Service::on_request()
// gets them, and IoThread::respond() writes the response.
//
// Limits are enforced while reading: bytes of the request line and header, number of fields, body bytes (also
// chunked), time for the header, lowest speed of a body, idle time. The server answers a violation with 4xx
// itself and closes the connection.
// One byte stream has one meaning: an ambiguous one (two lengths, folded lines, bare CR or LF, ...) is
// answered 400 and the connection closes, so that no smuggled request behind it runs.
//
// Threads: each IoThread owns its connections; a Service is called on the connection's IoThread. Requests of
// one connection run one after the other, in order.
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

  // Runs `work` on this thread soon. May be called from any thread, also after the server stopped; `work` may
  // then never run.
  virtual void post(std::function<void()> work) = 0;

  // Sends the response of an exchange. On this thread only. False when the client is gone and nothing was
  // sent: the Service must then release the claims that the response contains.
  virtual bool respond(ExchangeId exchange, Response response) = 0;

  // Sends the next piece of a stream; Service::on_sent() follows when the kernel has it. On this thread only.
  // False when the client is gone, or the stream has ended.
  virtual bool send(ExchangeId exchange, std::string piece) = 0;

  // Ends a stream. Does nothing when it has ended.
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

  // A request is complete. Every exchange gets one respond(), now or later, unless on_gone() came first.
  // Never called from inside respond().
  virtual void on_request(IoThread& thread, ExchangeId exchange, Request request) = 0;

  // The kernel has all bytes of the last respond() or send() of a stream. A Service that sends the next piece
  // only now keeps at most one piece in memory. Never called from inside either.
  virtual void on_sent(IoThread&, ExchangeId) {}

  // The connection ended before the response, or before the end of a stream: the client closed it or did not
  // read, or close_listener() or stop() ended it. Never called from inside respond() or send().
  virtual void on_gone(IoThread& thread, ExchangeId exchange) = 0;

  // The client has closed its sending side and may have left. True: its response is still written. False: the
  // client counts as gone.
  [[nodiscard]] virtual bool answers_half_closed(const IoThread&, ExchangeId) const { return false; }

  // The response to an error that the server itself found (status 400 to 505). `message` is one sentence.
  // `headers` are those of the request, and empty if its header is not complete.
  [[nodiscard]] virtual Response error_response(int status, std::string_view message,
                                                const Headers& headers) const = 0;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;  // 0: any free port, see Server::port()
  std::size_t io_threads = 1;
  std::size_t connections_max = 16'384;  // a further one is answered 503 and closed
  std::size_t request_line_max = 8 * 1024;
  std::size_t header_bytes_max = 32 * 1024;  // of all lines after the request line
  std::size_t header_fields_max = 100;
  std::chrono::milliseconds header_time = std::chrono::seconds(10);  // from its first byte
  std::chrono::milliseconds body_grace = std::chrono::seconds(10);   // then body_rate_min applies
  std::size_t body_rate_min = 500;                                   // bytes per second, on average
  std::size_t bodies_bytes_max = 256 * 1024 * 1024;                  // of all requests together; more is 503
  std::chrono::milliseconds idle_time = std::chrono::seconds(60);    // between two requests
  std::chrono::milliseconds write_time = std::chrono::seconds(30);   // without a byte of a response read
  std::chrono::milliseconds keep_alive_interval = std::chrono::seconds(10);  // of a stream without a piece
  Logger logger;
};

class Server {
 public:
  // Binds the address and starts the threads.
  // Errors: invalid_argument for a bad address, unavailable when it cannot be bound; the message says why.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Service& service);

  virtual ~Server() = default;  // stops
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  // Stops accepting connections and reading requests, and ends streams. Exchanges under way may still be
  // answered; a request that is not complete is answered 503. The port is free when this returns.
  // REQUIRES: as stop(), not called on an IoThread.
  virtual void close_listener() = 0;

  // Waits until no exchange is under way and every response has been written. False when `limit` passes
  // first.
  virtual bool drain(std::chrono::milliseconds limit) = 0;

  // Closes all connections, calls on_gone() for exchanges still under way, and ends the threads. Safe twice.
  virtual void stop() = 0;
};

}  // namespace eventq::http
