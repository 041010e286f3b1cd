// admin_answer.h: the answer to an AdminRequest as a response: what was result, or why not.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "http/api/call.h"
#include "http/api/problem.h"

namespace eventq::http {

// Calls `write` with a JsonWriter and the T that was result.
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
