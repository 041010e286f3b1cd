// caller.cc: see caller.h.
#include "client/caller.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/backoff.h"
#include "base/log.h"
#include "base/time_text.h"
#include "wire/event_reader.h"

namespace eventq::client {
namespace {

// Sleeps, but wakes when `stop` is requested.
void pause_for(Millis pause, const std::stop_token& stop = {}) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any nothing;
  nothing.wait_for(lock, stop, pause, [] { return false; });
}

// Why a try failed.
struct CallFailure {
  Error error;
  bool again = false;       // another try may succeed soon
  bool is_refusal = false;  // the server refused the request; another try would fail, too
};

// Why the response is a failure; nothing when it is a success.
std::optional<CallFailure> failure_of(const Result<HttpResponse>& response) {
  if (!response) {
    const ErrorCode code = response.error().code;
    return CallFailure{response.error(),
                       code == ErrorCode::unavailable || code == ErrorCode::unknown_outcome};
  }
  const int status = response->status;
  if (status >= 200 && status < 300) return std::nullopt;
  Error error = wire::read_problem(status, response->body, response->header("retry-after"));
  const bool is_refusal = status < 500 && status != 429;
  const bool is_known = status != 503 || error.code != ErrorCode::unknown_outcome;
  const bool is_busy = status == 429 || (status >= 502 && status <= 504 && is_known);
  const bool again = is_busy && error.retry_after <= Backoff::kLongest;
  return CallFailure{std::move(error), again, is_refusal};
}

// The result after the last try. When no answer of the server came, but perhaps one of a gateway, the error
// depends on the effect of the call.
Result<HttpResponse> final_result(Result<HttpResponse> response, Error error, CallEffect effect) {
  const bool is_answer = response && response->status != 502 && response->status != 504;
  if (is_answer) return response;
  if (error.code == ErrorCode::timeout) error.code = ErrorCode::unknown_outcome;
  if (error.code == ErrorCode::unknown_outcome && effect == CallEffect::reads) {
    error.code = ErrorCode::unavailable;
  }
  return error;
}

Millis pause_after(const Error& error, Backoff& backoff) {
  return std::max<Millis>(random_part(backoff.failed()), error.retry_after);
}

}  // namespace

Caller::Caller(HttpUrl url, const ClientOptions& options)
    : tries_(options.tries), timeout_(options.timeout), logger_(options.logger), http_(std::move(url)) {}

Result<HttpResponse> Caller::call(HttpRequest request, CallEffect effect) {
  const bool is_heartbeat = effect == CallEffect::heartbeat;
  request.timeout += is_heartbeat ? std::min(timeout_, kHeartbeatWithin) : timeout_;
  Backoff backoff;
  for (int left = is_heartbeat ? 0 : tries_ - 1;; --left) {
    auto response = http_.call(request);
    const auto failed = failure_of(response);
    if (!failed) return response;
    const bool may_be_done = effect == CallEffect::once && failed->error.code == ErrorCode::unknown_outcome;
    if (left == 0 || !failed->again || may_be_done) {
      return final_result(std::move(response), failed->error, effect);
    }
    const Millis pause = pause_after(failed->error, backoff);
    log_again(request, failed->error, pause);
    pause_for(pause);
  }
}

Result<void> Caller::stream(const HttpRequest& request, const EventStream::OnEvent& on_event,
                            const std::stop_token& stop) {
  Backoff backoff;
  while (!stop.stop_requested()) {
    EventStream events(on_event);
    Result<void> fed;
    const auto response = http_.stream(
        request,
        [&](std::string_view piece) {
          backoff.succeeded();
          fed = events.feed(piece);
          return fed.has_value();
        },
        stop);
    if (!fed) return fed;
    if (stop.stop_requested()) break;
    const auto failed = failure_of(response);
    if (failed && failed->is_refusal) return failed->error;
    const Error error = failed ? failed->error : Error{ErrorCode::unavailable, "The stream ended.", ""};
    const Millis pause = pause_after(error, backoff);
    log_again(request, error, pause);
    pause_for(pause, stop);
  }
  return {};
}

void Caller::log_again(const HttpRequest& request, const Error& error, Millis pause) const {
  if (!logger_) return;
  logger_(LogLevel::warning, LogLine("call of the server failed, retrying")
                                 .add("method", request.method)
                                 .add("path", request.target.substr(0, request.target.find('?')))
                                 .add("in", format_duration(pause))
                                 .add("error", error.message)
                                 .str());
}

}  // namespace eventq::client
