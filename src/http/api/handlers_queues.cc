// handlers_queues.cc: routes of queues: show, configure, pause, drain, checkpoint, replay.
//
// The response to a change shows the queue after it, so a read follows the change.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "http/api/render.h"
#include "model/validate.h"
#include "wire/config_json.h"
#include "wire/queue_json.h"
#include "wire/queue_requests.h"

namespace eventq::http {
namespace {

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

  HandlerResult render(const Result<QueueDocument>& queue, wire::QueueEvents events, int status) const {
    if (!queue) return queue.error();
    Response response;
    response.status = status;
    JsonWriter json(response.body);
    if (auto fault = write(json, *queue, events)) return *fault;
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
  auto work = admin_work(QueueQuery{name, 0}, [view, status](Answer& answer) -> HandlerResult {
    if (answer.error) return respond_unseen(*answer.error, view.request_id);
    const auto& queue = std::get<Result<QueueDocument>>(answer.admin);
    if (!queue) return respond_unseen(queue.error(), view.request_id);
    return view.render(queue, wire::QueueEvents::left_out, status);
  });
  work.sees_errors = true;
  return work;
}

// The optional body with the author and the reason of a change.
Parsed<Actor> read_actor(ApiCall& call) {
  if (call.request.body.empty()) return Result(Actor());
  return read_body(call, [](const JsonValue& body) { return wire::parse_actor(body); });
}

// Waits until the draining queue is empty.
EngineWork wait_until_empty(const std::string& name, const QueueView& view, Millis timeout) {
  EngineWork work;
  work.command.wait = WaitRequest{WaitRequest::Drained{name}, timeout};
  work.sees_errors = true;
  work.render = [name, view, timeout](Answer& answer) -> HandlerResult {
    if (answer.error) return respond_unseen(*answer.error, view.request_id);
    if (answer.waited) return show_changed(name, view, 200);
    return too_late("Queue " + name + " is draining, but not empty", timeout);
  };
  return work;
}

HandlerResult set_status(ApiCall& call, QueueStatus status, std::optional<Millis> wait) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto actor = read_actor(call);
  if (!actor) return actor.refusal();
  return admin_work(QueueChange{call.name, QueueChange::SetStatus{status}, std::move(*actor)},
                    [name = call.name, view = QueueView(call), wait](Answer& answer) -> HandlerResult {
                      const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
                      if (!changed) return changed.error();
                      if (wait) return wait_until_empty(name, view, *wait);
                      return show_changed(name, view, 200);
                    });
}

template <typename What>
HandlerResult configure(ApiCall& call, What what) {
  auto actor = wire::parse_actor(call.query);
  if (!actor) return actor.error();
  return admin_work(QueueChange{call.name, std::move(what), std::move(*actor)},
                    [name = call.name, view = QueueView(call)](Answer& answer) -> HandlerResult {
                      const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
                      if (!changed) return changed.error();
                      return show_changed(name, view, changed->created ? 201 : 200);
                    });
}

}  // namespace

// GET /queues
HandlerResult list_queues(ApiCall& call) {
  return admin_work(QueuesQuery{}, [view = QueueView(call)](Answer& answer) -> HandlerResult {
    const auto& queues = std::get<Result<std::vector<QueueDocument>>>(answer.admin);
    if (!queues) return queues.error();
    Response response;
    JsonWriter json(response.body);
    json.begin_object().key("queues").begin_array();
    for (const QueueDocument& queue : *queues) {
      if (auto fault = view.write(json, queue, wire::QueueEvents::left_out)) return *fault;
    }
    json.end_array().end_object();
    return response;
  });
}

// GET /queues/{name}
HandlerResult get_queue(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  const auto events = wire::parse_event_count(call.query);
  if (!events) return events.error();
  const auto shown = *events > 0 ? wire::QueueEvents::shown : wire::QueueEvents::left_out;
  return admin_work(QueueQuery{call.name, *events}, [view = QueueView(call), shown](Answer& answer) {
    return view.render(std::get<Result<QueueDocument>>(answer.admin), shown, 200);
  });
}

// PUT /queues/{name}. The body may be a queue as GET shows it, whose events nest their payloads deeper than a
// publication does.
HandlerResult put_queue(ApiCall& call) {
  JsonParser parser(kAnswerDepth);
  auto body = read_json(call, parser);
  if (auto* refusal = std::get_if<Response>(&body)) return std::move(*refusal);
  const auto config = wire::parse_config_body(std::get<JsonValue>(body), call.name);
  if (!config) return config.error();
  if (auto fault = validate(call.name, *config, call.defaults)) return *fault;
  return configure(call, QueueChange::Configure{*config, true});
}

// PATCH /queues/{name}
HandlerResult patch_queue(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto patch = read_body(call, wire::parse_config_patch);
  if (!patch) return patch.refusal();
  return configure(call, QueueChange::Patch{*patch});
}

