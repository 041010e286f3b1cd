// api_file.cc: see api_file.h.
#include "notebook/api/api_file.h"

#include <utility>

#include "base/json_writer.h"
#include "base/percent.h"
#include "base/utf8.h"
#include "http/api/problem.h"
#include "notebook/api/api_json.h"
#include "notebook/file_version.h"

namespace eventq::notebook {
namespace {

using http::Response;

std::string etag_of(const std::string& version) { return "\"" + version + "\""; }

void add_etag(Response& response, const FileRow& file) {
  response.headers.emplace_back("ETag", etag_of(version_of(file)));
}

}  // namespace

Response respond_row(int status, const FileRow& file) {
  Response response;
  response.status = status;
  JsonWriter json(response.body);
  write_file(json, file);
  add_etag(response, file);
  return response;
}

// Sends every file as text or as bytes, because a browser would run a script in a page of this origin. The
// name is percent-encoded UTF-8 (RFC 6266), because a note's name may have any letters and quotes.
Response respond_content(FileContent content) {
  const std::string& path = content.file.path;
  const bool is_text = content.file.content_type.starts_with("text/") && valid_utf8(content.bytes);
  Response response;
  response.content_type = is_text ? "text/plain; charset=utf-8" : "application/octet-stream";
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Content-Disposition", "attachment; filename*=UTF-8''" +
                                                           percent_encode(path.substr(path.rfind('/') + 1)));
  add_etag(response, content.file);
  response.body = std::move(content.bytes);
  return response;
}

// Adds the members `etag` and `current` to the problem, which ends with '}'.
Response respond_other_version(const std::string& message, const Result<FileRow>& now,
                               const std::string& request_id) {
  Response response = http::respond_with(http::problem_of(kPreconditionFailed, message), request_id);
  if (!now) return response;
  response.body.pop_back();
  response.body += ",\"etag\":";
  append_json_string(response.body, etag_of(version_of(*now)));
  response.body += ",\"current\":";
  JsonWriter json(response.body);
  write_file(json, *now);
  response.body += '}';
  add_etag(response, *now);
  return response;
}

}  // namespace eventq::notebook
