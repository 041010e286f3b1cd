// api_json.cc: see api_json.h.
#include "notebook/api/api_json.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/range.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "wire/fields.h"
#include "wire/prometheus_page.h"

namespace eventq::notebook {
namespace {

constexpr Millis kDay = std::chrono::hours(24);
constexpr std::int64_t kTebibyte = std::int64_t{1} << 40;
constexpr Millis kCentury = 36'500 * kDay;  // as long as a queue may keep events

double seconds_of(Millis time) { return static_cast<double>(time.count()) / 1000; }

// A time in seconds, with or without a fraction. An absent member leaves the default in `to`.
void read_seconds(wire::Fields& fields, std::string_view name, Millis least, Millis most, Millis& to) {
  const auto seconds = fields.number(name);
  if (!seconds) return;
  const auto fault = fraction_out_of_range(name, *seconds, seconds_of(least), seconds_of(most), "seconds");
  if (fault) return fields.refuse(name, fault->message);
  to = Millis(std::llround(*seconds * 1000));
}

void read_whole_seconds(wire::Fields& fields, std::string_view name, std::chrono::seconds& to) {
  Millis time = to;
  read_seconds(fields, name, Millis(0), kCentury, time);
  to = std::chrono::duration_cast<std::chrono::seconds>(time);
}

template <typename Number>
void read_amount(wire::Fields& fields, std::string_view name, std::int64_t least, std::int64_t most,
                 Number& to) {
  const auto amount = fields.integer(name);
  if (!amount) return;
  if (const auto fault = out_of_range(name, amount, least, most)) return fields.refuse(name, fault->message);
  to = static_cast<Number>(*amount);
}

void read_flag(wire::Fields& fields, std::string_view name, bool& to) {
  if (const auto flag = fields.boolean(name)) to = *flag;
}

NotebookSettings read_settings(wire::Fields& fields) {
  NotebookSettings settings;
  const auto value = fields.object("settings");
  if (!value) return settings;
  wire::Fields members(*value, fields.path("settings."));
  read_seconds(members, "worker_poll_interval", Millis(10), std::chrono::minutes(1), settings.poll_interval);
  read_amount(members, "worker_batch_size", 1, limits::kClaim, settings.batch_size);
  read_seconds(members, "git_commit_interval", Millis(0), kDay, settings.git_commit_interval);
  read_amount(members, "git_commit_max_files", 1, 1'000'000, settings.git_commit_max_files);
  read_amount(members, "max_retries", 0, limits::kMaxRetries, settings.max_retries);
  read_seconds(members, "retry_backoff", Millis(0), kDay, settings.retry_backoff);
  read_whole_seconds(members, "completed_event_retention", settings.completed_retention);
  read_whole_seconds(members, "failed_event_retention", settings.failed_retention);
  if (auto filters = members.text("git_bypass_filters")) settings.git_bypass_filters = std::move(*filters);
  read_flag(members, "git_nested", settings.git_nested);
  read_amount(members, "max_file_size", 1, kTebibyte, settings.max_file_size);
  read_whole_seconds(members, "deleted_metadata_retention", settings.deleted_metadata_retention);
  read_flag(members, "portable_names", settings.portable_names);
  if (auto fault = members.fault()) fields.refuse(*fault);
  return settings;
}

std::string read_required(wire::Fields& fields, std::string_view name) {
  auto text = fields.text(name);
  if (text && !text->empty()) return std::move(*text);
  fields.refuse(name, std::string(name) + " is missing or empty.");
  return "";
}

// Reads `name` beside `metadata` into the member of `metadata` with that name.
void read_beside(wire::Fields& fields, std::string_view name, std::optional<std::string>& in_metadata) {
  const auto beside = fields.text(name);
  if (!beside) return;
  if (in_metadata && *in_metadata != *beside) {
    fields.refuse(name, std::string(name) + " and metadata." + std::string(name) +
                            " have different texts; send one of them.");
  }
  in_metadata = beside;
}

// Title and description may also be beside `metadata`.
Metadata read_all_metadata(wire::Fields& fields) {
  Metadata metadata = read_metadata(fields);
  read_beside(fields, "title", metadata.title);
  read_beside(fields, "description", metadata.description);
  return metadata;
}

// Checks the size here, so that the message names the members of the request. The queue checks it again with
// the path that an update adds.
std::optional<Error> too_much_content(const ChangeRequest& request) {
  const Operation operation{
      .kind = request.kind, .path = request.path, .content = request.content, .metadata = request.metadata};
  const std::size_t size = write_operation(operation).size();
  if (size <= limits::kPayload) return std::nullopt;
  return Error{ErrorCode::too_large,
               "content and metadata have " + std::to_string(size) + " bytes as JSON; at most " +
                   std::to_string(limits::kPayload) + " fit into an event.",
               "content"};
}

// An error of a member comes before the size: a wrong type is the better explanation.
Result<ChangeRequest> checked(wire::Fields& fields, ChangeRequest request) {
  if (auto fault = fields.fault()) return *fault;
  if (auto fault = too_much_content(request)) return *fault;
  return request;
}

void write_settings(JsonWriter& json, const NotebookSettings& settings) {
  json.begin_object();
  json.key("worker_poll_interval").number(seconds_of(settings.poll_interval));
  json.key("worker_batch_size").integer(static_cast<std::int64_t>(settings.batch_size));
  json.key("git_commit_interval").number(seconds_of(settings.git_commit_interval));
  json.key("git_commit_max_files").integer(static_cast<std::int64_t>(settings.git_commit_max_files));
  json.key("max_retries").integer(settings.max_retries);
  json.key("retry_backoff").number(seconds_of(settings.retry_backoff));
  json.key("completed_event_retention").integer(settings.completed_retention.count());
  json.key("failed_event_retention").integer(settings.failed_retention.count());
  json.key("git_bypass_filters").string(settings.git_bypass_filters);
  json.key("git_nested").boolean(settings.git_nested);
  json.key("max_file_size").integer(settings.max_file_size);
  json.key("deleted_metadata_retention").integer(settings.deleted_metadata_retention.count());
  json.key("portable_names").boolean(settings.portable_names);
  json.end_object();
}

void write_watcher(JsonWriter& json, const WatcherStats& watcher) {
  json.begin_object();
  json.key("events").integer(static_cast<std::int64_t>(watcher.events));
  json.key("overflows").integer(static_cast<std::int64_t>(watcher.overflows));
  json.key("watches").integer(static_cast<std::int64_t>(watcher.watches));
  json.key("polls").boolean(watcher.polls);
  json.end_object();
}

void write_uncommitted(JsonWriter& json, const std::vector<UncommittedFiles>& all) {
  json.begin_array();
  for (const UncommittedFiles& files : all) {
    json.begin_object();
    json.key("git").string(files.git);
    json.key("count").integer(files.count);
    json.key("paths").begin_array();
    for (const std::string& path : files.paths) json.string(path);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_sample(JsonWriter& json, std::string_view name, const PathSample& sample) {
  if (sample.count == 0) return;
  json.key(name).begin_object();
  json.key("count").integer(static_cast<std::int64_t>(sample.count));
  json.key("paths").begin_array();
  for (const std::string& path : sample.paths) json.string(path);
  json.end_array().end_object();
}

// The current errors of the worker, of git commits and of the watcher, and the files that no commit takes.
void write_trouble(JsonWriter& json, const NotebookStatus& status) {
  json.begin_object();
  if (!status.worker.worker_trouble.empty()) json.key("worker").string(status.worker.worker_trouble);
  if (!status.worker.commit_trouble.empty()) json.key("commit").string(status.worker.commit_trouble);
  if (!status.watcher_trouble.empty()) json.key("watcher").string(status.watcher_trouble);
  if (!status.not_committed.empty()) write_uncommitted(json.key("files"), status.not_committed);
  write_sample(json, "too_large", status.files.too_large);
  write_sample(json, "unreadable", status.files.unreadable);
  json.end_object();
}

}  // namespace

Result<NotebookRequest> read_notebook(const JsonValue& body) {
  wire::Fields fields(body, "");
  NotebookRequest request;
  request.name = read_required(fields, "name");
  request.path = read_required(fields, "path");
  request.settings = read_settings(fields);
  if (auto fault = fields.fault()) return *fault;
  return request;
}

Result<ChangeRequest> read_create(const JsonValue& body) {
  wire::Fields fields(body, "");
  ChangeRequest request{.kind = OperationKind::create};
  request.path = read_required(fields, "path");
  request.content = fields.text("content");
  request.metadata = read_all_metadata(fields);
  request.folder = fields.boolean("is_directory").value_or(false);
  if (request.folder && (request.content || request.metadata != Metadata())) {
    fields.refuse("is_directory", "A folder has neither content nor metadata; leave them out.");
  }
  // A new file without content is empty, while an update without content leaves it as it is.
  if (!request.folder && !request.content) request.content = "";
  return checked(fields, std::move(request));
}

Result<ChangeRequest> read_update(const JsonValue& body) {
  wire::Fields fields(body, "");
  ChangeRequest request{.kind = OperationKind::update};
  request.content = fields.text("content");
  request.metadata = read_all_metadata(fields);
  // An earlier fault is returned first, so a wrong type is not reported as an empty update.
  if (!request.content && request.metadata == Metadata()) {
    if (auto fault = fields.fault()) return *fault;
    fields.refuse("content", "There is nothing to change: give content, metadata, title or description.");
  }
  return checked(fields, std::move(request));
}

Result<ChangeRequest> read_move(const JsonValue& body) {
  wire::Fields fields(body, "");
  ChangeRequest request{.kind = OperationKind::move};
  request.source_path = fields.text("source_path");
  request.dest_path = read_required(fields, "dest_path");
  if (auto fault = fields.fault()) return *fault;
  return request;
}

void write_notebook(JsonWriter& json, const NotebookStatus& status) {
  json.begin_object();
  json.key("name").string(status.row.name);
  json.key("path").string(status.row.path);
  json.key("queue").string("notebook:" + status.row.name);
  json.key("created_at").time(status.row.created_at);
  json.key("files").integer(status.counts.files);
  json.key("folders").integer(status.counts.folders);
  json.key("bytes").integer(status.counts.bytes);
  json.key("uncommitted").integer(status.waiting.paths);
  if (status.waiting.since) json.key("uncommitted_since").time(*status.waiting.since);
  if (status.last_commit) {
    json.key("last_commit");
    write_commit(json, *status.last_commit);
  }
  json.key("watcher");
  write_watcher(json, status.watcher);
  json.key("trouble");
  write_trouble(json, status);
  json.key("settings");
  write_settings(json, status.row.settings);
  json.end_object();
}

void write_file(JsonWriter& json, const FileRow& file) {
  json.begin_object();
  json.key("id").integer(file.id);
  json.key("path").string(file.path);
  json.key("kind").string(file.folder ? "folder" : "file");
  // A folder has an id and a path, nothing else.
  if (!file.folder) {
    json.key("size").integer(file.state.size);
    json.key("hash").string_or_null(file.hash);  // null: the file is larger than max_file_size
    json.key("content_type").string(file.content_type);
    if (file.metadata.title) json.key("title").string(*file.metadata.title);
    if (file.metadata.description) json.key("description").string(*file.metadata.description);
    // `extra` was parsed when the change was read, so it is valid JSON.
    if (!file.metadata.extra.empty()) json.key("extra").raw(file.metadata.extra);
    json.key("updated_at").time(file.updated_at);
    if (!file.event_id.empty()) json.key("event_id").string(file.event_id);
    if (!file.git.empty()) json.key("git").string(file.git);
  }
  json.end_object();
}

void write_commit(JsonWriter& json, const CommitRow& commit) {
  json.begin_object();
  json.key("hash").string(commit.hash);
  json.key("message").string(commit.message);
  json.key("at").time(commit.at);
  json.key("files").integer(commit.files);
  json.key("event_ids").begin_array();
  for (const std::string& id : commit.event_ids) json.string(id);
  json.end_array().end_object();
}

void write_event_members(JsonWriter& json, const Event& event, Status status) {
  json.key("event_id").string(event.event_id);
  json.key("status").string(name_of(status));
  json.key("event").begin_object();
  json.key("id").integer(static_cast<std::int64_t>(event.id));
  json.key("event_id").string(event.event_id);
  json.key("status").string(name_of(status)).end_object();
}

void write_accepted(JsonWriter& json, const Accepted& accepted, Status status) {
  json.begin_object();
  write_event_members(json, accepted.event, status);
  if (accepted.file_id != 0) json.key("file_id").integer(accepted.file_id);
  if (!accepted.path.empty()) json.key("path").string(accepted.path);
  if (accepted.group) {
    json.key("correlation_id").string(accepted.correlation_id);
    json.key("file_count").integer(accepted.file_count);
  }
  json.end_object();
}

// Every family has one sample per notebook, as Prometheus requires all samples of a family in one group.
void append_metrics(std::string& out, const std::vector<NotebookStatus>& notebooks) {
  wire::PrometheusPage page(out);
  const auto family = [&](std::string_view name, std::string_view type, std::string_view help,
                          const auto& value_of) {
    page.family(name, type, help);
    for (const NotebookStatus& one : notebooks) {
      page.sample({{"notebook", one.row.name}}, static_cast<std::int64_t>(value_of(one)));
    }
  };
  using Of = const NotebookStatus&;
  family("eventq_git_commits_total", "counter", "Commits made since the start.",
         [](Of one) { return one.worker.commits; });
  page.family("eventq_git_batch_files", "summary", "Files of one commit.");
  for (const NotebookStatus& one : notebooks) {
    const auto files = static_cast<std::int64_t>(one.worker.committed_files);
    page.sample({{"notebook", one.row.name}}, files, "_sum");
    page.sample({{"notebook", one.row.name}}, static_cast<std::int64_t>(one.worker.commits), "_count");
  }
  family("eventq_git_pending_files", "gauge", "Changed files that wait for a commit.",
         [](Of one) { return one.waiting.paths; });
  family("eventq_watcher_events_total", "counter", "Changes that inotify reported since the start.",
         [](Of one) { return one.watcher.events; });
  family("eventq_watcher_overflows_total", "counter", "Times that inotify dropped events since the start.",
         [](Of one) { return one.watcher.overflows; });
  family("eventq_watches", "gauge", "Folders that inotify watches.",
         [](Of one) { return one.watcher.watches; });
}

}  // namespace eventq::notebook
