// handlers_queues.cc: routes of queues: show, configure, pause, drain, checkpoint, replay.
//
// The response to a change shows the queue after it, so a read follows the change.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/api/admin_answer.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "model/validate.h"
#include "wire/config_json.h"
#include "wire/queue_json.h"
#include "wire/queue_requests.h"

namespace eventq::http {
namespace {

std::optional<Response> refuse_name(const ApiCall& call) {
  const auto fault = validate_queue_name(call.name);
  return fault ? std::optional(refuse(call, *fault)) : std::nullopt;
}

// Renders a queue. A copy outlives the ApiCall.
struct QueueView {
  const Policy* defaults = nullptr;
  std::string request_id;

  explicit QueueView(ApiCall& call) : defaults(&call.defaults), request_id(call.request_id) {}

  // Empty on success; otherwise the error in the stored settings of the queue.
  std::optional<Error> write(JsonWriter& json, const QueueDocument& queue, wire::QueueEvents events) const {
    const auto policy = policy_of(queue.row, *defaults);
    if (!policy) return policy.error();
    wire::write_queue(json, queue, *policy, events);
    return std::nullopt;
  }

  Response render(const Result<QueueDocument>& queue, wire::QueueEvents events, int status) const {
    if (!queue) return respond_with(problem_of(queue.error()), request_id);
    Response response;
    response.status = status;
    JsonWriter json(response.body);
    if (auto fault = write(json, *queue, events)) return respond_with(problem_of(*fault), request_id);
    return response;
  }
};

// The error of a read that follows a change. The change is on disk, so the problem must not say "unchanged".
Response respond_unseen(const Error& error, const std::string& request_id) {
  wire::Problem problem = problem_of(error);
  problem.message = "The change was made, but the queue cannot be shown: " + problem.message;
  problem.outcome = {};
  return respond_with(std::move(problem), request_id);
}

// Shows the queue after a change.
EngineWork show_changed(const std::string& name, const QueueView& view, int status) {
  EngineWork work;
  work.command.admin = QueueQuery{name, 0};
  work.sees_errors = true;
  work.render = [view, status](Answer& answer) {
    if (answer.error) return respond_unseen(*answer.error, view.request_id);
    const auto& queue = std::get<Result<QueueDocument>>(answer.admin);
    if (!queue) return respond_unseen(queue.error(), view.request_id);
    return view.render(queue, wire::QueueEvents::left_out, status);
  };
  return work;
}

// The optional body with the reason and the author of a change.
std::variant<wire::Remark, Response> read_remark(ApiCall& call) {
  if (call.request.body.empty()) return wire::Remark();
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto remark = wire::parse_remark(std::get<JsonValue>(body));
  if (!remark) return refuse(call, remark.error());
  return std::move(*remark);
}

// Waits until the draining queue is empty.
EngineWork wait_until_empty(const std::string& name, const QueueView& view, Millis timeout) {
  EngineWork work;
  work.command.wait = WaitRequest{WaitRequest::Drained{name}, timeout};
  work.sees_errors = true;
  work.render = [name, view, timeout](Answer& answer) -> HandlerResult {
    if (answer.error) return respond_unseen(*answer.error, view.request_id);
    if (answer.waited) return show_changed(name, view, 200);
    return respond_too_late("Queue " + name + " is draining, but not empty", timeout, view.request_id);
  };
  return work;
}

HandlerResult set_status(ApiCall& call, QueueStatus status, std::optional<Millis> wait) {
  if (auto problem = refuse_name(call)) return std::move(*problem);
  auto remark = read_remark(call);
  if (auto* problem = std::get_if<Response>(&remark)) return std::move(*problem);
  auto& [reason, by] = std::get<wire::Remark>(remark);
  EngineWork work;
  work.command.admin =
      QueueChange{call.name, QueueChange::SetStatus{status, std::move(by), std::move(reason)}};
  work.render = [name = call.name, view = QueueView(call), wait](Answer& answer) -> HandlerResult {
    const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
    if (!changed) return respond_with(problem_of(changed.error()), view.request_id);
    if (wait) return wait_until_empty(name, view, *wait);
    return show_changed(name, view, 200);
  };
  return work;
}

}  // namespace

// GET /queues
HandlerResult list_queues(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  EngineWork work;
  work.command.admin = QueuesQuery{};
  work.render = [view = QueueView(call)](Answer& answer) {
    const auto& queues = std::get<Result<std::vector<QueueDocument>>>(answer.admin);
    if (!queues) return respond_with(problem_of(queues.error()), view.request_id);
    Response response;
    JsonWriter json(response.body);
    json.begin_object().key("queues").begin_array();
    for (const QueueDocument& queue : *queues) {
      if (auto fault = view.write(json, queue, wire::QueueEvents::left_out)) {
        return respond_with(problem_of(*fault), view.request_id);
      }
    }
    json.end_array().end_object();
    return response;
  };
  return work;
}

// GET /queues/{name}
HandlerResult get_queue(ApiCall& call) {
  if (auto problem = refuse_name(call)) return std::move(*problem);
  const auto events = wire::parse_event_count(call.query);
  if (!events) return refuse(call, events.error());
  EngineWork work;
  work.command.admin = QueueQuery{call.name, *events};
  const auto shown = *events > 0 ? wire::QueueEvents::shown : wire::QueueEvents::left_out;
  work.render = [view = QueueView(call), shown](Answer& answer) {
    return view.render(std::get<Result<QueueDocument>>(answer.admin), shown, 200);
  };
  return work;
}

// PUT /queues/{name}
HandlerResult put_queue(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto config = wire::parse_config_body(std::get<JsonValue>(body));
  if (!config) return refuse(call, config.error());
  if (auto fault = validate(call.name, *config, call.defaults)) return refuse(call, *fault);
  EngineWork work;
  work.command.admin = QueueChange{call.name, QueueChange::Configure{*config}};
  work.render = [name = call.name, view = QueueView(call)](Answer& answer) -> HandlerResult {
    const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
    if (!changed) return respond_with(problem_of(changed.error()), view.request_id);
    return show_changed(name, view, changed->created ? 201 : 200);
  };
  return work;
}

// POST /queues/{name}/pause
HandlerResult pause_queue(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  return set_status(call, QueueStatus::paused, std::nullopt);
}

// POST /queues/{name}/drain. With ?timeout the response waits that long for the queue to be empty. Without it
// the response comes at once; ?timeout=0 answers 408 unless the queue is empty already.
HandlerResult drain_queue(ApiCall& call) {
  const auto timeout = wire::parse_timeout(call.query, Millis(0));
  if (!timeout) return refuse(call, timeout.error());
  return set_status(call, QueueStatus::draining, call.query.empty() ? std::nullopt : std::optional(*timeout));
}

// POST /queues/{name}/resume
HandlerResult resume_queue(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  return set_status(call, QueueStatus::active, std::nullopt);
}

// POST /queues/{name}/checkpoint
HandlerResult make_checkpoint(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  if (auto problem = refuse_name(call)) return std::move(*problem);
  if (auto problem = refuse_body(call)) return std::move(*problem);
  EngineWork work;
  work.command.admin = QueueChange{call.name, QueueChange::MakeCheckpoint{}};
  const auto write = [](JsonWriter& json, const QueueChanged& it) {
    wire::write_checkpoint(json, it.checkpoint.value());
  };
  work.render = render_admin<QueueChanged>(call.request_id, write, 201);
  return work;
}

// GET /queues/{name}/checkpoints
HandlerResult list_checkpoints(ApiCall& call) {
  if (auto problem = refuse_name(call)) return std::move(*problem);
  const auto limit = wire::parse_limit(call.query);
  if (!limit) return refuse(call, limit.error());
  EngineWork work;
  work.command.admin = CheckpointsQuery{call.name, *limit};
  work.render = render_admin<std::vector<Checkpoint>>(call.request_id, wire::write_checkpoints);
  return work;
}

// GET /queues/{name}/recovery
HandlerResult get_recovery(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  if (auto problem = refuse_name(call)) return std::move(*problem);
  EngineWork work;
  work.command.admin = RecoveryQuery{call.name};
  work.render = render_admin<Recovery>(call.request_id, wire::write_recovery);
  return work;
}

// POST /queues/{name}/replay
HandlerResult replay_queue(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  if (auto problem = refuse_name(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto request = wire::parse_replay(std::get<JsonValue>(body), call.name);
  if (!request) return refuse(call, request.error());
  EngineWork work;
  work.render = render_admin<Revived>(
      call.request_id, [dry_run = request->dry_run](JsonWriter& json, const Revived& it) {
        wire::write_replay(json, {it.matched, it.events, dry_run, it.more, it.next});
      });
  work.command.admin = Revival{RevivalKind::replay, std::move(request->filter),
                               std::move(request->checkpoint), std::move(request->reason), request->dry_run};
  return work;
}

// POST /queues/{name}/supersede
HandlerResult supersede_events(ApiCall& call) {
  if (auto problem = refuse_query(call)) return std::move(*problem);
  if (auto problem = refuse_name(call)) return std::move(*problem);
  auto body = read_json(call);
  if (auto* problem = std::get_if<Response>(&body)) return std::move(*problem);
  auto request = wire::parse_supersede(std::get<JsonValue>(body));
  if (!request) return refuse(call, request.error());
  EngineWork work;
  work.command.admin =
      QueueChange{call.name, QueueChange::SupersedeKey{std::move(request->key), std::move(request->reason)}};
  work.render = render_admin<QueueChanged>(call.request_id, [](JsonWriter& json, const QueueChanged& it) {
    wire::write_superseded(json, it.superseded);
  });
  return work;
}

}  // namespace eventq::http
