// api.cc: see api.h.
#include "notebook/api/api.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/numbers.h"
#include "base/percent.h"
#include "base/range.h"
#include "eventq/limits.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "notebook/api/api_commit.h"
#include "notebook/api/api_file.h"
#include "notebook/api/api_json.h"
#include "notebook/api/api_wait.h"
#include "notebook/file_version.h"
#include "notebook/files/note_path.h"
#include "wire/query_fields.h"
#include "wire/queue_requests.h"

namespace eventq::notebook {
namespace {

using http::ApiCall;
using http::DeferredResult;
using http::HandlerResult;
using http::Response;

constexpr Millis kDefaultTimeout{30'000};

// Whether the response to a change waits for its event, and for how long.
struct SyncOptions {
  bool waits = false;
  Millis timeout = kDefaultTimeout;
};

// REQUIRES: the caller has read its own parameters from `query`, because fault() refuses all that nothing has
// read.
Result<SyncOptions> read_sync(wire::QueryFields& query) {
  SyncOptions sync{.waits = query.boolean("sync").value_or(false)};
  const auto timeout = query.seconds("timeout", limits::kWait);
  if (auto fault = query.fault()) return *fault;
  if (!timeout) return sync;
  // A timeout without sync=true has no effect, so it is refused as a likely mistake.
  if (!sync.waits) return Error{ErrorCode::invalid_argument, "timeout needs sync=true.", "timeout"};
  sync.timeout = *timeout;
  return sync;
}

Result<SyncOptions> parse_sync(const ApiCall& call) {
  wire::QueryFields query(call.query);
  return read_sync(query);
}

std::optional<Error> check_limit(std::int64_t limit) {
  return out_of_range("limit", limit, 1, limits::kPage);
}

struct FilesQuery {
  FileFilter which = FileFilter::files;
  std::string after;
  std::size_t limit = 100;
  std::optional<std::string> path;                        // only the file or folder with this path
  std::optional<NotebookState::FolderListing> in_folder;  // only those in this folder
};

// The path of a query, as a request for a change has it. The notebook's own folder is "/".
Result<std::string> query_path(std::string_view name, const std::string& text) {
  if (name == "folder" && (text.empty() || text == "/")) return std::string();
  auto path = requested_path(text);
  if (!path) return Error{path.error().code, path.error().message, std::string(name)};
  return path;
}

// `after` is the `next` of the page before. It need not name a file that still exists.
Result<FilesQuery> parse_files_query(const ApiCall& call) {
  wire::QueryFields query(call.query);
  FilesQuery files;
  const std::string kind = query.text("kind").value_or("file");
  files.after = query.text("after").value_or("");
  const std::int64_t limit = query.whole("limit").value_or(static_cast<std::int64_t>(files.limit));
  const auto path = query.text("path");
  const auto folder = query.text("folder");
  const auto recursive = query.boolean("recursive");
  if (auto fault = query.fault()) return *fault;
  if (path && folder) return Error{ErrorCode::invalid_argument, "Send path or folder, not both.", "path"};
  if (recursive && !folder) return Error{ErrorCode::invalid_argument, "recursive needs folder.", "recursive"};
  if (path) {
    auto wanted = query_path("path", *path);
    if (!wanted) return wanted.error();
    files.path = std::move(*wanted);
  }
  if (folder) {
    auto wanted = query_path("folder", *folder);
    if (!wanted) return wanted.error();
    files.in_folder = {std::move(*wanted), recursive.value_or(false)};
  }
  if (kind != "file" && kind != "folder" && kind != "all") {
    return Error{ErrorCode::invalid_argument, "kind must be file, folder or all.", "kind"};
  }
  if (kind != "file") files.which = kind == "all" ? FileFilter::all : FileFilter::folders;
  if (auto fault = check_limit(limit)) return *fault;
  files.limit = static_cast<std::size_t>(limit);
  return files;
}

// One file more than the limit, if there is one. A path that does not exist has no files, as a folder has
// none.
Result<std::vector<FileRow>> read_files(Notebook& notebook, const FilesQuery& asked) {
  if (asked.in_folder) return notebook.files_in(*asked.in_folder, asked.which, asked.after, asked.limit + 1);
  if (!asked.path) return notebook.files(asked.which, asked.after, asked.limit + 1);
  auto row = notebook.file_at(*asked.path);
  if (row) return std::vector{std::move(*row)};
  if (row.error().code == ErrorCode::not_found) return std::vector<FileRow>();
  return row.error();
}

Response problem(const Error& error, const std::string& request_id) {
  return http::respond_with(http::problem_of(error), request_id);
}

template <typename Write>
Response respond_json(int status, const Write& write) {
  Response response;
  response.status = status;
  JsonWriter json(response.body);
  write(json);
  return response;
}

// The routes exist even without notebooks, so that a client reads how to enable them, not just "not found".
Response refuse_disabled(const ApiCall& call) {
  return http::respond_with(http::problem_of(404,
                                             "Notebooks are disabled. Start the server with "
                                             "--notebooks-allow FOLDER, the folder that may contain "
                                             "notebooks."),
                            call.request_id);
}

class NotebookApi {
 public:
  using NotebookPtr = std::shared_ptr<Notebook>;

  explicit NotebookApi(Notebooks& notebooks) : notebooks_(notebooks) {}

  // Null: notebooks are disabled.
  static std::vector<http::Route> routes(const std::shared_ptr<NotebookApi>& api) {
    using enum http::RouteEffect;
    using limits::kOneEventBody;
    using Of = NotebookApi;
    return {
        {"POST", "/notebooks", handler(api, &Of::add), changes, kOneEventBody},
        {"GET", "/notebooks", handler(api, &Of::list), reads, 0},
        {"GET", "/notebooks/{name}", handler(api, &Of::show), reads, 0},
        {"POST", "/notebooks/{name}/files", handler(api, &Of::change_file<read_create>), changes,
         kOneEventBody},
        {"GET", "/notebooks/{name}/files", handler(api, &Of::list_files), reads, 0},
        {"GET", "/notebooks/{name}/files/{id}", handler(api, &Of::show_file), reads, 0},
        {"GET", "/notebooks/{name}/files/{id}/content", handler(api, &Of::read_file), reads, 0},
        {"PUT", "/notebooks/{name}/files/{id}", handler(api, &Of::change_file<read_update>), changes,
         kOneEventBody},
        {"PATCH", "/notebooks/{name}/files/{id}/move", handler(api, &Of::change_file<read_move>), changes,
         kOneEventBody},
        {"DELETE", "/notebooks/{name}/files/{id}", handler(api, &Of::delete_file), changes, kOneEventBody},
        {"GET", "/notebooks/{name}/commits", handler(api, &Of::list_commits), reads, 0},
        {"POST", "/notebooks/{name}/rescan", handler(api, &Of::rescan), changes, kOneEventBody},
        {"POST", "/events/commit", handler(api, &Of::commit), changes, kOneEventBody},
    };
  }

  // A note published after the removal would make its queue again, without the settings of the notebook.
  std::optional<Error> refuse_removal(const std::string& queue) {
    for (const auto& notebook : notebooks_.all()) {
      if ("notebook:" + notebook->name() != queue) continue;
      return Error{ErrorCode::conflict,
                   "Queue \"" + queue + "\" belongs to the notebook \"" + notebook->name() +
                       "\"; it cannot be deleted.",
                   "queue"};
    }
    return std::nullopt;
  }

  // A notebook whose status cannot be read is left out: the metrics of the queues must not fail with it.
  DeferredResult add_metrics(Response response) {
    return on_pool([this, response = std::move(response)]() mutable -> HandlerResult {
      std::vector<NotebookStatus> statuses;
      for (const auto& notebook : notebooks_.all()) {
        if (auto status = notebook->status()) statuses.push_back(std::move(*status));
      }
      append_metrics(response.body, statuses);
      return std::move(response);
    });
  }

 private:
  static http::Handler handler(const std::shared_ptr<NotebookApi>& api,
                               HandlerResult (NotebookApi::*handle)(ApiCall&)) {
    if (!api) return refuse_disabled;
    return [api, handle](ApiCall& call) { return (*api.*handle)(call); };
  }

  static http::Handler handler(const std::shared_ptr<NotebookApi>& api,
                               HandlerResult (NotebookApi::*handle)(ApiCall&, const NotebookPtr&)) {
    if (!api) return refuse_disabled;
    return [api, handle](ApiCall& call) { return api->of_notebook(call, handle); };
  }

  // Runs `what` on the pool of the notebooks, because it reads the disk and the IoThread must not wait.
  DeferredResult on_pool(std::function<HandlerResult()> what) {
    return {[this, what = std::move(what)](const DeferredResult::Resolve& resolve) {
      notebooks_.run([what, resolve] { resolve(what()); });
    }};
  }

  // Runs `read` on the pool and renders its value with `write`, or its error.
  template <typename Read, typename Write>
  DeferredResult read_on_pool(const ApiCall& call, Read read, Write write) {
    return on_pool(
        [read = std::move(read), write = std::move(write), id = call.request_id]() -> HandlerResult {
          auto found = read();
          if (!found) return problem(found.error(), id);
          return respond_json(200, [&](JsonWriter& json) { write(json, *found); });
        });
  }

  static Response no_notebook(const ApiCall& call, const std::string& name) {
    return http::refuse(call, {ErrorCode::not_found, "There is no notebook \"" + name +
                                                         "\"; GET /notebooks lists those there are."});
  }

  HandlerResult of_notebook(ApiCall& call,
                            HandlerResult (NotebookApi::*handle)(ApiCall&, const NotebookPtr&)) {
    const auto notebook = notebooks_.find(call.name);
    if (!notebook) return no_notebook(call, call.name);
    // The route allows any number of digits. A number that does not fit belongs to no file.
    if (!call.id.empty() && !parse_whole<std::int64_t>(call.id)) {
      const std::string message = "There is no file " + std::string(call.id) + ".";
      return http::refuse(call, {ErrorCode::not_found, message});
    }
    return (this->*handle)(call, notebook);
  }

  HandlerResult add(ApiCall& call) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    auto body = http::read_json(call);
    if (auto* refused = std::get_if<Response>(&body)) return std::move(*refused);
    auto request = read_notebook(std::get<JsonValue>(body));
    if (!request) return http::refuse(call, request.error());
    return on_pool([this, request = std::move(*request), id = call.request_id]() -> HandlerResult {
      // On the pool, because the check resolves symbolic links on disk. add() checks again, but its conflict
      // would be a 409: a path outside of the allowed folders is forbidden, not in use.
      if (!notebooks_.is_allowed(request.path)) {
        return http::respond_with(http::problem_of(403, notebooks_.not_allowed_text(request.path)), id);
      }
      const auto added = notebooks_.add(request.name, request.path, request.settings);
      if (!added) return problem(added.error(), id);
      Response response = respond_json(201, [&](JsonWriter& json) { write_notebook(json, *added); });
      response.headers.emplace_back("Location", "/notebooks/" + percent_encode(request.name));
      return response;
    });
  }

  HandlerResult list(ApiCall& call) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return on_pool([this, id = call.request_id]() -> HandlerResult {
      Response response;
      JsonWriter json(response.body);
      json.begin_object().key("notebooks").begin_array();
      for (const auto& notebook : notebooks_.all()) {
        const auto status = notebook->status();
        if (!status) return problem(status.error(), id);
        write_notebook(json, *status);
      }
      json.end_array().end_object();
      return response;
    });
  }

