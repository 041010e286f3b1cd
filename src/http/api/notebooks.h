// notebooks.h: who answers the routes of notebooks: a layer above, of which http knows this much.
#pragma once

#include <cstdint>

#include "http/api/call.h"

namespace eventq::http {

class Notebooks {
 public:
  enum class Action : std::uint8_t {
    add,
    list,
    show,
    create_file,
    list_files,
    show_file,
    read_file,
    update_file,
    move_file,
    delete_file,
    list_commits,
    rescan,
    commit,
  };

  virtual ~Notebooks() = default;

  // What a handler is: on the call's thread, and it does not wait. What takes time is an DeferredResult.
  virtual HandlerResult answer(Action action, ApiCall& call) = 0;

  // The response to GET /metrics with what there is to say of notebooks behind it.
  virtual DeferredResult add_metrics(Response response) = 0;
};

}  // namespace eventq::http
