// handlers_observe.cc: routes that show workers, failures and metrics, and the retry of failures.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/media_type.h"
#include "http/api/render.h"
#include "model/validate.h"
#include "wire/answer_json.h"
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

// A shard that does not answer may know the worker.
Error no_worker(const std::string& name, bool partial) {
  if (partial) {
    return {ErrorCode::unavailable,
            "Worker \"" + name + "\" is not known to the shards that answered. Others did not answer.", ""};
  }
  return {
      ErrorCode::not_found,
      "There is no worker \"" + name +
          "\". The server knows workers that called lately; GET /workers/{name}/log lists what a worker did.",
      "worker_id"};
}

}  // namespace

// GET /workers
HandlerResult list_workers(ApiCall&) {
  return admin_work(WorkersRequest{}, [](Answer& answer) {
    const auto& workers = std::get<std::vector<ListedWorker>>(answer.admin);
    return json_response([&](JsonWriter& json) { wire::write_workers(json, workers); });
  });
}

// GET /workers/{name}
HandlerResult get_worker(ApiCall& call) {
  return admin_work(WorkersRequest{}, [name = call.name](Answer& answer) -> HandlerResult {
    const auto& workers = std::get<std::vector<ListedWorker>>(answer.admin);
    const auto found = std::find_if(workers.begin(), workers.end(),
                                    [&](const ListedWorker& worker) { return worker.row.id == name; });
    if (found == workers.end()) return no_worker(name, !answer.missing.empty());
    return json_response([&](JsonWriter& json) { wire::write_worker(json, *found); });
  });
}

// DELETE /workers/{name}
HandlerResult sign_off_worker(ApiCall& call) {
  if (auto fault = validate_worker_id(call.name)) return *fault;
  return admin_work(SignOff{call.name}, [](Answer&) {
    Response response;
    response.status = 204;
    return response;
  });
}

// GET /workers/{name}/log
HandlerResult list_worker_log(ApiCall& call) {
  auto filter = wire::parse_worker_log_query(call.name, call.query);
  if (!filter) return filter.error();
  const auto write = [worker_id = filter->worker_id](JsonWriter& json, const WorkerLogPage& page) {
    wire::write_worker_log(json, worker_id, page);
  };
  return admin_work_for<WorkerLogPage>(WorkerLogQuery{std::move(*filter)}, write);
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
