// handlers.h: the handlers, one per row of the route table, and what they share.
//
// A handler checks the request, makes one command of it and renders the answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/steady.h"
#include "http/api/routes.h"
#include "wire/request_json.h"

namespace eventq::http {

// handlers_publish.cc
HandlerResult publish_event(ApiCall& call);
HandlerResult publish_batch(ApiCall& call);

// handlers_work.cc
HandlerResult subscribe_by_query(ApiCall& call);
HandlerResult subscribe_by_body(ApiCall& call);
HandlerResult take_next(ApiCall& call);
// The handlers of reports on one event, and of lists of reports.
Handler report_on_one(wire::ReportKind kind);
Handler report_on_many(wire::ReportKind kind);

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
HandlerResult patch_queue(ApiCall& call);
HandlerResult delete_queue(ApiCall& call, const RefuseRemoval& refuse_removal);
HandlerResult pause_queue(ApiCall& call);
HandlerResult drain_queue(ApiCall& call);
HandlerResult resume_queue(ApiCall& call);
HandlerResult make_checkpoint(ApiCall& call);
HandlerResult list_checkpoints(ApiCall& call);
HandlerResult delete_checkpoint(ApiCall& call);
HandlerResult get_recovery(ApiCall& call);
HandlerResult replay_queue(ApiCall& call);
HandlerResult supersede_events(ApiCall& call);
HandlerResult list_queue_log(ApiCall& call);

// handlers_observe.cc
HandlerResult list_workers(ApiCall& call);
HandlerResult get_worker(ApiCall& call);
HandlerResult sign_off_worker(ApiCall& call);
HandlerResult list_worker_log(ApiCall& call);
HandlerResult list_failures(ApiCall& call);
HandlerResult retry_failures(ApiCall& call);
HandlerResult retry_failures_as_before(ApiCall& call);
HandlerResult show_metrics(ApiCall& call, const AddMetrics& add_metrics);

// handlers_overview.cc. `started` is when the server began to serve.
HandlerResult show_overview(ApiCall& call, SteadyTime started);

// Content types of CloudEvents, and whether the Accept field prefers them to JSON.
inline constexpr std::string_view kCloudEvent = "application/cloudevents+json";
inline constexpr std::string_view kCloudEvents = "application/cloudevents-batch+json";
bool wants_cloud_event(const ApiCall& call);
bool wants_cloud_events(const ApiCall& call);

// A value read from a request, or why the request is refused: an Error, or a Response where no ErrorCode
// fits.
template <typename T>
class Parsed {
 public:
  Parsed(Result<T> result) : result_(std::move(result)) {}
  Parsed(Response response) : result_(Error()), response_(std::move(response)) {}

  explicit operator bool() const { return result_.has_value(); }

  // REQUIRES: there is a value.
  T& operator*() { return *result_; }
  T* operator->() { return &*result_; }

  // REQUIRES: there is no value.
  HandlerResult refusal() {
    if (response_) return std::move(*response_);
    return result_.error();
  }

 private:
  Result<T> result_;
  std::optional<Response> response_;
};

// What a call does after the lookup of an event_id: it answers, or it claims events or waits.
enum class LookupThen : std::uint8_t { answers, waits };
// Calls `act` with the event of each event_id, or with the error not_found, or conflict if two shards have
// one. `act` runs after the ApiCall is gone, so it must hold values only. See handlers_name.cc.
HandlerResult find_events(std::vector<std::string> event_ids,
                          std::function<HandlerResult(const std::vector<Result<EventId>>&)> act,
                          LookupThen then);
// The same for one event: calls `act` with its number, at once if the request has the number.
template <typename Act>
HandlerResult with_event(wire::EventName&& event, Act act, LookupThen then = LookupThen::answers) {
  if (event.event_id.empty()) return act(event.id);
  auto act_on = [act = std::move(act)](const std::vector<Result<EventId>>& found) mutable {
    return found.front() ? act(*found.front()) : HandlerResult(found.front().error());
  };
  return find_events({std::move(event.event_id)}, std::move(act_on), then);
}

// The idempotency key of a call; empty: it has none. `more` is what decides about the result beside method,
// path and body, because the same key with another request is refused.
Result<std::optional<IdempotencyKey>> read_idempotency_key(const ApiCall& call, std::string_view more);

// An error as the response of this call.
Response refuse(const ApiCall& call, const Error& error);
// The body as JSON, or the response that says why it is none.
std::variant<JsonValue, Response> read_json(ApiCall& call);
std::variant<JsonValue, Response> read_json(ApiCall& call, JsonParser& parser);
// The body as `parse` reads it: a function from a JsonValue to a Result.
template <typename Parse>
Parsed<typename std::invoke_result_t<Parse, const JsonValue&>::value_type> read_body(ApiCall& call,
                                                                                     Parse parse) {
  auto body = read_json(call);
  if (auto* refusal = std::get_if<Response>(&body)) return std::move(*refusal);
  return parse(std::get<JsonValue>(body));
}
// For routes without parameters, and for routes without a body: the response that refuses a query parameter,
// or a body other than {}. Empty when there is none.
std::optional<Response> refuse_query(const ApiCall& call);
std::optional<Response> refuse_body(ApiCall& call);
// `what` did not happen within `timeout`.
Error too_late(const std::string& what, Millis timeout);
// The answer to one change.
HandlerResult render_change(const Answer& answer);

}  // namespace eventq::http
