// admin_answer.h: renders the answer to an administrative command: its value as JSON, or its error.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "http/api/call.h"
#include "http/api/problem.h"

namespace eventq::http {

// The function for EngineWork::render: calls `write` with a JsonWriter and the T of the answer.
// REQUIRES: the command is one whose answer is a Result<T>.
template <typename T, typename Write>
std::function<HandlerResult(Answer&)> render_admin(std::string request_id, Write write, int status = 200) {
  return [write = std::move(write), status,
          request_id = std::move(request_id)](Answer& answer) -> HandlerResult {
    const auto& result = std::get<Result<T>>(answer.admin);
    if (!result) return respond_with(problem_of(result.error()), request_id);
    Response response;
    response.status = status;
    JsonWriter json(response.body);
    write(json, *result);
    return response;
  };
}

}  // namespace eventq::http
