// test_service.h: a Service that answers at once, later, or never. For tests.
//
// Threads: every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "http/transport/server.h"

namespace eventq::http {

// Paths: /later waits for answer(). /stream begins a stream with "begin;", whose keep-alive is "silent;".
// /big?bytes=N answers that many bytes. /close closes the connection after its response. Every other path is
// answered at once with "{method} {target} {body}".
class TestService final : public Service {
 public:
  [[nodiscard]] RequestRoute route(std::string_view method, std::string_view path) const override;
  void on_request(IoThread& thread, ExchangeId exchange, Request request) override;
  void on_sent(IoThread& thread, ExchangeId exchange) override;
  void on_gone(IoThread& thread, ExchangeId exchange) override;
  [[nodiscard]] Response error_response(int status, std::string_view message,
                                        const Headers& headers) const override;

  // Each waits for a count, and returns false after a minute.
  bool wait_for_waiting(std::size_t count);  // on /later
  bool wait_for_gone(std::size_t count);
  bool wait_for_sent(std::size_t count);

  // Responds to the oldest waiting request, on its thread. Returns the result of respond().
  bool answer(Response response);
  // The same without waiting for the result.
  void answer_soon(Response response);
  // Responds twice. True when the first response is accepted and the second is not.
  bool answer_twice(const Response& response);
  // Sends a piece of the newest stream, on its thread, and returns the result of send(); ends that stream.
  bool send(std::string piece);
  void finish();
  // The thread of the oldest waiting request.
  IoThread& oldest_thread();

  [[nodiscard]] std::size_t gone() const;
  // Calls of on_request(), on_sent() or on_gone() from inside a respond() or send().
  [[nodiscard]] std::size_t nested() const;
  [[nodiscard]] std::vector<Request> requests() const;
  [[nodiscard]] std::vector<std::string> targets() const;
  void clear();

 private:
  struct Waiting {
    IoThread* thread;
    ExchangeId exchange;
  };

  void count_call(std::size_t& count);
  Waiting take_oldest();
  bool wait_until(const std::function<bool()>& reached);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> requests_;
  std::vector<Waiting> waiting_;
  Waiting stream_{};
  std::size_t waiting_seen_ = 0;
  std::size_t sent_ = 0;
  std::size_t gone_ = 0;
  std::size_t nested_ = 0;
};

// The body of /big.
std::string big_body(std::size_t size);

}  // namespace eventq::http
