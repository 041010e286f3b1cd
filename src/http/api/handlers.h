// handlers.h: the handlers, one per row of the route table, and what they share.
//
// A handler checks the request, makes one command of it and renders the answer.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "http/api/routes.h"

namespace eventq::http {

// handlers_publish.cc
HandlerResult publish_event(ApiCall& call);
HandlerResult publish_batch(ApiCall& call);

// handlers_work.cc
HandlerResult subscribe_by_query(ApiCall& call);
HandlerResult subscribe_by_body(ApiCall& call);
HandlerResult take_next(ApiCall& call);
HandlerResult start_event(ApiCall& call);
HandlerResult beat_event(ApiCall& call);
HandlerResult complete_event(ApiCall& call);
HandlerResult fail_event(ApiCall& call);
HandlerResult release_event(ApiCall& call);
HandlerResult complete_events(ApiCall& call);
HandlerResult fail_events(ApiCall& call);

// stream.cc
HandlerResult stream_events(ApiCall& call);

// handlers_admin.cc
HandlerResult list_events(ApiCall& call);
HandlerResult get_event(ApiCall& call);
HandlerResult explain_event(ApiCall& call);
HandlerResult reset_event(ApiCall& call);
HandlerResult cancel_event(ApiCall& call);
HandlerResult show_health(ApiCall& call);
HandlerResult show_readiness(ApiCall& call);
HandlerResult show_openapi(ApiCall& call);
HandlerResult show_dashboard(ApiCall& call);

// handlers_wait.cc
HandlerResult wait_event(ApiCall& call);
HandlerResult get_correlation(ApiCall& call);
HandlerResult wait_correlation(ApiCall& call);

// handlers_queues.cc
HandlerResult list_queues(ApiCall& call);
HandlerResult get_queue(ApiCall& call);
HandlerResult put_queue(ApiCall& call);
HandlerResult pause_queue(ApiCall& call);
HandlerResult drain_queue(ApiCall& call);
HandlerResult resume_queue(ApiCall& call);
HandlerResult make_checkpoint(ApiCall& call);
HandlerResult list_checkpoints(ApiCall& call);
HandlerResult get_recovery(ApiCall& call);
HandlerResult replay_queue(ApiCall& call);
HandlerResult supersede_events(ApiCall& call);

// handlers_observe.cc
HandlerResult list_workers(ApiCall& call);
HandlerResult list_failures(ApiCall& call);
HandlerResult redrive_failures(ApiCall& call);
HandlerResult show_metrics(ApiCall& call, const AddMetrics& add_metrics);

// Content types of CloudEvents, and whether the Accept field prefers them to JSON.
inline constexpr std::string_view kCloudEvent = "application/cloudevents+json";
inline constexpr std::string_view kCloudEvents = "application/cloudevents-batch+json";
bool wants_cloud_event(const ApiCall& call);
bool wants_cloud_events(const ApiCall& call);

// An error as the response of this call.
Response refuse(const ApiCall& call, const Error& error);
// The body as JSON, or the response that says why it is none.
std::variant<JsonValue, Response> read_json(ApiCall& call);
// For routes without parameters, and for routes without a body: the response that refuses a query parameter,
// or a body other than {}. Empty when there is none.
std::optional<Response> refuse_query(const ApiCall& call);
std::optional<Response> refuse_body(ApiCall& call);
// 408: `what` did not happen within `timeout`.
Response respond_too_late(const std::string& what, Millis timeout, const std::string& request_id);

}  // namespace eventq::http
