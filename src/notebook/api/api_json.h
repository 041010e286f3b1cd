// api_json.h: what is said of notebooks over HTTP: request bodies to values, values to answers.
//
// Errors: invalid_argument or too_large, with the member to blame. Paths and names are checked by who gets
// them.
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

Result<ChangeRequest> read_create(const JsonValue& body);  // {"path", "content", "metadata", "is_directory"}
Result<ChangeRequest> read_update(const JsonValue& body);  // {"content", "metadata"}
Result<ChangeRequest> read_move(const JsonValue& body);    // {"dest_path"}

void write_notebook(JsonWriter& json, const NotebookStatus& status);
void write_file(JsonWriter& json, const FileRow& file);
void write_commit(JsonWriter& json, const CommitRow& commit);
// `status` is what has become of its event by now.
void write_accepted(JsonWriter& json, const Accepted& accepted, Status status);

// Families of metrics for Prometheus, behind those that are in `out`.
void append_metrics(std::string& out, const std::vector<NotebookStatus>& notebooks);

}  // namespace eventq::notebook
