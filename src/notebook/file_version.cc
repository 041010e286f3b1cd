// file_version.cc: see file_version.h.
#include "notebook/file_version.h"

#include <algorithm>

#include "base/hash.h"

namespace eventq::notebook {
namespace {

constexpr std::string_view kField = "If-Match";
constexpr std::string_view kSpaces = " \t";

Error malformed() {
  return {ErrorCode::invalid_argument,
          "If-Match must be \"*\" or a list of ETags as the server sent them, in quotes and separated by "
          "commas.",
          std::string(kField)};
}

// The characters of an entity tag between its quotes.
bool is_tag_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x21 || (byte >= 0x23 && byte != 0x7F);
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
}

}  // namespace

std::string version_of(const FileRow& row) {
  const auto text = [](const std::optional<std::string>& value) { return value ? "=" + *value : ""; };
  return fingerprint({row.folder ? "folder" : "file", row.path, row.hash, row.content_type,
                      text(row.metadata.title), text(row.metadata.description), row.metadata.extra,
                      row.folder ? "" : row.event_id});
}

Result<std::optional<std::string>> read_if_match(std::string_view field) {
  const std::size_t end = field.find_last_not_of(kSpaces);
  field = field.substr(0, end == field.npos ? 0 : end + 1);
  skip_blanks(field);
  if (field == "*") return std::optional<std::string>();
  std::string versions;
  bool any = false;
  while (!field.empty()) {
    // A list may have empty elements.
    if (field.front() == ',') {
      field.remove_prefix(1);
      skip_blanks(field);
      continue;
    }
    const bool weak = field.starts_with("W/");
    if (weak) field.remove_prefix(2);
    if (!field.starts_with('"')) return malformed();
    const std::size_t close = field.find('"', 1);
    if (close == field.npos) return malformed();
    const std::string_view tag = field.substr(1, close - 1);
    if (!std::all_of(tag.begin(), tag.end(), is_tag_char)) return malformed();
    if (!weak) versions.append(versions.empty() ? "" : " ").append(tag);
    any = true;
    field.remove_prefix(close + 1);
    skip_blanks(field);
    if (!field.empty() && field.front() != ',') return malformed();
  }
  if (!any) return malformed();
  return std::optional(std::move(versions));
}

bool has_version(std::string_view versions, std::string_view version) {
  while (!versions.empty()) {
    const std::size_t end = std::min(versions.find(' '), versions.size());
    if (versions.substr(0, end) == version) return true;
    versions.remove_prefix(std::min(end + 1, versions.size()));
  }
  return false;
}

Error version_error(const std::string& path) {
  return {ErrorCode::conflict,
          path + " has another version than If-Match names: it was changed since. Read it again.",
          std::string(kField)};
}

bool is_version_error(const Error& error) {
  return error.code == ErrorCode::conflict && error.field == kField;
}

}  // namespace eventq::notebook