  HandlerResult show(ApiCall& call, const NotebookPtr& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return read_on_pool(
        call, [notebook] { return notebook->status(); }, write_notebook);
  }

  // Reads one file more than `limit`: when there is one, the response names where the next page begins.
  HandlerResult list_files(ApiCall& call, const NotebookPtr& notebook) {
    const auto asked = parse_files_query(call);
    if (!asked) return http::refuse(call, asked.error());
    return read_on_pool(
        call, [notebook, asked = *asked] { return read_files(*notebook, asked); },
        [limit = asked->limit](JsonWriter& json, const std::vector<FileRow>& files) {
          json.begin_object().key("files").begin_array();
          for (std::size_t i = 0; i < std::min(limit, files.size()); ++i) write_file(json, files[i]);
          json.end_array().key("next");
          if (files.size() > limit) {
            json.string(files[limit - 1].path);
          } else {
            json.null();
          }
          json.end_object();
        });
  }

  static std::int64_t file_id(const ApiCall& call) { return parse_whole<std::int64_t>(call.id).value_or(0); }

  HandlerResult show_file(ApiCall& call, const NotebookPtr& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return on_pool([notebook, file = file_id(call), id = call.request_id]() -> HandlerResult {
      const auto row = notebook->file(file);
      return row ? respond_row(200, *row) : problem(row.error(), id);
    });
  }

