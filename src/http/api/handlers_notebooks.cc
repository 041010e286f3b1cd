// handlers_notebooks.cc: what is asked of notebooks, handed on to whoever has them.
#include "http/api/handlers.h"
#include "http/api/problem.h"

namespace eventq::http {

HandlerResult ask_notebooks(ApiCall& call, Notebooks::Action action) {
  if (call.notebooks) return call.notebooks->answer(action, call);
  return respond_with(
      problem_of(404,
                 "Notebooks are not switched on: name the folders that they may lie in, [notebooks] allow = "
                 "[\"FOLDER\"] in the configuration file or --notebooks-allow FOLDER, and start again."),
      call.request_id);
}

}  // namespace eventq::http
