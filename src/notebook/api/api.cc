// api.cc: see api.h.
#include "notebook/api/api.h"

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/numbers.h"
#include "base/percent.h"
#include "base/range.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "http/api/handlers.h"
#include "http/api/problem.h"
#include "notebook/api/api_json.h"
#include "notebook/api/api_wait.h"
#include "wire/query_fields.h"
#include "wire/queue_requests.h"

namespace eventq::notebook {
namespace {

using http::Call;
using http::Elsewhere;
using http::Handled;
using http::Response;

constexpr Millis kUsualPatience{30'000};

// How a change is to be answered.
struct Manner {
  bool sync = false;
  Millis timeout = kUsualPatience;
};

void read_manner(wire::QueryFields& query, Manner& manner, std::optional<Error>& fault) {
  manner.sync = query.boolean("sync").value_or(false);
  const auto timeout = query.whole("timeout");
  fault = query.fault();
  if (fault || !timeout) return;
  if (!manner.sync) {
    fault = Error{ErrorCode::invalid_argument, "timeout goes with sync=true.", "timeout"};
    return;
  }
  fault = out_of_range("timeout", timeout, 0, limits::kWait.count(), "seconds");
  if (!fault) manner.timeout = std::chrono::seconds(*timeout);
}

Result<Manner> manner_of(const Call& call) {
  wire::QueryFields query(call.query);
  Manner manner;
  std::optional<Error> fault;
  read_manner(query, manner, fault);
  if (fault) return *fault;
  return manner;
}

// POST /events/commit?notebook=NAME
struct CommitCall {
  std::string notebook;
  Manner manner;
};
Result<CommitCall> commit_call_of(const Call& call) {
  wire::QueryFields query(call.query);
  CommitCall commit;
  const auto notebook = query.text("notebook");
  std::optional<Error> fault;
  read_manner(query, commit.manner, fault);
  if (fault) return *fault;
  if (!notebook) {
    return Error{ErrorCode::invalid_argument, "Which one: POST /events/commit?notebook=NAME.", "notebook"};
  }
  commit.notebook = *notebook;
  return commit;
}

std::optional<Error> check_limit(std::int64_t limit) {
  return out_of_range("limit", limit, 1, limits::kPage);
}

struct FilesCall {
  FileFilter which = FileFilter::files;
  std::string after;
  std::size_t limit = 100;
};
Result<FilesCall> files_call_of(const Call& call) {
  wire::QueryFields query(call.query);
  FilesCall files;
  const std::string kind = query.text("kind").value_or("file");
  files.after = query.text("after").value_or("");
  const std::int64_t limit = query.whole("limit").value_or(static_cast<std::int64_t>(files.limit));
  if (auto fault = query.fault()) return *fault;
  if (kind != "file" && kind != "folder" && kind != "all") {
    return Error{ErrorCode::invalid_argument, "kind must be file, folder or all.", "kind"};
  }
  if (kind != "file") files.which = kind == "all" ? FileFilter::all : FileFilter::folders;
  if (auto fault = check_limit(limit)) return *fault;
  files.limit = static_cast<std::size_t>(limit);
  return files;
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

// Never as something that a browser would run.
Response respond_content(FileContent content) {
  const std::string& path = content.file.path;
  const bool is_text = content.file.content_type.starts_with("text/") && valid_utf8(content.bytes);
  Response response;
  response.content_type = is_text ? "text/plain; charset=utf-8" : "application/octet-stream";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Content-Disposition", "attachment; filename*=UTF-8''" +
                                                           percent_encode(path.substr(path.rfind('/') + 1)));
  response.body = std::move(content.bytes);
  return response;
}

class Api final : public http::Notebooks {
 public:
  explicit Api(notebook::Notebooks& notebooks) : notebooks_(notebooks) {}

  Handled answer(Action action, Call& call) override {
    switch (action) {
      case Action::add: return add(call);
      case Action::list: return list(call);
      case Action::show: return of_notebook(call, &Api::show);
      case Action::create_file: return of_notebook(call, &Api::create_file);
      case Action::list_files: return of_notebook(call, &Api::list_files);
      case Action::show_file: return of_notebook(call, &Api::show_file);
      case Action::read_file: return of_notebook(call, &Api::read_file);
      case Action::update_file: return of_notebook(call, &Api::update_file);
      case Action::move_file: return of_notebook(call, &Api::move_file);
      case Action::delete_file: return of_notebook(call, &Api::delete_file);
      case Action::list_commits: return of_notebook(call, &Api::list_commits);
      case Action::rescan: return of_notebook(call, &Api::rescan);
      case Action::commit: break;
    }
    return commit(call);
  }

  Elsewhere add_metrics(Response response) override {
    return on_pool([this, response = std::move(response)]() mutable -> Handled {
      std::vector<NotebookStatus> statuses;
      for (const auto& notebook : notebooks_.all()) {
        if (auto status = notebook->status()) statuses.push_back(std::move(*status));
      }
      append_metrics(response.body, statuses);
      return std::move(response);
    });
  }

 private:
  using Shared = std::shared_ptr<Notebook>;

  // Where the disk may be read.
  Elsewhere on_pool(std::function<Handled()> what) {
    return {[this, what = std::move(what)](const Elsewhere::Reply& reply) {
      notebooks_.run([what, reply] { reply(what()); });
    }};
  }

  // The same for what may fail: `write` makes a body of what `read` gave.
  template <typename Read, typename Write>
  Elsewhere told(const Call& call, Read read, Write write) {
    return on_pool([read = std::move(read), write = std::move(write), id = call.request_id]() -> Handled {
      auto found = read();
      if (!found) return problem(found.error(), id);
      return respond_json(200, [&](JsonWriter& json) { write(json, *found); });
    });
  }

  static Response no_notebook(const Call& call, const std::string& name) {
    return http::refuse(call,
                        {ErrorCode::not_found,
                         "There is no notebook \"" + name + "\"; GET /notebooks lists those there are.", ""});
  }

  Handled of_notebook(Call& call, Handled (Api::*handle)(Call&, const Shared&)) {
    const auto notebook = notebooks_.find(call.name);
    if (!notebook) return no_notebook(call, call.name);
    if (!call.id.empty() && !parse_whole<std::int64_t>(call.id)) {
      const std::string message = "There is no file " + std::string(call.id) + ".";
      return http::refuse(call, {ErrorCode::not_found, message, ""});
    }
    return (this->*handle)(call, notebook);
  }

  Handled add(Call& call) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    auto body = http::read_json(call);
    if (auto* refused = std::get_if<Response>(&body)) return std::move(*refused);
    auto request = read_notebook(std::get<JsonValue>(body));
    if (!request) return http::refuse(call, request.error());
    return on_pool([this, request = std::move(*request), id = call.request_id]() -> Handled {
      if (!notebooks_.is_allowed(request.path)) {
        return http::respond_with(
            http::problem_of(403,
                             "A notebook must lie in a folder that is there and that [notebooks] allow "
                             "names, or in one below it."),
            id);
      }
      const auto added = notebooks_.add(request.name, request.path, request.settings);
      if (!added) return problem(added.error(), id);
      Response response = respond_json(201, [&](JsonWriter& json) { write_notebook(json, *added); });
      response.headers.emplace_back("Location", "/notebooks/" + percent_encode(request.name));
      return response;
    });
  }

  Handled list(Call& call) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return on_pool([this, id = call.request_id]() -> Handled {
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

  Handled show(Call& call, const Shared& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return told(
        call, [notebook] { return notebook->status(); }, write_notebook);
  }

  // One more than asked for tells whether there is more.
  Handled list_files(Call& call, const Shared& notebook) {
    const auto asked = files_call_of(call);
    if (!asked) return http::refuse(call, asked.error());
    return told(
        call,
        [notebook, asked = *asked] { return notebook->files(asked.which, asked.after, asked.limit + 1); },
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

  static std::int64_t file_id(const Call& call) { return parse_whole<std::int64_t>(call.id).value_or(0); }

  Handled show_file(Call& call, const Shared& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return told(
        call, [notebook, file = file_id(call)] { return notebook->file(file); }, write_file);
  }

  Handled read_file(Call& call, const Shared& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    return on_pool([notebook, file = file_id(call), id = call.request_id]() -> Handled {
      auto content = notebook->content(file);
      return content ? respond_content(std::move(*content)) : problem(content.error(), id);
    });
  }

  Handled list_commits(Call& call, const Shared& notebook) {
    wire::QueryFields query(call.query);
    const std::string event_id = query.text("event_id").value_or("");
    const std::int64_t limit = query.whole("limit").value_or(20);
    if (auto fault = query.fault()) return http::refuse(call, *fault);
    if (auto fault = check_limit(limit)) return http::refuse(call, *fault);
    return told(
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

  Handled rescan(Call& call, const Shared& notebook) {
    if (auto refused = http::refuse_query(call)) return std::move(*refused);
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    return told(
        call, [notebook] { return notebook->rescan(); },
        [](JsonWriter& json, std::size_t changes) {
          json.begin_object().key("changes").integer(static_cast<std::int64_t>(changes)).end_object();
        });
  }

  Handled commit(Call& call) {
    const auto asked = commit_call_of(call);
    if (!asked) return http::refuse(call, asked.error());
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    const auto notebook = notebooks_.find(asked->notebook);
    if (!notebook) return no_notebook(call, asked->notebook);
    return submit(call, notebook, {.kind = OperationKind::batch_commit}, asked->manner);
  }

  Handled create_file(Call& call, const Shared& notebook) { return change(call, notebook, read_create); }
  Handled update_file(Call& call, const Shared& notebook) { return change(call, notebook, read_update); }
  Handled move_file(Call& call, const Shared& notebook) { return change(call, notebook, read_move); }

  Handled change(Call& call, const Shared& notebook, Result<ChangeRequest> (*read)(const JsonValue&)) {
    const auto manner = manner_of(call);
    if (!manner) return http::refuse(call, manner.error());
    auto body = http::read_json(call);
    if (auto* refused = std::get_if<Response>(&body)) return std::move(*refused);
    auto request = read(std::get<JsonValue>(body));
    if (!request) return http::refuse(call, request.error());
    request->file = file_id(call);
    return submit(call, notebook, std::move(*request), *manner);
  }

  Handled delete_file(Call& call, const Shared& notebook) {
    const auto manner = manner_of(call);
    if (!manner) return http::refuse(call, manner.error());
    if (auto refused = http::refuse_body(call)) return std::move(*refused);
    ChangeRequest request{.kind = OperationKind::remove};
    request.file = file_id(call);
    return submit(call, notebook, std::move(request), *manner);
  }

  Handled submit(const Call& call, const Shared& notebook, ChangeRequest request, Manner manner) {
    Awaited awaited{.notebooks = notebooks_,
                    .notebook = notebook,
                    .kind = request.kind,
                    .file = request.file,
                    .timeout = manner.timeout,
                    .request_id = call.request_id};
    return Elsewhere{[request = std::move(request), sync = manner.sync,
                      awaited = std::move(awaited)](const Elsewhere::Reply& reply) {
      awaited.notebook->submit(request, [reply, sync, awaited](Result<Accepted> accepted) mutable {
        if (!accepted) return reply(problem(accepted.error(), awaited.request_id));
        awaited.accepted = std::move(*accepted);
        reply(sync ? Handled(wait_for(std::move(awaited))) : Handled(respond_accepted(awaited)));
      });
    }};
  }

  notebook::Notebooks& notebooks_;
};

}  // namespace

std::unique_ptr<http::Notebooks> make_api(Notebooks& notebooks) { return std::make_unique<Api>(notebooks); }

}  // namespace eventq::notebook
