// call.h: one API call on its way from request to response.
//
// A handler turns a Call into a response, or into a command for the engine and what to
// make of its answer. It decides nothing about events.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/percent.h"
#include "eventq/error.h"
#include "http/message.h"
#include "queue/command.h"

namespace eventq::http {

struct Call {
  const Request& request;
  std::string_view path;
  std::string_view id;  // the {id} of the path, as sent
  std::vector<QueryParameter> query;
  std::string request_id;
  JsonParser& parser;  // of the thread; a parsed body ends with the next call
};

struct Work {
  Command command;
  // Called once, on the call's thread. Not called when the answer is an error as a whole.
  std::function<Response(Answer&)> render;
};

using Handled = std::variant<Response, Work>;
using Handler = Handled (*)(Call&);

}  // namespace eventq::http
