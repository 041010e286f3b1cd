// handlers_observe.cc: how it goes, for people, scrapers and whoever mends what failed.
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/handlers.h"
#include "http/media_type.h"
#include "http/problem.h"
#include "wire/observe_json.h"
#include "wire/prometheus.h"
#include "wire/queue_json.h"
#include "wire/queue_requests.h"

namespace eventq::http {
namespace {

// Scrapers name a type of text; only who asks for JSON, and not for text rather, gets it.
bool wants_json(std::string_view accept) {
  const double json = wanted(accept, "application/json");
  return json > 0 && json >= wanted(accept, "text/plain");
}

}  // namespace

// GET /workers
Handled list_workers(Call& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  Work work;
  work.command.ask = AskWorkers{};
  work.render = [](Answer& answer) {
    Response response;
    JsonWriter json(response.body);
    wire::write_workers(json, std::get<std::vector<WorkerState>>(answer.told));
    return response;
  };
  return work;
}

// GET /failures
Handled list_failures(Call& call) {
  auto request = wire::parse_failures_query(call.query);
  if (!request) return refuse(call, request.error());
  Work work;
  work.command.ask = AskFailures{std::move(request->queue), request->limit};
  work.render = [request_id = call.request_id](Answer& answer) {
    const auto& failures = std::get<Result<std::vector<FailureGroup>>>(answer.told);
    if (!failures) return respond_with(problem_of(failures.error()), request_id);
    Response response;
    JsonWriter json(response.body);
    wire::write_failures(json, *failures);
    return response;
  };
  return work;
}

// POST /failures/redrive
Handled redrive_failures(Call& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto request = wire::parse_redrive(std::get<JsonValue>(body));
  if (!request) return refuse(call, request.error());
  Work work;
  work.render = [dry_run = request->dry_run, request_id = call.request_id](Answer& answer) {
    const auto& revived = std::get<Result<Revived>>(answer.told);
    if (!revived) return respond_with(problem_of(revived.error()), request_id);
    Response response;
    JsonWriter json(response.body);
    wire::write_redrive(json, {revived->matched, revived->events, dry_run, revived->more, revived->next});
    return response;
  };
  work.command.ask = Revival{Revival::Kind::redrive, std::move(request->filter), std::nullopt,
                             std::move(request->reason), request->dry_run};
  return work;
}

// GET /metrics
Handled show_metrics(Call& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  Work work;
  work.command.ask = AskMetrics{};
  work.render = [json = wants_json(call.request.headers.accept)](Answer& answer) {
    const auto& metrics = std::get<Metrics>(answer.told);
    Response response;
    response.headers.emplace_back("Vary", "Accept");
    if (json) {
      JsonWriter writer(response.body);
      wire::write_metrics(writer, metrics);
    } else {
      response.content_type = wire::kPrometheusType;
      response.body = wire::write_prometheus(metrics, EVENTQ_VERSION);
    }
    return response;
  };
  return work;
}

}  // namespace eventq::http
