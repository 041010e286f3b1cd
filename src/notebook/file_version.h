// file_version.h: the version of a file or folder, which is its ETag, and the condition of an If-Match.
//
// Pure: no I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eventq/error.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

// 32 hexadecimal digits that differ after each change of the content, the metadata or the path. Of a folder
// only the path counts, not what is in it.
std::string version_of(const FileRow& row);

// The versions in an If-Match field (RFC 9110), separated by blanks. Nothing: the field is "*", so any
// version fits. A weak tag never matches, so it is left out; the text may be empty then. Errors:
// invalid_argument for a field that is no list of entity tags.
Result<std::optional<std::string>> read_if_match(std::string_view field);

// Whether `versions` has this one.
bool has_version(std::string_view versions, std::string_view version);

// The error when the file has another version. is_version_error() recognises it.
Error version_error(const std::string& path);
bool is_version_error(const Error& error);
// The status code of such a failure, in the report on its event.
inline constexpr int kPreconditionFailed = 412;

}  // namespace eventq::notebook
