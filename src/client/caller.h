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

class Caller {
 public:
  Caller(HttpUrl url, const ClientOptions& options);

  // What a call does, and so what it means that no answer came.
  // A sign of life would be too late after many tries: it gets one, and kSignWithin at most.
  enum class Effect : std::uint8_t { reads, changes, keeps };
  static constexpr Millis kSignWithin{5'000};

  // What the server answered last, success or not. Errors: unavailable when no answer came and nothing was
  // changed, unknown_outcome when something may have been.
  Result<HttpResponse> call(HttpRequest request, Effect effect);

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
