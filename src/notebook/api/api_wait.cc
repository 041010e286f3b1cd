// api_wait.cc: see api_wait.h.
#include "notebook/api/api_wait.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/percent.h"
#include "http/api/problem.h"
#include "model/names.h"
#include "notebook/api/api_file.h"
#include "notebook/api/api_json.h"
#include "notebook/file_version.h"
#include "wire/answer_json.h"

namespace eventq::notebook {
namespace {

using http::EngineWork;
using http::HandlerResult;
using http::Response;

// A wait takes several commands to the engine, which share the change.
using ChangePtr = std::shared_ptr<SubmittedChange>;

Response respond_event(const SubmittedChange& about, int status, Status became) {
  Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_accepted(json, about.accepted, became);
  if (about.accepted.replayed) response.headers.emplace_back("Idempotency-Replayed", "true");
  const auto id = static_cast<std::int64_t>(about.accepted.event.id);
  response.headers.emplace_back("Location", "/events/" + std::to_string(id));
  return response;
}

Response respond_conflict(const SubmittedChange& about, const std::string& message) {
  return http::respond_with(http::problem_of(Error{ErrorCode::conflict, message}), about.request_id);
}

// The file may be gone although the change succeeded, because later changes run while the response is made.
Response respond_file(const SubmittedChange& about, const Result<FileRow>& file) {
  if (!file && file.error().code == ErrorCode::not_found) {
    return respond_conflict(about, "It was done, but a later change has moved or deleted the file since.");
  }
  if (!file) return http::respond_with(http::problem_of(file.error()), about.request_id);
  if (about.kind != OperationKind::create) return respond_row(200, *file);
  Response response = respond_row(201, *file);
  response.headers.emplace_back("Location", "/notebooks/" + percent_encode(about.notebook->name()) +
                                                "/files/" + std::to_string(file->id));
  return response;
}

// Reads the row on the pool, because it is on disk. The file is found by its id, which a later move does not
// change.
template <typename Respond>
HandlerResult with_file(const ChangePtr& change, Respond respond) {
  return http::DeferredResult{[change, respond](const http::DeferredResult::Resolve& resolve) {
    change->notebooks.run(
        [change, respond, resolve] { resolve(respond(change->notebook->file(change->accepted.file_id))); });
  }};
}

HandlerResult show_result(const ChangePtr& change, const Event& event) {
  using Kind = OperationKind;
  if (change->kind == Kind::remove || change->kind == Kind::batch_commit) {
    return respond_event(*change, 200, event.status);
  }
  return with_file(change, [change](const Result<FileRow>& file) { return respond_file(*change, file); });
}

HandlerResult show_failure(const ChangePtr& change, const std::vector<LogEntry>& log) {
  const auto failure = wire::last_failure(log);
  std::string message = failure ? std::string(failure->message) : "The change failed.";
  if (log.empty() || log.back().status_code != kPreconditionFailed) return respond_conflict(*change, message);
  return with_file(change, [change, message = std::move(message)](const Result<FileRow>& now) {
    return respond_other_version(message, now, change->request_id);
  });
}

EngineWork await_end(const ChangePtr& change);

// The response for an event that ended, or that the wait has left pending.
HandlerResult judge(const ChangePtr& change, const Details& details) {
  const Event& event = details.event;
  switch (event.status) {
    case Status::completed:
    case Status::completed_with_errors: return show_result(change, event);
    case Status::failed: return show_failure(change, details.log);
    case Status::cancelled: return respond_conflict(*change, "The change was cancelled.");
    case Status::superseded:
      // The publisher combined the change with a later one, so the later event has the result.
      if (event.superseded_by) {
        change->awaited = *event.superseded_by;
        return await_end(change);
      }
      return respond_conflict(*change, "Another change superseded this one.");
    case Status::pending:
    case Status::processing: break;
  }
  return respond_event(*change, 202, event.status);
}

// The wait only says that the event ended, so its status and last failure are read afterwards.
EngineWork read_end(const ChangePtr& change) {
  EngineWork work;
  work.command.get = change->awaited;
  work.sees_errors = true;
  work.render = [change](Answer& answer) -> HandlerResult {
    const bool is_read = !answer.error && answer.details && answer.details->has_value();
    return is_read ? judge(change, **answer.details) : respond_accepted(*change);
  };
  return work;
}

// The change is stored, so the response is a success even when the wait fails.
EngineWork await_end(const ChangePtr& change) {
  const auto left = std::chrono::ceil<Millis>(change->deadline - steady_now());
  EngineWork work;
  work.command.wait = WaitRequest{change->awaited, std::max(left, Millis(0))};
  // A move or removal of a folder is a group of events with one correlation id.
  if (change->accepted.group) {
    work.command.wait->what = WaitRequest::Correlated{change->accepted.correlation_id};
  }
  work.sees_errors = true;
  work.render = [change](Answer& answer) -> HandlerResult {
    if (answer.error) return respond_accepted(*change);
    return read_end(change);
  };
  return work;
}

}  // namespace

Response respond_accepted(const SubmittedChange& change) {
  return respond_event(change, 202, change.accepted.event.status);
}

EngineWork wait_for(SubmittedChange change) {
  change.deadline = steady_now() + change.timeout;
  change.awaited = change.accepted.event.id;
  return await_end(std::make_shared<SubmittedChange>(std::move(change)));
}

}  // namespace eventq::notebook
