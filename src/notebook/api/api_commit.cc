// api_commit.cc: see api_commit.h.
#include "notebook/api/api_commit.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "base/steady.h"
#include "model/names.h"
#include "notebook/api/api_json.h"
#include "wire/answer_json.h"

namespace eventq::notebook {
namespace {

using http::DeferredResult;
using http::EngineWork;
using http::HandlerResult;
using http::Response;

struct OneCommit {
  std::string notebook;
  std::optional<Event> event;
  std::optional<Error> error;  // the notebook refused, so there is no event; or its event failed
};

// A wait takes several commands to the engine, which share the commits.
struct AllCommits {
  std::vector<OneCommit> commits;
  std::optional<SteadyTime> deadline;  // none: the request does not wait
  std::atomic<std::size_t> missing;    // replies to come, on several threads of the pool
};
using AllCommitsPtr = std::shared_ptr<AllCommits>;

bool is_open(const OneCommit& commit) { return commit.event && !has_ended(commit.event->status); }

void write_one(JsonWriter& json, const OneCommit& commit) {
  json.begin_object().key("notebook").string(commit.notebook);
  if (commit.event) write_event_members(json, *commit.event, commit.event->status);
  if (commit.error) json.key("error").string(commit.error->message);
  json.end_object();
}

Response respond(const AllCommits& all) {
  Response response;
  if (std::any_of(all.commits.begin(), all.commits.end(), is_open)) response.status = 202;
  JsonWriter json(response.body);
  json.begin_object().key("commits").begin_array();
  for (const OneCommit& commit : all.commits) write_one(json, commit);
  json.end_array().end_object();
  return response;
}

HandlerResult await_from(const AllCommitsPtr& all, std::size_t from);

// The wait only says that the event ended, so its status and last failure are read afterwards.
EngineWork read_end(const AllCommitsPtr& all, std::size_t at) {
  EngineWork work;
  work.command.get = all->commits[at].event->id;
  work.sees_errors = true;
  work.render = [all, at](Answer& answer) {
    OneCommit& commit = all->commits[at];
    if (!answer.error && answer.details && answer.details->has_value()) {
      const Details& details = **answer.details;
      commit.event->status = details.event.status;
      const auto failure = wire::last_failure(details.log);
      if (details.event.status == Status::failed && failure) {
        commit.error = Error{ErrorCode::conflict, std::string(failure->message)};
      }
    }
    return await_from(all, at + 1);
  };
  return work;
}

// One event after the other: the request waits for the last to end, whatever the order.
HandlerResult await_from(const AllCommitsPtr& all, std::size_t from) {
  while (from < all->commits.size() && !is_open(all->commits[from])) ++from;
  if (from == all->commits.size()) return respond(*all);
  const auto left = std::chrono::ceil<Millis>(*all->deadline - steady_now());
  EngineWork work;
  work.command.wait = WaitRequest{all->commits[from].event->id, std::max(left, Millis(0))};
  work.sees_errors = true;
  work.render = [all, from](Answer&) -> HandlerResult { return read_end(all, from); };
  return work;
}

// Called when every notebook has replied. Without any event there is nothing that a client could wait for.
HandlerResult first_answer(const AllCommitsPtr& all) {
  const auto& commits = all->commits;
  const auto has_event = [](const OneCommit& commit) { return commit.event.has_value(); };
  if (std::none_of(commits.begin(), commits.end(), has_event)) return *commits.front().error;
  return all->deadline ? await_from(all, 0) : respond(*all);
}

}  // namespace

HandlerResult commit_all(const std::vector<std::shared_ptr<Notebook>>& notebooks,
                         std::optional<Millis> timeout) {
  const auto all = std::make_shared<AllCommits>();
  if (timeout) all->deadline = steady_now() + *timeout;
  all->missing = notebooks.size();
  for (const auto& notebook : notebooks) all->commits.push_back({.notebook = notebook->name()});
  if (notebooks.empty()) return respond(*all);
  return DeferredResult{[all, notebooks](const DeferredResult::Resolve& resolve) {
    for (std::size_t i = 0; i < notebooks.size(); ++i) {
      // Each reply writes its own element, and the last one has all of them.
      notebooks[i]->submit({.kind = OperationKind::batch_commit},
                           [all, i, resolve](Result<Accepted> accepted) {
                             OneCommit& commit = all->commits[i];
                             if (accepted) {
                               commit.event = std::move(accepted->event);
                             } else {
                               commit.error = accepted.error();
                             }
                             if (--all->missing > 0) return;
                             resolve(first_answer(all));
                           });
    }
  }};
}

}  // namespace eventq::notebook
