// api_json.h: the JSON of notebooks over HTTP: request bodies to values, values to responses.
//
// Errors: invalid_argument or too_large, with the name of the member. Notebooks and Notebook check paths and
// names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "eventq/error.h"
#include "notebook/notebook.h"

namespace eventq::notebook {

// {"name", "path", "settings"}
struct NotebookRequest {
  std::string name;
  std::string path;
  NotebookSettings settings;
};
Result<NotebookRequest> read_notebook(const JsonValue& body);

// {"path", "content", "metadata", "title", "description", "is_directory"}
Result<ChangeRequest> read_create(const JsonValue& body);
// {"content", "metadata", "title", "description"}
Result<ChangeRequest> read_update(const JsonValue& body);
// {"source_path", "dest_path"}
Result<ChangeRequest> read_move(const JsonValue& body);

void write_notebook(JsonWriter& json, const NotebookStatus& status);
void write_file(JsonWriter& json, const FileRow& file);
void write_commit(JsonWriter& json, const CommitRow& commit);
// The members `event_id`, `status` and `event` of an answer about an event. There is no `id`, because that is
// the file's in all other answers.
void write_event_members(JsonWriter& json, const Event& event, Status status);
// `status` is the event's status now, which may be later than that in `accepted`.
void write_accepted(JsonWriter& json, const Accepted& accepted, Status status);

// Appends the metric families of notebooks to a Prometheus text.
void append_metrics(std::string& out, const std::vector<NotebookStatus>& notebooks);

}  // namespace eventq::notebook
