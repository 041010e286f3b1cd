// api_file.h: responses about one file: its row, its content, and a version that does not fit.
#pragma once

#include <string>

#include "http/api/call.h"
#include "notebook/notebook.h"

namespace eventq::notebook {

// The file with its ETag.
http::Response respond_row(int status, const FileRow& file);

http::Response respond_content(FileContent content);

// 412 with the file as it is now and its ETag, which an If-Match did not name; only the message when there is
// no file any more.
http::Response respond_other_version(const std::string& message, const Result<FileRow>& now,
                                     const std::string& request_id);

}  // namespace eventq::notebook
