// test_service.cc: see test_service.h.
#include "support/test_service.h"

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "support/framing_vectors.h"

namespace eventq::http {
namespace {

thread_local bool responding = false;

bool respond(IoThread& thread, ExchangeId exchange, Response response) {
  responding = true;
  const bool sent = thread.respond(exchange, std::move(response));
  responding = false;
  return sent;
}

}  // namespace

RequestRoute TestService::route(std::string_view /*method*/, std::string_view path) const {
  return {.body_max = path == "/large" ? 40 * 1024 * 1024 : kVectorBodyLimit};
}

void TestService::on_request(IoThread& thread, ExchangeId exchange, Request request) {
  const std::string target = request.target;
  Response response{.body = request.method + " " + target + " " + request.body, .content_type = "text/plain"};
  {
    const std::lock_guard lock(mutex_);
    if (responding) ++nested_;
    requests_.push_back(std::move(request));
    if (target == "/later") {
      waiting_.push_back({&thread, exchange});
      ++waiting_seen_;
    }
    if (target == "/stream") {
      stream_ = {&thread, exchange};
      response.body = "begin;";
      response.streams = true;
      response.keep_alive_text = "silent;";
    }
    changed_.notify_all();
  }
  if (target == "/later") return;
  if (target.starts_with("/big?bytes=")) response.body = big_body(std::stoul(target.substr(11)));
  response.close = target == "/close";
  response.headers.emplace_back("X-Test", "yes");
  respond(thread, exchange, std::move(response));
}

void TestService::on_sent(IoThread& /*thread*/, ExchangeId /*exchange*/) { count_call(sent_); }

void TestService::on_gone(IoThread& /*thread*/, ExchangeId /*exchange*/) { count_call(gone_); }

void TestService::count_call(std::size_t& count) {
  const std::lock_guard lock(mutex_);
  ++count;
  if (responding) ++nested_;
  changed_.notify_all();
}

Response TestService::error_response(int status, std::string_view message, const Headers& /*headers*/) const {
  return {.status = status,
          .body = std::string(message),
          .content_type = "text/plain",
          .headers = {{"X-Test", "yes"}}};
}

bool TestService::wait_for_waiting(std::size_t count) {
  return wait_until([this, count] { return waiting_seen_ == count; });
}

bool TestService::wait_for_gone(std::size_t count) {
  return wait_until([this, count] { return gone_ == count; });
}

bool TestService::wait_for_sent(std::size_t count) {
  return wait_until([this, count] { return sent_ == count; });
}

bool TestService::wait_until(const std::function<bool()>& reached) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(60), reached);
}

bool TestService::answer(Response response) {
  const Waiting oldest = take_oldest();
  const auto result = std::make_shared<std::promise<bool>>();
  oldest.thread->post([oldest, result, response = std::move(response)] {
    result->set_value(respond(*oldest.thread, oldest.exchange, response));
  });
  return result->get_future().get();
}

void TestService::answer_soon(Response response) {
  const Waiting oldest = take_oldest();
  oldest.thread->post(
      [oldest, response = std::move(response)] { respond(*oldest.thread, oldest.exchange, response); });
}

bool TestService::answer_twice(const Response& response) {
  const Waiting oldest = take_oldest();
  const auto result = std::make_shared<std::promise<bool>>();
  oldest.thread->post([oldest, result, response] {
    const bool first = respond(*oldest.thread, oldest.exchange, response);
    const bool second = respond(*oldest.thread, oldest.exchange, response);
    result->set_value(first && !second);
  });
  return result->get_future().get();
}

bool TestService::send(std::string piece) {
  const auto result = std::make_shared<std::promise<bool>>();
  stream_.thread->post([stream = stream_, result, piece = std::move(piece)] {
    responding = true;
    result->set_value(stream.thread->send(stream.exchange, piece));
    responding = false;
  });
  return result->get_future().get();
}

void TestService::finish() {
  stream_.thread->post([stream = stream_] {
    responding = true;
    stream.thread->finish(stream.exchange);
    responding = false;
  });
}

IoThread& TestService::oldest_thread() {
  const std::lock_guard lock(mutex_);
  return *waiting_.front().thread;
}

TestService::Waiting TestService::take_oldest() {
  const std::lock_guard lock(mutex_);
  const Waiting oldest = waiting_.front();
  waiting_.erase(waiting_.begin());
  return oldest;
}

std::size_t TestService::gone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

std::size_t TestService::nested() const {
  const std::lock_guard lock(mutex_);
  return nested_;
}

std::vector<Request> TestService::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::vector<std::string> TestService::targets() const {
  std::vector<std::string> targets;
  for (const Request& request : requests()) targets.push_back(request.target);
  return targets;
}

void TestService::clear() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

std::string big_body(std::size_t size) {
  std::string body;
  body.reserve(size);
  for (std::size_t i = 0; i < size; ++i) body += static_cast<char>('a' + i % 26);
  return body;
}

}  // namespace eventq::http
