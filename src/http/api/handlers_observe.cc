// handlers_observe.cc: routes that show workers, failures and metrics, and the redrive of failures.
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/api/admin_answer.h"
#include "http/api/handlers.h"
#include "http/api/media_type.h"
#include "http/api/problem.h"
#include "wire/observe_json.h"
#include "wire/prometheus.h"
#include "wire/queue_json.h"
#include "wire/queue_requests.h"

namespace eventq::http {
namespace {

// Prometheus names text types in Accept. The answer is JSON only for a client that names JSON and does not
// prefer text.
bool wants_json(std::string_view accept) {
  const double json = accept_quality(accept, "application/json");
  return json > 0 && json >= accept_quality(accept, "text/plain");
}

}  // namespace

// GET /workers
HandlerResult list_workers(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  EngineWork work;
  work.command.admin = WorkersRequest{};
  work.render = [](Answer& answer) {
    Response response;
    JsonWriter json(response.body);
    wire::write_workers(json, std::get<std::vector<WorkerState>>(answer.admin));
    return response;
  };
  return work;
}

// GET /failures
HandlerResult list_failures(ApiCall& call) {
  auto request = wire::parse_failures_query(call.query);
  if (!request) return refuse(call, request.error());
  EngineWork work;
  work.command.admin = FailuresQuery{std::move(request->queue), request->limit};
  work.render = render_admin<std::vector<FailureGroup>>(call.request_id, wire::write_failures);
  return work;
}

// POST /failures/redrive
HandlerResult redrive_failures(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto request = wire::parse_redrive(std::get<JsonValue>(body));
  if (!request) return refuse(call, request.error());
  EngineWork work;
  work.render = render_admin<Revived>(
      call.request_id, [dry_run = request->dry_run](JsonWriter& json, const Revived& it) {
        wire::write_redrive(json, {it.matched, it.events, dry_run, it.more, it.next});
      });
  work.command.admin = Revival{RevivalKind::redrive, std::move(request->filter), std::nullopt,
                               std::move(request->reason), request->dry_run};
  return work;
}

// GET /metrics
HandlerResult show_metrics(ApiCall& call, const AddMetrics& add_metrics) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  EngineWork work;
  work.command.admin = MetricsRequest{};
  work.render = [json = wants_json(call.request.headers.accept),
                 add_metrics](Answer& answer) -> HandlerResult {
    const auto& metrics = std::get<Metrics>(answer.admin);
    Response response;
    response.headers.emplace_back("Vary", "Accept");
    if (json) {
      JsonWriter writer(response.body);
      wire::write_metrics(writer, metrics);
    } else {
      response.content_type = wire::kPrometheusType;
      response.body = wire::write_prometheus(metrics, EVENTQ_VERSION);
      if (add_metrics) return add_metrics(std::move(response));
    }
    return response;
  };
  return work;
}

}  // namespace eventq::http
