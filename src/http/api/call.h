// call.h: one API call on its way from request to response.
//
// A handler turns a ApiCall into a response, or into a command for the engine and what to
// make of its answer. It decides nothing about events.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/percent.h"
#include "command/command.h"
#include "eventq/error.h"
#include "http/transport/message.h"
#include "model/policy.h"

namespace eventq::http {

struct ApiCall {
  const Request& request;
  std::string_view path;
  std::string_view id;  // the {id} of the path, as sent
  std::string name;     // the {name} of the path, decoded
  std::vector<QueryParameter> query;
  std::string request_id;
  // Of the thread, which outlives every call.
  JsonParser& parser;      // a parsed body is valid until the thread's next call
  const Policy& defaults;  // the settings of a queue that has none of its own
};

// A claim to be made again and again, and what it takes to be sent as it comes.
struct ClaimStream {
  ClaimRequest claim;
};

// A response, or a command whose answer will be made into one, perhaps by way of another command, or
// a response without an end, or something that others do.
struct EngineWork;
struct DeferredResult;
using HandlerResult = std::variant<Response, EngineWork, ClaimStream, DeferredResult>;

struct EngineWork {
  Command command;
  // Called once, on the call's thread. Not called when the answer is an error as a whole, unless
  // `sees_errors`.
  std::function<HandlerResult(Answer&)> render;
  bool sees_errors = false;
};

// Something that neither the call's thread nor the engine does.
struct DeferredResult {
  // To be called once, from any thread, as long as the server is there. Does nothing when the caller has
  // gone.
  using Resolve = std::function<void(HandlerResult)>;
  // Called once, on the call's thread; does not wait.
  std::function<void(Resolve)> begin;
};

// Runs on the IoThread of the call and does not wait.
using Handler = std::function<HandlerResult(ApiCall&)>;

}  // namespace eventq::http
