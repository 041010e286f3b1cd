// stream.h: a stream of events as text/event-stream: its header, and the format of a claim.
#pragma once

#include <string>
#include <vector>

#include "eventq/event.h"
#include "http/transport/message.h"

namespace eventq::http {

// The response that begins a stream. Its body is the field `retry:`: the milliseconds after which an
// EventSource connects again when the connection breaks.
Response begin_stream();

// One block per claim: its id, and its JSON in one line, because a line end would end the field.
std::string render_stream(const std::vector<Claim>& claims);

}  // namespace eventq::http