// DELETE /queues/{name}
HandlerResult delete_queue(ApiCall& call, const RefuseRemoval& refuse_removal) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  if (auto problem = refuse_body(call)) return std::move(*problem);
  if (auto fault = refuse_removal ? refuse_removal(call.name) : std::nullopt) return *fault;
  auto actor = wire::parse_actor(call.query);
  if (!actor) return actor.error();
  const auto write = [](JsonWriter& json, const QueueChanged& it) {
    json.begin_object().key("id").string(it.row.id).key("deleted").boolean(true).end_object();
  };
  return admin_work_for<QueueChanged>(QueueChange{call.name, QueueChange::Remove{}, std::move(*actor)},
                                      write);
}

// POST /queues/{name}/pause
HandlerResult pause_queue(ApiCall& call) { return set_status(call, QueueStatus::paused, std::nullopt); }

// POST /queues/{name}/drain. With ?timeout the response waits that long for the queue to be empty. Without it
// the response comes at once; ?timeout=0 answers 408 unless the queue is empty already.
HandlerResult drain_queue(ApiCall& call) {
  const auto timeout = wire::parse_timeout(call.query, Millis(0));
  if (!timeout) return timeout.error();
  return set_status(call, QueueStatus::draining, call.query.empty() ? std::nullopt : std::optional(*timeout));
}

// POST /queues/{name}/resume
HandlerResult resume_queue(ApiCall& call) { return set_status(call, QueueStatus::active, std::nullopt); }

// POST /queues/{name}/checkpoint
HandlerResult make_checkpoint(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto actor = wire::parse_actor(call.query);
  if (!actor) return actor.error();
  if (auto problem = refuse_body(call)) return std::move(*problem);
  const auto write = [](JsonWriter& json, const QueueChanged& it) {
    wire::write_checkpoint(json, it.checkpoint.value());
  };
  return admin_work_for<QueueChanged>(
      QueueChange{call.name, QueueChange::MakeCheckpoint{}, std::move(*actor)}, write, 201);
}

// GET /queues/{name}/checkpoints
HandlerResult list_checkpoints(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  const auto limit = wire::parse_limit(call.query);
  if (!limit) return limit.error();
  return admin_work_for<std::vector<Checkpoint>>(CheckpointsQuery{call.name, *limit},
                                                 wire::write_checkpoints);
}

// DELETE /queues/{name}/checkpoints/{checkpoint}
HandlerResult delete_checkpoint(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  if (auto problem = refuse_body(call)) return std::move(*problem);
  const auto id = percent_decode(call.id, PlusIs::literal);
  if (!id) return id.error();
  auto actor = wire::parse_actor(call.query);
  if (!actor) return actor.error();
  const auto write = [](JsonWriter& json, const QueueChanged& it) {
    wire::write_checkpoint(json, it.checkpoint.value());
  };
  return admin_work_for<QueueChanged>(
      QueueChange{call.name, QueueChange::DeleteCheckpoint{*id}, std::move(*actor)}, write);
}

// GET /queues/{name}/recovery
HandlerResult get_recovery(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  return admin_work_for<Recovery>(RecoveryQuery{call.name}, wire::write_recovery);
}

// POST /queues/{name}/replay
HandlerResult replay_queue(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto request = read_body(call, [&](const JsonValue& body) { return wire::parse_replay(body, call.name); });
  if (!request) return request.refusal();
  const bool dry_run = request->dry_run;
  const auto write = [dry_run](JsonWriter& json, const Revived& it) {
    wire::write_replay(json, {it.matched, it.events, dry_run, it.more, it.next});
  };
  return admin_work_for<Revived>(
      Revival{RevivalKind::replay, std::move(request->filter), std::move(request->checkpoint),
              std::move(request->actor.reason), dry_run, std::move(request->actor.by)},
      write);
}

// POST /queues/{name}/supersede
HandlerResult supersede_events(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto request = read_body(call, wire::parse_supersede);
  if (!request) return request.refusal();
  const auto write = [](JsonWriter& json, const QueueChanged& it) {
    wire::write_superseded(json, it.superseded);
  };
  return admin_work_for<QueueChanged>(
      QueueChange{call.name, QueueChange::SupersedeKey{std::move(request->key)}, std::move(request->actor)},
      write);
}

// GET /queues/{name}/log
HandlerResult list_queue_log(ApiCall& call) {
  if (auto fault = validate_queue_name(call.name)) return *fault;
  auto filter = wire::parse_queue_log_query(call.query, call.name);
  if (!filter) return filter.error();
  const auto write = [limit = filter->limit](JsonWriter& json, const std::vector<QueueLogEntry>& entries) {
    wire::write_queue_log(json, entries, limit);
  };
  return admin_work_for<std::vector<QueueLogEntry>>(QueueLogQuery{std::move(*filter)}, write);
}

}  // namespace eventq::http
