// views.h: answers as lines that can be compared.
//
// The views are written apart from src/wire, so that what HTTP clients are promised stands here a
// second time.
#pragma once

#include <optional>
#include <string_view>

#include "against_model/operation.h"
#include "support/http_client.h"
#include "support/json_lines.h"

namespace eventq {

// Everything in an answer, for two engines.
JsonLines whole_view(const Answer& answer);

// What the server reads behind the answer, to show how things are then; nothing when it reads nothing.
std::optional<Command> read_behind(const Operation& operation, const Answer& answer);

// What a client sees of it over HTTP: status, the headers that say something, and the body. `then` is the
// answer to what was read behind it.
JsonLines client_view(const Operation& operation, const Answer& answer, const std::optional<Answer>& then,
                      std::string_view request_id);

// The same, of a response.
JsonLines client_view(const Operation& operation, const HttpResponse& response);

}  // namespace eventq
