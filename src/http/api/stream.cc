// stream.cc: see stream.h. Also the handler of the route.
#include "http/api/stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "model/names.h"
#include "wire/answer_json.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

// A claim that waited this long without an event is repeated, so the engine keeps no wait without a limit.
constexpr std::chrono::minutes kClaimWait{10};

}  // namespace

Response begin_stream() {
  Response response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  response.body = "retry: 1000\n\n";
  response.streams = true;
  response.keep_alive_text = ": keep-alive\n\n";
  return response;
}

std::string render_stream(const std::vector<Claim>& claims) {
  std::string text;
  for (const Claim& claim : claims) {
    text += "id: " + id_text(claim.event.id) + "\nevent: event\ndata: ";
    std::string line;
    JsonWriter json(line);
    wire::write_claim(json, claim);
    // The payload has the white space that its publisher sent. A bare line end is never inside a JSON string,
    // so replacing it with a space does not change a value.
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text += line + "\n\n";
  }
  return text;
}

// GET /events/stream
HandlerResult stream_events(ApiCall& call) {
  auto subscription = wire::parse_stream(call.query);
  if (!subscription) return subscription.error();
  const std::size_t prefetch = subscription->limit;
  return ClaimStream{ClaimRequest{std::move(subscription->selector), std::move(subscription->worker_id),
                                  prefetch, kClaimWait, prefetch}};
}

}  // namespace eventq::http
