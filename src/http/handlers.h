// handlers.h: one function per row of the route table. Parse, one command, answer.
#pragma once

#include "http/call.h"

namespace eventq::http {

// handlers_publish.cc
Handled publish_event(Call& call);
Handled publish_batch(Call& call);

// handlers_work.cc
Handled subscribe_by_query(Call& call);
Handled subscribe_by_body(Call& call);
Handled take_turn(Call& call);
Handled start_event(Call& call);
Handled beat_event(Call& call);
Handled complete_event(Call& call);
Handled fail_event(Call& call);
Handled complete_events(Call& call);
Handled fail_events(Call& call);

// handlers_admin.cc
Handled list_events(Call& call);
Handled get_event(Call& call);
Handled explain_event(Call& call);
Handled reset_event(Call& call);
Handled cancel_event(Call& call);
Handled show_health(Call& call);
Handled show_readiness(Call& call);
Handled show_openapi(Call& call);
Handled show_dashboard(Call& call);

// Shared: an error as this call's response; the call's body as JSON.
Response refuse(const Call& call, const Error& error);
std::variant<JsonValue, Response> read_json(Call& call);
// Refuses any query parameter, for routes that have none.
std::optional<Response> refuse_query(const Call& call);

}  // namespace eventq::http
