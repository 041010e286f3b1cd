// views.cc: see views.h. Answers as clients see them.
#include "against_model/views.h"

#include <utility>
#include <vector>

#include "against_model/view_lines.h"
#include "model/names.h"

namespace eventq {
namespace {

using namespace view;
using Kind = Operation::Kind;

struct ErrorName {
  int status;
  std::string_view type;
  std::string_view title;
};

// Only the errors that a valid operation can get from a healthy store.
ErrorName name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return {404, "not-found", "Not found"};
    case ErrorCode::conflict: return {409, "conflict", "Conflict"};
    case ErrorCode::lease_lost: return {409, "lease-lost", "Lease lost"};
    case ErrorCode::queue_full: return {429, "queue-full", "Queue full"};
    case ErrorCode::too_large: return {413, "too-large", "Too large"};
    case ErrorCode::timeout: return {408, "timeout", "Timeout"};
    default: return {500, "unexpected", "Unexpected"};
  }
}

int put_error(Lines& lines, const Error& error) {
  const ErrorName name = name_of(error.code);
  lines.put("error", quoted(error.message));
  lines.put("detail", quoted(error.message));
  lines.put("status", text_of(name.status));
  lines.put("type", quoted("urn:eventq:problem:" + std::string(name.type)));
  lines.put("title", quoted(name.title));
  if (!error.field.empty()) lines.put("field", quoted(error.field));
  if (error.code == ErrorCode::queue_full) lines.put("outcome", quoted("unchanged"));
  return name.status;
}

bool is_last_failure(const Changed& changed) {
  return changed.entry.action == Action::failed && !changed.entry.next_retry_at;
}

int put_last_failure(Lines& lines, const Changed& changed) {
  const std::string id = text_of(changed.entry.id);
  const bool permanent = changed.entry.retry_count < changed.max_retries;
  const std::string title = permanent ? "Failed permanently" : "Max retries exceeded";
  lines.put("error", quoted(title));
  lines.put("title", quoted(title));
  lines.put("retry_count", text_of(changed.entry.retry_count));
  lines.put("max_retries", text_of(changed.max_retries));
  lines.put("status", "400");
  lines.put("type", quoted(permanent ? "urn:eventq:problem:failed-permanently"
                                     : "urn:eventq:problem:max-retries-exceeded"));
  lines.put("detail",
            quoted("The failure was recorded and is " + std::string(permanent ? "permanent" : "the last") +
                   ": event " + id + " stays FAILED. POST /events/" + id + "/retry makes it pending again."));
  return 400;
}

// Converts one caller's answer to a response.
class ClientView {
 public:
  ClientView(const Operation& operation, const Answer& answer, const std::optional<Answer>& then,
             std::string_view request_id)
      : operation_(operation), answer_(answer), then_(then), request_id_(request_id) {}

  JsonLines lines() {
    put("(X-Request-Id)", std::string(request_id_));
    put("(status)", text_of(body()));
    return std::move(lines_);
  }

 private:
  void put(const std::string& name, std::string value) { lines_[name] = std::move(value); }
  Lines at(const std::string& where = "") { return Lines(lines_, where); }

  int refuse(const Error& error) {
    Lines root = at();
    put("request_id", quoted(request_id_));
    if (error.retry_after.count() > 0) put("(Retry-After)", text_of(error.retry_after.count()));
    return put_error(root, error);
  }

  int body() {
    if (answer_.error) return refuse(*answer_.error);
    switch (operation_.kind) {
      case Kind::publish:
      case Kind::publish_batch: return published();
      case Kind::subscribe:
      case Kind::subscribe_many: return claimed();
      case Kind::turn: return turned();
      case Kind::report:
      case Kind::intervene: return reported(answer_.changed.at(0), operation_.command.changes.at(0));
      case Kind::report_many: return results();
      case Kind::why: return explained();
      case Kind::get: return details();
      case Kind::list: return page();
      case Kind::configure:
      case Kind::set_status: return changed_queue();
      case Kind::checkpoint: return made_checkpoint();
      case Kind::supersede: return superseded();
      case Kind::replay:
      case Kind::retry_failed: return revived();
      case Kind::wait_event: return waited_for_event();
      case Kind::wait_correlation: return waited_for_correlation();
      case Kind::queue: return queue(operation_.command.admin, answer_);
      case Kind::queues: return queues();
      case Kind::checkpoints: return checkpoints();
      case Kind::correlation: return correlation(answer_);
      case Kind::failures: return failures();
    }
    return 0;
  }

