// import.cc: see import.h.
#include "notebook/import.h"

#include <algorithm>
#include <future>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "notebook/git/git_import.h"

namespace eventq::notebook {
namespace {

using Entry = Folder::WalkEntry;
using HeadFiles = std::unordered_map<std::string, HeadFile>;

constexpr std::size_t kRowsPerTransaction = 10'000;

struct ImportBatch {
  std::vector<FileRow> rows;
  std::vector<PendingChange> changes;
};

bool is_in_head(const HeadFiles& head, const std::string& path, const Digest& digest) {
  const auto found = head.find(path);
  return found != head.end() && found->second.blob == digest.blob &&
         found->second.executable == digest.state.executable;
}

// Files that vanish or cannot be read are left out. Later changes of them are detected.
ImportBatch read_batch(const ImportInput& in, const HeadFiles& head, std::span<const Entry> files) {
  ImportBatch batch;
  for (const Entry& file : files) {
    if (in.digests.stopping()) break;
    auto digest = in.digests.of(file.path, file.state);
    if (!digest || !*digest) continue;
    const bool needs_no_commit = (*digest)->hash.empty() || is_in_head(head, file.path, **digest);
    if (!needs_no_commit) batch.changes.push_back({.path = file.path, .since = in.now});
    batch.rows.push_back({.path = file.path,
                          .state = (*digest)->state,
                          .hash = std::move((*digest)->hash),
                          .content_type = std::move((*digest)->content_type),
                          .updated_at = in.now});
  }
  return batch;
}

// By path, because rows are inserted fastest in the order of their index.
Result<std::vector<Entry>> all_files(const ImportInput& in) {
  std::vector<Entry> files;
  in.digests.forget_troubles("");
  const auto walked = in.folder.walk("", [&](const Entry& seen) {
    if (seen.unreadable) in.digests.note_unreadable(seen.path);
    if (seen.kind == PathKind::file && !in.ignores.is_in_ignored_folder(seen.path)) files.push_back(seen);
  });
  if (!walked) return walked.error();
  std::sort(files.begin(), files.end(), [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return files;
}

}  // namespace

// Two threads: one reads the next batch while the other stores the last one.
Result<void> import_files(const ImportInput& in) {
  using Part = NotebookState::ImportPart;
  auto reading_head = std::async(std::launch::async, [&] { return head_files(in.row.path); });
  const auto files = all_files(in);
  const auto head = reading_head.get();
  if (!head) return head.error();
  if (!files) return files.error();
  const auto read_from = [&](std::size_t from) {
    const std::size_t count = std::min(kRowsPerTransaction, files->size() - from);
    return std::async(std::launch::async, [&, from, count] {
      return read_batch(in, *head, std::span(*files).subspan(from, count));
    });
  };
  std::size_t at = 0;
  auto reading = read_from(at);
  for (;;) {
    const ImportBatch batch = reading.get();
    if (in.digests.stopping()) return Error{ErrorCode::unavailable, "The server is stopping."};
    at += std::min(kRowsPerTransaction, files->size() - at);
    const bool is_last = at == files->size();
    if (!is_last) reading = read_from(at);
    auto put =
        in.state.import_files(in.row.id, batch.rows, batch.changes, is_last ? Part::last : Part::more_follow);
    if (!put || is_last) return put;
  }
}

}  // namespace eventq::notebook
