// caller.h: calls to a server that are made again when that may help.
//
// Again: when the connection cannot be made or breaks, and when the server is busy (429, 502, 503, 504).
// Not again: when the server says that it does not know the outcome, when no answer came in time, and when
// it asks for a longer pause than Backoff::kLongest.
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
  heartbeat,  // gets one try of kHeartbeatWithin at most, because a later try would come too late
};

class Caller {
 public:
  Caller(HttpUrl url, const ClientOptions& options);

  static constexpr Millis kHeartbeatWithin{5'000};

  // What the server answered last, success or not. Errors: unavailable when no answer came and nothing was
  // changed, unknown_outcome when something may have been.
  Result<HttpResponse> call(HttpRequest request, CallEffect effect);

  // Server-sent events, until `stop` fires, whatever breaks.
  // Errors: what the server refuses the stream with; the first of on_event.
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
