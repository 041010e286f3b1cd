// returning_file.cc: see returning_file.h.
#include "notebook/apply/returning_file.h"

#include <utility>
#include <vector>

namespace eventq::notebook {
namespace {

using Found = std::optional<FileRow>;

constexpr std::size_t kSameFiles = 100;  // deleted files with one content that are compared by inode

// Whether the file of this row is somewhere else now, or deleted.
Result<bool> has_left(const ReturnSearch& in, const FileRow& row) {
  const auto kind = in.folder.kind(row.path);
  if (!kind) return kind.error();
  return *kind != PathKind::file;
}

Result<Found> find_renamed(const ReturnSearch& in, const Digest& digest) {
  auto rows = in.state.files_with(in.notebook, digest.hash, digest.state.inode, kSameFiles);
  if (!rows) return rows.error();
  for (FileRow& row : *rows) {
    if (row.folder || in.used.contains(row.id)) continue;
    if (!is_same_file(row.state, row.hash, digest.state, digest.hash)) continue;
    const auto left = has_left(in, row);
    if (!left) return left.error();
    if (*left) return Found(std::move(row));
  }
  return Found();
}

Result<Found> find_at_path(const ReturnSearch& in, const std::string& path) {
  auto row = in.state.gone_at(in.notebook, path, in.since);
  if (row && *row && in.used.contains((*row)->id)) return Found();
  return row;
}

// Rules 3 and 4.
Result<Found> find_by_content(const ReturnSearch& in, const Digest& digest) {
  auto gone = in.state.gone_with(in.notebook, digest.hash, in.since, kSameFiles);
  if (!gone) return gone.error();
  std::erase_if(*gone, [&](const FileRow& row) { return in.used.contains(row.id); });
  for (FileRow& row : *gone) {
    if (is_same_file(row.state, row.hash, digest.state, digest.hash)) return Found(std::move(row));
  }
  if (digest.hash.empty() || digest.state.size < kTellingBytes || gone->size() > 1) return Found();
  auto rows = in.state.files_with(in.notebook, digest.hash, std::nullopt, 2);
  if (!rows) return rows.error();
  if (gone->size() + rows->size() != 1) return Found();
  if (!gone->empty()) return Found(std::move(gone->front()));
  const auto left = has_left(in, rows->front());
  if (!left) return left.error();
  if (!*left || in.used.contains(rows->front().id)) return Found();
  return Found(std::move(rows->front()));
}

}  // namespace

bool is_same_file(const FileState& state, const std::string& hash, const FileState& other,
                  const std::string& other_hash) {
  return state.inode == other.inode && state.size == other.size && state.modified_ns == other.modified_ns &&
         hash == other_hash;
}

bool is_unchanged(const FileRow& row, const Digest& digest) {
  return row.hash == digest.hash && row.state.size == digest.state.size &&
         row.state.executable == digest.state.executable &&
         (!row.hash.empty() || row.state.modified_ns == digest.state.modified_ns);
}

Result<std::optional<FileRow>> find_returning(const ReturnSearch& in, const std::string& path,
                                              const Digest& digest) {
  auto found = find_renamed(in, digest);
  if (found && !*found) found = find_at_path(in, path);
  if (found && !*found) found = find_by_content(in, digest);
  return found;
}

}  // namespace eventq::notebook