  template <typename T>
  const Result<T>& admin_answer(const Answer& answer) const {
    return std::get<Result<T>>(answer.admin);
  }

  template <typename Items, typename Put>
  void put_each(const std::string& name, const Items& items, const Put& put_item) {
    if (items.empty()) put(name, "[]");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string where = name + "[" + std::to_string(i) + "]";
      put_item(where, items[i]);
    }
  }

  int refuse_late(const std::string& what) {
    return refuse({ErrorCode::timeout, what + " within 0s. Ask again to wait on.", ""});
  }

  int queue(const AdminRequest& request, const Answer& answer) {
    const auto& document = admin_answer<QueueDocument>(answer);
    if (!document) return refuse(document.error());
    at().put_queue(*document);
    if (std::get<QueueQuery>(request).events == 0) return 200;
    put_each("events", document->events,
             [&](const std::string& where, const Details& event) { at(where + ".").put_waiting(event); });
    return 200;
  }

  int changed_queue() {
    const auto& changed = admin_answer<QueueChanged>(answer_);
    if (!changed) return refuse(changed.error());
    if (operation_.command.wait && !answer_.waited) {
      return refuse_late("Queue " + changed->row.id + " is draining, but not empty");
    }
    const int status = queue(QueueQuery{}, *then_);
    return changed->created ? 201 : status;
  }

  int made_checkpoint() {
    const auto& changed = admin_answer<QueueChanged>(answer_);
    if (!changed) return refuse(changed.error());
    at().put_checkpoint(changed->checkpoint.value());
    return 201;
  }

  int superseded() {
    const auto& changed = admin_answer<QueueChanged>(answer_);
    if (!changed) return refuse(changed.error());
    put("superseded", text_of(static_cast<std::int64_t>(changed->superseded.size())));
    put_each("events", changed->superseded,
             [&](const std::string& where, EventId id) { put(where, text_of(id)); });
    return 200;
  }

  int revived() {
    const auto& revived = admin_answer<Revived>(answer_);
    if (!revived) return refuse(revived.error());
    const Revival& revival = std::get<Revival>(operation_.command.admin);
    put("dry_run", revival.dry_run ? "true" : "false");
    put("matched", text_of(static_cast<std::int64_t>(revived->matched.size())));
    put("more", revived->more ? "true" : "false");
    if (revived->next && static_cast<std::int64_t>(revived->next->id) > 0) {
      put("next", '"' + std::to_string(revived->next->ended_at.time_since_epoch().count()) + '-' +
                      std::to_string(static_cast<std::int64_t>(revived->next->id)) + '"');
    }
    if (operation_.kind == Kind::retry_failed) {
      put("retried", text_of(static_cast<std::int64_t>(revived->events.size())));
      put_each("events", revival.dry_run ? revived->matched : revived->events,
               [&](const std::string& where, EventId id) { put(where, text_of(id)); });
      return 200;
    }
    std::size_t i = 0;
    put_each("events", revived->matched, [&](const std::string& where, EventId id) {
      put(where + ".id", text_of(id));
      if (!revival.dry_run) put(where + ".replayed_as", text_of(revived->events.at(i++)));
    });
    return 200;
  }

  int waited_for_event() {
    const EventId id = std::get<EventId>(operation_.command.wait->what);
    if (!answer_.waited) return refuse_late("Event " + text_of(id) + " has not ended");
    const Details& details = **then_->details;
    at().put_details(details);
    return 200;
  }

  int waited_for_correlation() {
    const std::string& id = std::get<WaitRequest::Correlated>(operation_.command.wait->what).id;
    if (!answer_.waited) return refuse_late("Not all events with correlation_id " + id + " have ended");
    return correlation(*then_);
  }

  int correlation(const Answer& answer) {
    const auto& correlation = admin_answer<Correlation>(answer);
    if (!correlation) return refuse(correlation.error());
    put("correlation_id", quoted(correlation->id));
    put("total", text_of(correlation->total));
    put("completed", text_of(correlation->completed));
    put("failed", text_of(correlation->failed));
    put("pending", text_of(correlation->pending));
    put_each("events", correlation->events, [&](const std::string& where, const Event& event) {
      put_in_list(where, event, correlation->last_errors);
      if (event.sequence) put(where + ".sequence", text_of(*event.sequence));
      at(where + ".").put_result(event);
    });
    return 200;
  }

  int queues() {
    put_each("queues", admin_answer<std::vector<QueueDocument>>(answer_).value(),
             [&](const std::string& where, const QueueDocument& queue) { at(where + ".").put_queue(queue); });
    return 200;
  }

  int checkpoints() {
    const auto& checkpoints = admin_answer<std::vector<Checkpoint>>(answer_);
    if (!checkpoints) return refuse(checkpoints.error());
    put_each("checkpoints", *checkpoints, [&](const std::string& where, const Checkpoint& checkpoint) {
      at(where + ".").put_checkpoint(checkpoint);
    });
    return 200;
  }

  int failures() {
    put_each(
        "failures", admin_answer<std::vector<FailureGroup>>(answer_).value(),
        [&](const std::string& where, const FailureGroup& group) { at(where + ".").put_failures(group); });
    return 200;
  }

  void put_in_list(const std::string& where, const Event& event, const LastErrors& errors) {
    Lines lines = at(where + ".");
    lines.put_summary(event);
    const auto error = errors.find(event.id);
    lines.put_end(event, error == errors.end() ? "" : error->second);
    if (const auto retry = retry_time(event)) lines.put("next_retry_at", text_of(*retry));
  }

  int published() {
    const bool full = !*answer_.published && answer_.published->error().code == ErrorCode::queue_full;
    if (answer_.backpressure && (*answer_.published || full)) put("(Eventq-Backpressure)", "on");
    if (!*answer_.published) return refuse(answer_.published->error());
    const Published& published = **answer_.published;
    if (published.replayed) put("(Idempotency-Replayed)", "true");
    if (operation_.kind == Kind::publish) {
      put("(Location)", "/events/" + text_of(published.events.at(0).id));
      if (operation_.command.wait) {
        const Details& now = **then_->details;
        put("(Preference-Applied)", "wait=0");
        at().put_details(now);
        if (!has_ended(now.event.status)) return 202;
        return published.existed ? 200 : 201;
      }
      at().put_event(published.events.at(0));
    } else {
      put("correlation_id", quoted_or_null(published.correlation_id));
      for (std::size_t i = 0; i < published.events.size(); ++i) {
        at("events[" + std::to_string(i) + "].").put_event(published.events[i]);
      }
    }
    return published.existed ? 200 : 201;
  }

  void put_claims() {
    if (answer_.claims.empty()) put("events", "[]");
    for (std::size_t i = 0; i < answer_.claims.size(); ++i) {
      at("events[" + std::to_string(i) + "].").put_claim(answer_.claims[i]);
    }
  }

  int claimed() {
    put("(Cache-Control)", "no-store");
    if (answer_.claims.empty()) return 204;
    if (operation_.kind == Kind::subscribe) {
      at().put_claim(answer_.claims.at(0));
    } else {
      put_claims();
    }
    return 200;
  }

  int turned() {
    put_claims();
    return results();
  }

  int results() {
    if (answer_.changed.empty()) put("results", "[]");
    for (std::size_t i = 0; i < answer_.changed.size(); ++i) {
      const Result<Changed>& changed = answer_.changed[i];
      Lines result = at("results[" + std::to_string(i) + "].");
      if (changed && !is_last_failure(*changed)) {
        result.put_report(*changed);
        result.put("status", "200");
        continue;
      }
      changed ? put_last_failure(result, *changed) : put_error(result, changed.error());
      result.put("event_id", text_of(operation_.command.changes.at(i).lease.id));
    }
    return 200;
  }

  int reported(const Result<Changed>& changed, const Change& change) {
    if (!changed) return refuse(changed.error());
    Lines root = at();
    if (std::holds_alternative<Heartbeat>(change.what)) {
      root.put("event_id", text_of(change.lease.id));
      root.put("worker_id", quoted(change.lease.worker_id));
      root.put("lease_until", text_of(changed->lease_until));
      return 200;
    }
    if (is_last_failure(*changed)) return put_last_failure(root, *changed);
    root.put_report(*changed);
    return 200;
  }

  int explained() {
    if (!*answer_.explanation) return refuse(answer_.explanation->error());
    const Explanation& explanation = **answer_.explanation;
    put("id", text_of(explanation.id));
    put("status", quoted(eventq::name_of(explanation.status)));
    put("reason", quoted(explanation.why.reason));
    put("explanation", quoted(explanation.why.explanation));
    return 200;
  }

  int details() {
    if (!*answer_.details) return refuse(answer_.details->error());
    const Details& details = **answer_.details;
    at().put_details(details);
    if (!operation_.target.ends_with("?include_logs=true")) return 200;
    if (details.log.empty()) put("logs", "[]");
    for (std::size_t i = 0; i < details.log.size(); ++i) {
      at("logs[" + std::to_string(i) + "].").put_log_entry(details.log[i]);
    }
    return 200;
  }

  int page() {
    const EventPage& page = **answer_.page;
    put_each("events", page.events, [&](const std::string& where, const Event& event) {
      put_in_list(where, event, page.last_errors);
    });
    put("total", text_of(page.total));
    put("total_exact", page.total_exact ? "true" : "false");
    put("limit", text_of(static_cast<std::int64_t>(operation_.command.list->limit)));
    put("offset", text_of(operation_.command.list->offset));
    const auto next = page.next();
    const bool down = operation_.command.list->order == ListOrder::descending;
    put("next", next ? quoted((down ? "before-" : "after-") + text_of(*next)) : "null");
    return 200;
  }

  const Operation& operation_;
  const Answer& answer_;
  const std::optional<Answer>& then_;
  const std::string_view request_id_;
  JsonLines lines_;
};

}  // namespace

