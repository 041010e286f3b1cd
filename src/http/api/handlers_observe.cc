// handlers_observe.cc: routes that show workers, failures and metrics, and the retry of failures.
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/media_type.h"
#include "http/api/render.h"
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

// `count` is the member with the number of retried events. It must be a literal.
HandlerResult retry(ApiCall& call, std::string_view count) {
  auto request = read_body(call, wire::parse_retry);
  if (!request) return request.refusal();
  const bool dry_run = request->dry_run;
  const auto write = [dry_run, count](JsonWriter& json, const Revived& it) {
    wire::write_retried(json, {it.matched, it.events, dry_run, it.more, it.next}, count);
  };
  return admin_work_for<Revived>(
      Revival{RevivalKind::retry, std::move(request->filter), std::nullopt, std::move(request->actor.reason),
              dry_run, std::move(request->actor.by)},
      write);
}

}  // namespace

// GET /workers
HandlerResult list_workers(ApiCall&) {
  return admin_work(WorkersRequest{}, [](Answer& answer) {
    const auto& workers = std::get<std::vector<WorkerState>>(answer.admin);
    return json_response([&](JsonWriter& json) { wire::write_workers(json, workers); });
  });
}

// GET /failures
HandlerResult list_failures(ApiCall& call) {
  auto request = wire::parse_failures_query(call.query);
  if (!request) return request.error();
  return admin_work_for<std::vector<FailureGroup>>(FailuresQuery{std::move(request->queue), request->limit},
                                                   wire::write_failures);
}

// POST /failures/retry
HandlerResult retry_failures(ApiCall& call) { return retry(call, "retried"); }

// POST /failures/redrive: the earlier name of the route.
HandlerResult retry_failures_as_before(ApiCall& call) { return retry(call, "redriven"); }

// GET /metrics
HandlerResult show_metrics(ApiCall& call, const AddMetrics& add_metrics) {
  const bool as_json = wants_json(call.request.headers.accept);
  return admin_work(MetricsRequest{}, [as_json, add_metrics](Answer& answer) -> HandlerResult {
    const auto& metrics = std::get<Metrics>(answer.admin);
    Response response;
    response.headers.emplace_back("Vary", "Accept");  // one URL has two formats
    if (as_json) {
      JsonWriter json(response.body);
      wire::write_metrics(json, metrics);
      return response;
    }
    response.content_type = wire::kPrometheusType;
    response.body = wire::write_prometheus(metrics, EVENTQ_VERSION);
    return add_metrics ? add_metrics(std::move(response)) : std::move(response);
  });
}

}  // namespace eventq::http
