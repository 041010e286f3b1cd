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

// The timeout of a wait, whose request has no body.
Parsed<Millis> read_timeout(ApiCall& call) {
  auto timeout = wire::parse_timeout(call.query, kUsualWait);
  if (!timeout) return timeout;
  if (auto problem = refuse_body(call)) return std::move(*problem);
  return timeout;
}

// Waits for `what`, then continues with `read()`. `late` says what had not happened in time.
template <typename Read>
HandlerResult wait_for(decltype(WaitRequest::what) what, Millis timeout, std::string late, Read read) {
  EngineWork work;
  work.command.wait = WaitRequest{std::move(what), timeout};
  work.render = [timeout, late = std::move(late), read](Answer& answer) -> HandlerResult {
    if (answer.waited) return read();
    return too_late(late, timeout);
  };
  return work;
}

}  // namespace

// POST /events/{id}/wait
HandlerResult wait_event(ApiCall& call) {
  auto event = wire::parse_event_name(call.id);
  if (!event) return event.error();
  auto timeout = read_timeout(call);
  if (!timeout) return timeout.refusal();
  const auto wait = [timeout = *timeout](EventId id) {
    return wait_for(id, timeout, "Event " + id_text(id) + " has not ended", [id] { return read_event(id); });
  };
  return with_event(std::move(*event), wait, LookupThen::waits);
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
  auto timeout = read_timeout(call);
  if (!timeout) return timeout.refusal();
  return wait_for(WaitRequest::Correlated{call.name}, *timeout,
                  "Not all events with correlation_id " + call.name + " have ended",
                  [name = call.name] { return read_correlation(name, {}); });
}

}  // namespace eventq::http