std::optional<Command> follow_up_read(const Operation& operation, const Answer& answer) {
  if (answer.error) return std::nullopt;
  Command command;
  if (operation.kind == Kind::configure || operation.kind == Kind::set_status) {
    const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
    if (!changed || (operation.command.wait && !answer.waited)) return std::nullopt;
    command.admin = QueueQuery{changed->row.id, 0};
  } else if (operation.kind == Kind::wait_event && answer.waited) {
    command.get = std::get<EventId>(operation.command.wait->what);
  } else if (operation.kind == Kind::wait_correlation && answer.waited) {
    command.admin =
        CorrelationQuery{std::get<WaitRequest::Correlated>(operation.command.wait->what).id, {}, 100};
  } else if (operation.kind == Kind::publish && operation.command.wait && *answer.published) {
    command.get = (*answer.published)->events.at(0).id;
  } else {
    return std::nullopt;
  }
  return command;
}

JsonLines client_view(const Operation& operation, const Answer& answer, const std::optional<Answer>& then,
                      std::string_view request_id) {
  return ClientView(operation, answer, then, request_id).lines();
}

JsonLines client_view(const Operation& operation, const HttpResponse& response) {
  JsonLines lines = json_lines(response.body);
  if (operation.kind == Kind::checkpoint && lines.contains("queueId")) lines["id"] = kSomeUuid;
  for (auto& [where, what] : lines) {
    if (where.starts_with("checkpoints[") && where.ends_with("].id")) what = kSomeUuid;
  }
  lines["(status)"] = std::to_string(response.status);
  for (const char* name : {"Location", "Idempotency-Replayed", "Cache-Control", "X-Request-Id", "Retry-After",
                           "Eventq-Backpressure", "Preference-Applied"}) {
    const std::string_view value = response.header(name);
    if (!value.empty()) lines["(" + std::string(name) + ")"] = value;
  }
  return lines;
}

}  // namespace eventq
