// caller.h: calls to a server, with retries.
//
// The main header of client/, which implements eventq/client.h: the public Queue over HTTP. A call passes
// through client.cc (a value becomes a request of the API), Caller (retries), HttpClient (one try on a kept
// connection) and Socket (bytes by a deadline). wire/ writes the requests and reads the answers.
//
// Retried: a connection that cannot be made or breaks, and a busy server (429, 502, 503, 504).
// Not retried: an answer of unknown outcome, a timeout, and a server that asks for a longer pause than
// Backoff::kLongest.
//
// Threads: every method may be called from any thread.
#pragma once

#include <cstdint>
#include <stop_token>

#include "client/event_stream.h"
#include "client/http_client.h"
#include "eventq/client.h"
#include "eventq/error.h"

namespace eventq::client {

// What a call does at the server. This decides how often it is tried, and which error no answer means.
enum class CallEffect : std::uint8_t {
  reads,      // changes nothing: no answer means `unavailable`
  changes,    // may have changed something: no answer means `unknown_outcome`
  once,       // the same, and not tried again after that: a repetition could undo what happened meanwhile
  heartbeat,  // gets one try of kHeartbeatWithin at most, because a later try would come too late
};

class Caller {
 public:
  Caller(HttpUrl url, const ClientOptions& options);

  static constexpr Millis kHeartbeatWithin{5'000};

  // Returns the server's last answer, which may be a failure.
  // Errors: unavailable when no answer came and nothing was changed; unknown_outcome when something may
  // have been changed.
  Result<HttpResponse> call(HttpRequest request, CallEffect effect);

  // Calls `on_event` for each server-sent event, until `stop` is requested. Connects again after a break.
  // Errors: the server's, when it refuses the stream; the first error of `on_event`.
  Result<void> stream(const HttpRequest& request, const EventStream::OnEvent& on_event,
                      const std::stop_token& stop);

 private:
  void log_again(const HttpRequest& request, const Error& error, Millis pause) const;

  // Set in the constructor, never changed.
  const int tries_;
  const Millis timeout_;
  const Logger logger_;

  HttpClient http_;
};

}  // namespace eventq::client
