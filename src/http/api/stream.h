// stream.h: a stream of events as text/event-stream: how it begins, and how claims look in it.
#pragma once

#include <string>
#include <vector>

#include "eventq/event.h"
#include "http/transport/message.h"

namespace eventq::http {

// Its head, and how long a client is to wait before it connects again.
Response begin_stream();

// One block per claim: its id, and its JSON on one line.
std::string render_stream(const std::vector<Claim>& claims);

}  // namespace eventq::http
