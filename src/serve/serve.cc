// serve.cc: see eventq/serve.h.
#include "eventq/serve.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/descriptor_limit.h"
#include "base/log.h"
#include "eventq/clock.h"
#include "http/api/service.h"
#include "http/transport/listen_address.h"
#include "http/transport/server.h"
#include "queue/embedded_queue.h"
#include "serve/borrowed_engine.h"

namespace eventq {
namespace {

// One, because the other cores are for the program's own work.
constexpr std::size_t kIoThreads = 1;

// How long stop() waits for clients that do not read their answers.
constexpr std::chrono::seconds kDrainTime{8};

std::optional<Error> validate(const http::ListenAddress& address, bool allow_remote) {
  if (!http::parse_listen_address(http::format(address))) {
    return Error{ErrorCode::invalid_argument,
                 "The host \"" + address.host + "\" is not an IPv4 or IPv6 address, nor localhost.", "host"};
  }
  if (allow_remote || http::is_loopback(address)) return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               http::remote_refusal(address, "127.0.0.1 or ::1", "set allow_remote"), "host"};
}

class ServerOnQueue final : public EmbeddedServer {
 public:
  ServerOnQueue(BorrowedEngine& engine, const ServeOptions& options, const Policy& defaults)
      : options_(options),
        engine_(engine),
        service_(http::make_service(engine, kIoThreads, system_clock(),
                                    options.allow_remote ? http::Hosts::any : http::Hosts::loopback,
                                    defaults)) {}
  ~ServerOnQueue() override { stop(); }
  ServerOnQueue(const ServerOnQueue&) = delete;
  ServerOnQueue& operator=(const ServerOnQueue&) = delete;

  Result<void> start() {
    http::ServerOptions options{
        .host = options_.host, .port = options_.port, .io_threads = kIoThreads, .logger = options_.logger};
    // The other half of the descriptors is for the program.
    options.connections_max = std::min(options.connections_max, descriptor_limit() / 2);
    auto server = http::Server::start(options, *service_);
    if (!server) return server.error();
    server_ = std::move(*server);
    log(LogLevel::info, LogLine("listening").add("address", url()));
    return {};
  }

  [[nodiscard]] std::string url() const override {
    return "http://" + http::format({options_.host, server_->port()});
  }

  // First no new requests; then an answer to each waiting call, and time to send the answers. After the stop
  // of the borrowed engine no answer reaches the service.
  void stop() override {
    if (!server_) return;
    server_->close_listener();
    engine_.end_all_waits();
    if (!server_->drain(kDrainTime)) log(LogLevel::warning, LogLine("some requests stay unanswered"));
    engine_.stop();
    server_->stop();
  }

 private:
  void log(LogLevel level, const LogLine& line) const {
    if (options_.logger) options_.logger(level, line.str());
  }

  const ServeOptions options_;
  BorrowedEngine& engine_;
  const std::unique_ptr<http::Service> service_;
  std::unique_ptr<http::Server> server_;  // destroyed before the service that it calls
};

}  // namespace

Result<std::unique_ptr<EmbeddedServer>> serve(Queue& queue, const ServeOptions& options) {
  auto* const embedded = dynamic_cast<EmbeddedQueue*>(&queue);
  if (embedded == nullptr) {
    return Error{ErrorCode::invalid_argument,
                 "Only a queue in this process can be served; open it as sqlite:, postgres: or memory:.",
                 "queue"};
  }
  if (auto fault = validate(http::ListenAddress{options.host, options.port}, options.allow_remote))
    return *fault;
  auto borrowed = std::make_unique<BorrowedEngine>(embedded->engine());
  auto server = std::make_unique<ServerOnQueue>(*borrowed, options, embedded->defaults());
  embedded->keep_until_stopped(std::move(borrowed));
  if (auto started = server->start(); !started) return started.error();
  return std::unique_ptr<EmbeddedServer>(std::move(server));
}

}  // namespace eventq
