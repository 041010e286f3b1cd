// render.h: makes responses of answers, and the work for the engine that an administrative route needs.
#pragma once

#include <utility>
#include <variant>

#include "base/json_writer.h"
#include "http/api/call.h"

namespace eventq::http {

// A response whose body `write(json)` writes.
template <typename Write>
Response json_response(Write write, int status = 200) {
  Response response;
  response.status = status;
  JsonWriter json(response.body);
  write(json);
  return response;
}

// Work with an administrative command. `render` is EngineWork::render.
template <typename Render>
EngineWork admin_work(AdminRequest request, Render render) {
  EngineWork work;
  work.command.admin = std::move(request);
  work.render = std::move(render);
  return work;
}

// The same for a command whose answer is a Result<T>: `write(json, value)` writes the value of a success.
template <typename T, typename Write>
EngineWork admin_work_for(AdminRequest request, Write write, int status = 200) {
  return admin_work(std::move(request), [write = std::move(write), status](Answer& answer) -> HandlerResult {
    const auto& result = std::get<Result<T>>(answer.admin);
    if (!result) return result.error();
    return json_response([&](JsonWriter& json) { write(json, *result); }, status);
  });
}

}  // namespace eventq::http
