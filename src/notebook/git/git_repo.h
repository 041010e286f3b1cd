// git_repo.h: commits of single paths, beside whatever the user does in the same repository.
//
// libgit2 in this process: no hook, filter or configured program is run. The tree of a commit is made in
// memory from that of HEAD and the given paths; HEAD is moved only if it is still where it was, else it is
// all done again. The entries of those paths in the user's index move with it (git_index.h), where the user
// has staged nothing else for them; if the index stays locked they follow with a later commit.
//
// Somebody else may move HEAD so that it no longer has what was committed here: by a commit from an index
// that is older, or by a new repository in the place of this one. moved() tells which paths to commit again.
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
  std::string hash;                   // empty: the files are as HEAD has them, nothing to commit
  std::size_t files = 0;              // paths that differ from the commit before
  std::vector<std::string> left_out;  // could not be read, or were not as known
};

// Commits by their hashes, empty where there was none yet; to be remembered while nobody serves it.
struct GitMarks {
  std::optional<std::string> head;   // where HEAD was seen last; nothing: never
  std::optional<std::string> index;  // what the user's index last followed; nothing: it is not behind
  friend bool operator==(const GitMarks&, const GitMarks&) = default;
};

struct MovedHead {
  std::string to;                  // the commit; empty: none yet
  std::vector<std::string> paths;  // that are not there as they were where HEAD was seen last
  // It was not seen before, or what was seen then is gone. The paths are all that are there now; others may
  // have been there.
  enum class LastSeen : std::uint8_t { seen, unseen, gone } from{};
};

// A commit, and the values of one trailer of its message.
struct TrailedCommit {
  std::string hash;
  std::vector<std::string> values;
};

// What files are taken for; without an entry: as they are.
using KnownFiles = std::unordered_map<std::string, std::optional<FileState>>;

// The message of a commit that changes these paths. Those that are left out are not among them.
using MessageFor = std::function<std::string(const std::vector<std::string>& changed,
                                             const std::vector<std::string>& left_out)>;

class GitRepo {
 public:
  // Makes the folder a repository (branch main) if it is none itself; its parents do not count. kOwnFolder
  // goes to .git/info/exclude. Errors: unavailable, saying what git makes of it; conflict for a bare one.
  static Result<GitRepo> open(const std::string& path);
  GitRepo(GitRepo&&) noexcept;
  ~GitRepo();

  // Commits these paths as they are in `folder` now: there or not. One that is not as `known` is left out;
  // one that is known not to be there goes, also if somebody has made it a moment ago. `message` is whole,
  // with trailers. The author is the user's user.name and user.email, or eventq. On disk when it returns.
  // Errors: conflict while the user merges, rebases or the like, or when HEAD moves again and again;
  // unavailable, no_space.
  Result<GitCommit> commit(const Folder& folder, const std::vector<std::string>& paths,
                           const MessageFor& message, TimePoint now, const KnownFiles& known = {});

  // Where somebody else has moved HEAD to since it was seen; then remember() that it was. Nothing: it is
  // where it was, or the user is about to merge, rebase or the like.
  Result<std::optional<MovedHead>> moved();

  // Our own commits change them.
  [[nodiscard]] const GitMarks& marks() const;
  void remember(GitMarks marks);

  // HEAD and its last few ancestors, each the first parent of the one before, that have this trailer.
  Result<std::vector<TrailedCommit>> with_trailer(const std::string& key);

 private:
  struct OpenRepository;
  explicit GitRepo(std::unique_ptr<OpenRepository> opened);
  enum class IfAbsent : bool { refuse, init };
  static Result<GitRepo> open(const std::string& path, IfAbsent absent);
  Result<void> reopen_if_replaced();
  std::unique_ptr<OpenRepository> open_;
};

}  // namespace eventq::notebook
