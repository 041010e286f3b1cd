// actor_fields.h: the members or parameters `by` and `reason` of a change that a person asks for.
#pragma once

#include "model/query.h"

namespace eventq::wire {

// Reads them from Fields or QueryFields. validate() of model/validate.h checks them.
template <typename AnyFields>
Actor read_actor(AnyFields& fields) {
  Actor actor;
  actor.by = fields.text("by").value_or("");
  actor.reason = fields.text("reason").value_or("");
  return actor;
}

}  // namespace eventq::wire
