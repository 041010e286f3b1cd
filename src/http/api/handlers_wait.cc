// handlers_wait.cc: routes that wait for the end of one event, or of all events of a correlation.
#include <chrono>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "http/api/admin_answer.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "model/validate.h"
#include "wire/answer_json.h"
#include "wire/queue_requests.h"
#include "wire/request_json.h"

namespace eventq::http {
namespace {

constexpr std::chrono::seconds kUsualWait{30};

EngineWork read_event(EventId id, const std::string& request_id) {
  EngineWork work;
  work.command.get = Command::Get{id, true};
  work.render = [request_id](Answer& answer) {
    const Result<Details>& details = *answer.details;
    if (!details) return respond_with(problem_of(details.error()), request_id);
    Response response;
    JsonWriter json(response.body);
    wire::write_details(json, details->event, details->log, wire::Logs::left_out);
    return response;
  };
  return work;
}

EngineWork read_correlation(const std::string& id, const wire::CorrelationParameters& request,
                            const std::string& request_id) {
  EngineWork work;
  work.command.admin = CorrelationQuery{id, request.after, request.limit};
  work.render = render_admin<Correlation>(request_id, wire::write_correlation);
  return work;
}

}  // namespace

// POST /events/{id}/wait
HandlerResult wait_event(ApiCall& call) {
  const auto id = wire::parse_id(call.id);
  if (!id) return refuse(call, id.error());
  const auto timeout = wire::parse_timeout(call.query, kUsualWait);
  if (!timeout) return refuse(call, timeout.error());
  if (auto problem = refuse_body(call)) return std::move(*problem);
  EngineWork work;
  work.command.wait = WaitRequest{*id, *timeout};
  work.render = [id = *id, timeout = *timeout,
                 request_id = call.request_id](Answer& answer) -> HandlerResult {
    if (answer.waited) return read_event(id, request_id);
    const std::string number = std::to_string(static_cast<std::int64_t>(id));
    return respond_too_late("Event " + number + " has not ended", timeout, request_id);
  };
  return work;
}

// GET /events/correlation/{name}
HandlerResult get_correlation(ApiCall& call) {
  if (auto fault = validate_correlation_id(call.name)) return refuse(call, *fault);
  const auto request = wire::parse_correlation_query(call.query);
  if (!request) return refuse(call, request.error());
  return read_correlation(call.name, *request, call.request_id);
}

// POST /events/correlation/{name}/wait
HandlerResult wait_correlation(ApiCall& call) {
  if (auto fault = validate_correlation_id(call.name)) return refuse(call, *fault);
  const auto timeout = wire::parse_timeout(call.query, kUsualWait);
  if (!timeout) return refuse(call, timeout.error());
  if (auto problem = refuse_body(call)) return std::move(*problem);
  EngineWork work;
  work.command.wait = WaitRequest{WaitRequest::Correlated{call.name}, *timeout};
  work.render = [name = call.name, timeout = *timeout,
                 request_id = call.request_id](Answer& answer) -> HandlerResult {
    if (answer.waited) return read_correlation(name, {}, request_id);
    return respond_too_late("Not all events with correlation_id " + name + " have ended", timeout,
                            request_id);
  };
  return work;
}

}  // namespace eventq::http
