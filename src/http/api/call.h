// call.h: one API call from its request to its response.
//
// A handler parses an ApiCall and returns a HandlerResult: the response, an error, a command for the engine
// with a function that renders its answer, or one of two kinds of later result. A handler contains no rule
// about events.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/percent.h"
#include "command/command.h"
#include "eventq/clock.h"
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
  // These belong to the IoThread and outlive every call.
  JsonParser& parser;      // a parsed body is valid until the thread's next call
  const Policy& defaults;  // the settings of a queue that has none of its own
  const Clock& clock;
};

// A response without an end: the service repeats the claim, and sends each claimed event when it has it.
struct ClaimStream {
  ClaimRequest claim;
};

struct EngineWork;
struct DeferredResult;
// The service makes a problem response of an Error.
using HandlerResult = std::variant<Response, Error, EngineWork, ClaimStream, DeferredResult>;

// A command for the engine. Its answer becomes the result, which may be another command.
struct EngineWork {
  Command command;
  // Called once, on the call's IoThread. An answer that is an error as a whole becomes a problem response
  // without this call, unless `sees_errors`.
  std::function<HandlerResult(Answer&)> render;
  bool sees_errors = false;
  // A claim or a wait of a later command counts already: while the client of such a call has closed its half
  // of the connection, the service treats it as gone.
  bool may_wait = false;
};

// A result that another thread supplies later, such as one that reads the disk.
struct DeferredResult {
  // Call it once, from any thread, before the server is destroyed. Does nothing when the client has left.
  using Resolve = std::function<void(HandlerResult)>;
  // Called once, on the call's IoThread, so it must not wait.
  std::function<void(Resolve)> begin;
};

// Runs on the call's IoThread, so it must not wait.
using Handler = std::function<HandlerResult(ApiCall&)>;

}  // namespace eventq::http
