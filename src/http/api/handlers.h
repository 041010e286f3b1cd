// handlers.h: one function per row of the route table. Parse, one command, answer.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "http/api/call.h"
#include "http/api/notebooks.h"

namespace eventq::http {

// handlers_publish.cc
Handled publish_event(Call& call);
Handled publish_batch(Call& call);

// handlers_work.cc
Handled subscribe_by_query(Call& call);
Handled subscribe_by_body(Call& call);
Handled take_next(Call& call);
Handled start_event(Call& call);
Handled beat_event(Call& call);
Handled complete_event(Call& call);
Handled fail_event(Call& call);
Handled release_event(Call& call);
Handled complete_events(Call& call);
Handled fail_events(Call& call);

// stream.cc
Handled stream_events(Call& call);

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

// handlers_wait.cc
Handled wait_event(Call& call);
Handled get_correlation(Call& call);
Handled wait_correlation(Call& call);

// handlers_queues.cc
Handled list_queues(Call& call);
Handled get_queue(Call& call);
Handled put_queue(Call& call);
Handled pause_queue(Call& call);
Handled drain_queue(Call& call);
Handled resume_queue(Call& call);
Handled make_checkpoint(Call& call);
Handled list_checkpoints(Call& call);
Handled get_recovery(Call& call);
Handled replay_queue(Call& call);
Handled supersede_events(Call& call);

// handlers_observe.cc
Handled list_workers(Call& call);
Handled list_failures(Call& call);
Handled redrive_failures(Call& call);
Handled show_metrics(Call& call);

// handlers_notebooks.cc
Handled ask_notebooks(Call& call, Notebooks::Action action);

// Shared: the asker wants CloudEvents, one or a batch of them; their content type.
inline constexpr std::string_view kCloudEvent = "application/cloudevents+json";
inline constexpr std::string_view kCloudEvents = "application/cloudevents-batch+json";
bool wants_cloud_event(const Call& call);
bool wants_cloud_events(const Call& call);

// Shared: an error as this call's response; the call's body as JSON.
Response refuse(const Call& call, const Error& error);
std::variant<JsonValue, Response> read_json(Call& call);
// Refuses any query parameter, for routes that have none; any body but {}, for routes without one.
std::optional<Response> refuse_query(const Call& call);
std::optional<Response> refuse_body(Call& call);
// The answer to a wait that was in vain.
Response respond_too_late(const std::string& what, Millis timeout, const std::string& request_id);

}  // namespace eventq::http
