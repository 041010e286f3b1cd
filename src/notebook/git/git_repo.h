// git_repo.h: commits single paths to a repository in which the user works at the same time.
//
// git/ knows files/ and libgit2; it knows no events and no queue.
//
// libgit2 runs in this process: no hook, filter or configured program is run. commit() locks the user's
// index, reads the files, writes the trees of the changed paths, and moves HEAD. It moves HEAD only if HEAD
// is still where it was; otherwise it starts again. Entries of these paths in the user's index follow
// (git_index.h), unless the user staged something else.
//
// While another git process changes the repository, commit() refuses: during a merge or rebase, while a file
// of the index is unmerged, while git holds a lock, and while a git command that changes files runs.
//
// A user may move HEAD to a commit without our changes: by a commit from an older index, or by replacing the
// repository. moved() returns the paths to commit again.
//
// Threads: a GitRepo belongs to one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "eventq/clock.h"
#include "eventq/error.h"
#include "notebook/files/folder.h"

namespace eventq::notebook {

struct GitCommit {
  std::string hash;                   // empty: the files equal HEAD, no commit was made
  std::size_t files = 0;              // paths that differ from the parent commit
  std::vector<std::string> changed;   // these paths
  std::vector<std::string> left_out;  // could not be read, or differ from `known`
  std::vector<std::string> filtered;  // have a git filter, so they stay as HEAD has them
};

// Hashes of commits, empty for "no commit yet". The caller stores them, so that they survive a restart.
struct GitMarks {
  std::optional<std::string> head;  // the last HEAD seen by moved() or made by commit(); nothing: never
  std::optional<std::string>
      index;  // the last commit that the user's index followed; nothing: it is up to date
  friend bool operator==(const GitMarks&, const GitMarks&) = default;
};

struct MovedHead {
  std::string to;                  // the commit; empty: none yet
  std::vector<std::string> paths;  // paths that differ from the last HEAD seen
  // unseen: HEAD was never seen. gone: the last seen commit no longer exists. In both cases `paths` has all
  // paths of HEAD.
  enum class LastSeen : std::uint8_t { seen, unseen, gone } from{};
};

// A commit with the values of one trailer of its message.
struct TrailedCommit {
  std::string hash;
  std::vector<std::string> values;
};

// By path: the state that a file must have to be committed; an empty state means that it must be absent. So
// commit() leaves out a file that another program changed since. A path without an entry may have any state.
using KnownFiles = std::unordered_map<std::string, std::optional<FileState>>;

// The id of the blob of a large file in this state, stored by store_blob() (git_blobs.h). Nothing: it is not
// stored yet, so commit() leaves the file out. An id that is not stored: commit() stores the file itself.
using LargeBlobs = std::function<std::optional<std::string>(const std::string& path, const FileState& state)>;

// Makes the message of a commit from the paths that it changes.
using MessageFor = std::function<std::string(const std::vector<std::string>& changed)>;

// Refuses a folder without a repository inside the work tree of another one: that repository would take the
// new one for a submodule. Like git, looks only in the same file system. Errors: conflict.
Result<void> check_not_nested(const std::string& path);

class GitRepo {
 public:
  // If `path` itself is no repository, initialises one (branch main) or refuses; parent folders are not
  // searched. Adds kOwnFolder to .git/info/exclude.
  // Errors: unavailable with git's message; conflict for a bare repository.
  enum class IfAbsent : bool { refuse, init };
  static Result<GitRepo> open(const std::string& path, IfAbsent absent = IfAbsent::init);
  GitRepo(GitRepo&&) noexcept;
  ~GitRepo();

  // Commits these paths as they are in `folder`; a missing file is a deletion. A path that differs from
  // `known` is left out; a path known to be absent is deleted even if a file has just appeared. The author is
  // user.name and user.email of git's configuration, or eventq. The commit is synced when this returns.
  // Without `blobs` large files are stored here, which may take long.
  // Errors: conflict during a merge, rebase or similar, or when HEAD keeps moving; unavailable while another
  // git process is at work, and for other errors; no_space.
  Result<GitCommit> commit(const Folder& folder, const std::vector<std::string>& paths,
                           const MessageFor& message, TimePoint now, const KnownFiles& known = {},
                           const LargeBlobs& blobs = {});

  // Whether a user moved HEAD since it was last seen, and where to. The caller stores that with remember().
  // Empty: HEAD has not moved, or a merge, rebase or similar is in progress.
  Result<std::optional<MovedHead>> moved();

  // commit() updates the marks.
  [[nodiscard]] const GitMarks& marks() const;
  void remember(GitMarks marks);

  // The paths of links in HEAD that the folder has no longer. The index lists the links, so they are found
  // without reading the trees.
  Result<std::vector<std::string>> gone_links(const Folder& folder);

  // Names of filters, by commas: files with only these filters are committed as they are.
  void bypass_filters(const std::string& names);

  // The commits with this trailer among HEAD and its nearest first-parent ancestors, newest first.
  Result<std::vector<TrailedCommit>> with_trailer(const std::string& key);

 private:
  struct OpenRepository;
  explicit GitRepo(std::unique_ptr<OpenRepository> opened);
  Result<void> reopen_if_replaced();
  std::unique_ptr<OpenRepository> open_;
};

}  // namespace eventq::notebook