  HandlerResult read_file(ApiCall& call, const NotebookPtr& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return on_pool([notebook, file = file_id(call), id = call.request_id]() -> HandlerResult {
      auto content = notebook->content(file);
      return content ? respond_content(std::move(*content)) : problem(content.error(), id);
    });
  }

  HandlerResult list_commits(ApiCall& call, const NotebookPtr& notebook) {
    wire::QueryFields query(call.query);
    const std::string event_id = query.text("event_id").value_or("");
    const std::int64_t limit = query.whole("limit").value_or(20);
    if (auto fault = query.fault()) return http::refuse(call, *fault);
    if (auto fault = check_limit(limit)) return http::refuse(call, *fault);
    return read_on_pool(
        call,
        [notebook, limit = static_cast<std::size_t>(limit), event_id] {
          return notebook->commits(limit, event_id);
        },
        [](JsonWriter& json, const std::vector<CommitRow>& commits) {
          json.begin_object().key("commits").begin_array();
          for (const CommitRow& commit : commits) write_commit(json, commit);
          json.end_array().end_object();
        });
  }

  // Answers when the differences are published as events; the worker may apply them later.
  HandlerResult rescan(ApiCall& call, const NotebookPtr& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    return read_on_pool(
        call, [notebook] { return notebook->rescan(); },
        [](JsonWriter& json, std::size_t changes) {
          json.begin_object().key("changes").integer(static_cast<std::int64_t>(changes)).end_object();
        });
  }

