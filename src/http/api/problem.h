// problem.h: errors as responses. Only this file maps an ErrorCode to an HTTP status.
#pragma once

#include <string_view>

#include "eventq/error.h"
#include "http/transport/message.h"
#include "wire/answer_json.h"

namespace eventq::http {

// The body of an error response, still without a request id.
wire::Problem problem_of(const Error& error);
wire::Problem problem_of(int status, std::string_view message);

Response respond_with(wire::Problem problem, std::string_view request_id);

}  // namespace eventq::http
