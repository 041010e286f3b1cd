// handlers_wait.cc: routes that wait for the end of one event, or of all events of a correlation.
#include <chrono>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/render.h"
#include "model/names.h"
#include "model/validate.h"
#include "wire/answer_json.h"
#include "wire/queue_requests.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

constexpr std::chrono::seconds kUsualWait{30};  // when the request has no timeout

// Reads the event after its end. With its log, because the last error is in it.
EngineWork read_event(EventId id) {
  EngineWork work;
  work.command.get = id;
  work.render = [](Answer& answer) -> HandlerResult {
    const Result<Details>& details = *answer.details;
    if (!details) return details.error();
    return json_response([&](JsonWriter& json) {
      wire::write_details(json, details->event, details->log, wire::Logs::left_out);
    });
  };
  return work;
}

EngineWork read_correlation(const std::string& id, const wire::CorrelationParameters& request) {
  return admin_work_for<Correlation>(CorrelationQuery{id, request.after, request.limit},
                                     wire::write_correlation);
}

// Waits for `what`, then continues with `read()`. `late` says what had not happened in time.
template <typename Read>
HandlerResult wait_for(ApiCall& call, decltype(WaitRequest::what) what, std::string late, Read read) {
  const auto timeout = wire::parse_timeout(call.query, kUsualWait);
  if (!timeout) return timeout.error();
  if (auto problem = refuse_body(call)) return std::move(*problem);
  EngineWork work;
  work.command.wait = WaitRequest{std::move(what), *timeout};
  work.render = [timeout = *timeout, late = std::move(late), read](Answer& answer) -> HandlerResult {
    if (answer.waited) return read();
    return too_late(late, timeout);
  };
  return work;
}

}  // namespace

// POST /events/{id}/wait
HandlerResult wait_event(ApiCall& call) {
  const auto id = wire::parse_id(call.id);
  if (!id) return id.error();
  return wait_for(call, *id, "Event " + id_text(*id) + " has not ended",
                  [id = *id] { return read_event(id); });
}

// GET /events/correlation/{name}
HandlerResult get_correlation(ApiCall& call) {
  if (auto fault = validate_correlation_id(call.name)) return *fault;
  const auto request = wire::parse_correlation_query(call.query);
  if (!request) return request.error();
  return read_correlation(call.name, *request);
}

// POST /events/correlation/{name}/wait
HandlerResult wait_correlation(ApiCall& call) {
  if (auto fault = validate_correlation_id(call.name)) return *fault;
  return wait_for(call, WaitRequest::Correlated{call.name},
                  "Not all events with correlation_id " + call.name + " have ended",
                  [name = call.name] { return read_correlation(name, {}); });
}

}  // namespace eventq::http