  // The notebook is a parameter here and not in the path, so of_notebook() cannot find it. Without it all
  // notebooks are meant.
  HandlerResult commit(ApiCall& call) {
    wire::QueryFields query(call.query);
    const auto name = query.text("notebook");
    const auto sync = read_sync(query);
    if (!sync) return http::refuse(call, sync.error());
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    if (!name) return commit_all(notebooks_.all(), sync->waits ? std::optional(sync->timeout) : std::nullopt);
    const auto notebook = notebooks_.find(*name);
    if (!notebook) return no_notebook(call, *name);
    return submit(call, notebook, {.kind = OperationKind::batch_commit}, *sync);
  }

  // Create, update and move differ only in what they read from the body.
  template <Result<ChangeRequest> (*read)(const JsonValue&)>
  HandlerResult change_file(ApiCall& call, const NotebookPtr& notebook) {
    const auto sync = parse_sync(call);
    if (!sync) return http::refuse(call, sync.error());
    auto body = http::read_json(call);
    if (auto* refused = std::get_if<Response>(&body)) return std::move(*refused);
    auto request = read(std::get<JsonValue>(body));
    if (!request) return http::refuse(call, request.error());
    request->file = file_id(call);
    return submit(call, notebook, std::move(*request), *sync);
  }

  HandlerResult delete_file(ApiCall& call, const NotebookPtr& notebook) {
    const auto sync = parse_sync(call);
    if (!sync) return http::refuse(call, sync.error());
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    return submit(call, notebook, {.kind = OperationKind::remove, .file = file_id(call)}, *sync);
  }

  // Reads If-Match and Idempotency-Key. Errors: invalid_argument.
  static std::optional<Error> read_conditions(const ApiCall& call, ChangeRequest& request) {
    const std::string& if_match = call.request.headers.if_match;
    auto key = http::read_idempotency_key(call, call.request.method + "\n" + if_match);
    if (!key) return key.error();
    request.key = std::move(*key);
    if (if_match.empty()) return std::nullopt;
    if (request.kind == OperationKind::create || request.kind == OperationKind::batch_commit) {
      return Error{ErrorCode::invalid_argument, "If-Match needs an existing file; leave it out here.",
                   "If-Match"};
    }
    auto versions = read_if_match(if_match);
    if (!versions) return versions.error();
    request.if_match = std::move(*versions);
    return std::nullopt;
  }

  // The reply runs on a pool thread. It resolves with the response, or with a command that waits for the
  // event: the service submits that command from the IoThread.
  HandlerResult submit(const ApiCall& call, const NotebookPtr& notebook, ChangeRequest request,
                       SyncOptions sync) {
    if (auto fault = read_conditions(call, request)) return http::refuse(call, *fault);
    // The change is an event of the notebook's queue: its worker applies it, not this thread.
    SubmittedChange change{.notebooks = notebooks_,
                           .notebook = notebook,
                           .kind = request.kind,
                           .timeout = sync.timeout,
                           .request_id = call.request_id};
    return DeferredResult{[request = std::move(request), waits = sync.waits,
                           change = std::move(change)](const DeferredResult::Resolve& resolve) {
      change.notebook->submit(request, [resolve, waits, file = request.file,
                                        change](Result<Accepted> accepted) mutable {
        if (!accepted) return resolve(refuse_change(change, file, accepted.error()));
        change.accepted = std::move(*accepted);
        resolve(waits ? HandlerResult(wait_for(std::move(change))) : HandlerResult(respond_accepted(change)));
      });
    }};
  }

  // Runs on a pool thread, so it may read the file's row.
  static Response refuse_change(const SubmittedChange& change, std::int64_t file, const Error& error) {
    if (!is_version_error(error)) return problem(error, change.request_id);
    return respond_other_version(error.message, change.notebook->file(file), change.request_id);
  }

  Notebooks& notebooks_;
};

}  // namespace

http::ApiExtension make_api(Notebooks* notebooks) {
  if (!notebooks) return {NotebookApi::routes(nullptr), nullptr};
  const auto api = std::make_shared<NotebookApi>(*notebooks);
  return {NotebookApi::routes(api),
          [api](Response response) { return api->add_metrics(std::move(response)); },
          [api](const std::string& queue) { return api->refuse_removal(queue); }};
}

}  // namespace eventq::notebook
