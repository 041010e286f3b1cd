// views.h: answers as lines that can be compared.
//
// The views do not use src/wire, so that a change of the HTTP format there makes a test fail.
#pragma once

#include <optional>
#include <string_view>

#include "against_model/operation.h"
#include "support/http_client.h"
#include "support/json_lines.h"

namespace eventq {

// Everything in an answer, to compare two engines.
JsonLines whole_view(const Answer& answer);

// The command that the server sends after the answer to render the current state; nothing when it sends none.
std::optional<Command> follow_up_read(const Operation& operation, const Answer& answer);

// The answer as an HTTP client sees it: status, relevant headers, and body. `then` is the answer to the
// command that was sent after it.
JsonLines client_view(const Operation& operation, const Answer& answer, const std::optional<Answer>& then,
                      std::string_view request_id);

// The same for a response.
JsonLines client_view(const Operation& operation, const HttpResponse& response);

}  // namespace eventq
