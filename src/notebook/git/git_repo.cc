// git_repo.cc: see git_repo.h.
#include "notebook/git/git_repo.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "notebook/git/git_files.h"
#include "notebook/git/git_head.h"
#include "notebook/git/git_index.h"
#include "notebook/git/git_open.h"
#include "notebook/git/git_processes.h"
#include "notebook/git/git_support.h"
#include "notebook/git/git_tree.h"

namespace eventq::notebook {

struct GitRepo::OpenRepository {
  std::string path;
  git::RepositoryHandle repo;
  Descriptor disk;  // the .git folder, for syncfs() and to notice a replaced repository
  GitMarks marks = {};
  LockStamp held_lock = {};
  std::set<std::string> bypassed = {};
  LockStamp links_of = {};  // the index that has these links
  std::vector<std::string> links = {};

  [[nodiscard]] RepositoryFolders folders() const;
  Result<void> sync() const;
  // The paths that differ between two commits, with their entries in the first. Errors: one of the commits
  // does not exist.
  Result<Unstaged> changed_between(const std::string& from, const std::string& to) const;
  // Errors: another git process is at work.
  Result<void> check_free() const;
  [[nodiscard]] Error locked(const std::string& lock, TimePoint now, ErrorCode code) const;
  // Empty: HEAD moved meanwhile, or another process has locked it.
  Result<std::optional<GitCommit>> try_commit(const Folder& folder, const std::vector<std::string>& paths,
                                              const MessageFor& message, TimePoint now,
                                              const KnownFiles& known, const LargeBlobs& blobs);
  Result<bool> move(const GitHead& head, const git_oid& id, const git_signature* signature,
                    const std::string& message, const TakenPaths& taken, UserIndex& index);
  Unstaged unstaged(const std::string& parent, const TakenPaths& taken) const;
  void read_links();
};

namespace {

// HEAD can move between reading and locking it; ten rounds outlast bursts of user commits.
constexpr int kAttempts = 10;
// A commit that was not recorded before a crash is among the newest; user commits may be on top of it.
constexpr int kTrailerCommits = 50;
// Git moves HEAD within milliseconds after it has written the index.
constexpr std::chrono::seconds kFresh{2};
constexpr std::chrono::minutes kStaleLock{10};

// The git operation that the user has in progress; empty: none.
std::string_view user_operation(git_repository* repo) {
  switch (git_repository_state(repo)) {
    case GIT_REPOSITORY_STATE_NONE: return "";
    case GIT_REPOSITORY_STATE_MERGE: return "merge";
    case GIT_REPOSITORY_STATE_REVERT:
    case GIT_REPOSITORY_STATE_REVERT_SEQUENCE: return "revert";
    case GIT_REPOSITORY_STATE_CHERRYPICK:
    case GIT_REPOSITORY_STATE_CHERRYPICK_SEQUENCE: return "cherry-pick";
    case GIT_REPOSITORY_STATE_BISECT: return "bisect";
    case GIT_REPOSITORY_STATE_APPLY_MAILBOX: return "am";
    default: return "rebase";
  }
}

// The tree of a commit; null for an empty hash, which libgit2 treats as an empty tree.
Result<git::TreeHandle> tree_of(git_repository* repo, const std::string& hash) {
  git::TreeHandle tree;
  if (hash.empty()) return tree;
  git_oid id;
  git::CommitHandle commit;
  if (git_oid_fromstr(&id, hash.c_str()) != 0 || git_commit_lookup(commit.out(), repo, &id) != 0 ||
      git_commit_tree(tree.out(), commit) != 0) {
    return git::failure("read commit " + hash);
  }
  return tree;
}

Result<Unstaged> differences(git_repository* repo, git_tree* from, git_tree* to) {
  git_diff_options options = GIT_DIFF_OPTIONS_INIT;
  git::DiffHandle diff;
  if (git_diff_tree_to_tree(diff.out(), repo, from, to, &options) != 0) {
    return git::failure("compare two commits");
  }
  Unstaged found;
  for (std::size_t at = 0; at < git_diff_num_deltas(diff); ++at) {
    const git_diff_delta* delta = git_diff_get_delta(diff, at);
    std::optional<git::Recorded> before;
    if (delta->status != GIT_DELTA_ADDED) before = git::Recorded{delta->old_file.id, delta->old_file.mode};
    found.emplace(delta->old_file.path, before);
  }
  return found;
}

// HEAD's commit and its tree; both empty if the branch has no commit.
struct ParentCommit {
  git::CommitHandle commit;
  git::TreeHandle tree;
};

Result<ParentCommit> read_base(git_repository* repo, const GitHead& head) {
  ParentCommit base;
  if (!head.commit) return base;
  if (git_commit_lookup(base.commit.out(), repo, &*head.commit) != 0 ||
      git_commit_tree(base.tree.out(), base.commit) != 0) {
    return git::failure("read the commit of " + head.name);
  }
  return base;
}

// Errors: conflict while a file in the index is unmerged. It has conflict markers.
Result<void> check_merged(git_index* index) {
  if (index == nullptr || git_index_has_conflicts(index) == 0) return {};
  std::string path;
  for (std::size_t at = 0; at < git_index_entrycount(index) && path.empty(); ++at) {
    const git_index_entry* entry = git_index_get_byindex(index, at);
    if (git_index_entry_stage(entry) > 0) path = entry->path;
  }
  return Error{ErrorCode::conflict,
               path + " is unmerged in git's index: resolve it, then git add it. Changes wait."};
}

bool is_fresh(const UserIndex& index, TimePoint now) {
  if (!index.written_at()) return false;
  const auto age = now - *index.written_at();
  return age < kFresh && age > -kFresh;
}

Result<git::SignatureHandle> sign(git_config* config, TimePoint now) {
  const auto text = [&](const char* key, const char* otherwise) {
    const char* value = nullptr;
    return git_config_get_string(&value, config, key) == 0 && *value != '\0' ? value : otherwise;
  };
  constexpr const char* kName = "eventq";
  constexpr const char* kMail = "eventq@localhost";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  git::SignatureHandle signature;
  if (git_signature_new(signature.out(), text("user.name", kName), text("user.email", kMail), seconds, 0) ==
          0 ||
      git_signature_new(signature.out(), kName, kMail, seconds, 0) ==
          0) {  // libgit2 refuses a user name of only dots
    return signature;
  }
  return git::failure("sign a commit");
}

// Writes the objects of a commit; no reference names it yet.
Result<git_oid> write_commit(git_repository* repo, const ParentCommit& base, const git_signature* signature,
                             const std::string& message, const TakenPaths& taken) {
  TreeChanges changes;
  for (const auto& [path, change] : taken.changed) {
    auto& after = changes[path];
    if (change.after) after = git::Recorded{change.after->id, change.after->mode};
  }
  const auto tree_id = write_tree(repo, base.tree, changes);
  if (!tree_id) return tree_id.error();
  git::TreeHandle tree;
  if (git_tree_lookup(tree.out(), repo, &*tree_id) != 0) return git::failure("write a tree");
  git_oid id;
  const git_commit* parents[] = {base.commit};
  if (git_commit_create(&id, repo, nullptr, signature, signature, nullptr, message.c_str(), tree,
                        base.commit != nullptr ? 1 : 0, parents) != 0) {
    return git::failure("write a commit");
  }
  return id;
}

std::string log_line(const GitHead& head, const std::string& message) {
  return (head.commit ? "commit: " : "commit (initial): ") + message.substr(0, message.find('\n'));
}

std::vector<std::string> trailers_in(const char* message, const std::string& key) {
  git_message_trailer_array found{};
  std::vector<std::string> values;
  if (git_message_trailers(&found, message) != 0) return values;
  for (std::size_t at = 0; at < found.count; ++at) {
    if (found.trailers[at].key == key) values.emplace_back(found.trailers[at].value);
  }
  git_message_trailer_array_free(&found);
  return values;
}

}  // namespace

GitRepo::GitRepo(std::unique_ptr<OpenRepository> opened) : open_(std::move(opened)) {}
GitRepo::GitRepo(GitRepo&&) noexcept = default;
GitRepo::~GitRepo() = default;

Result<GitRepo> GitRepo::open(const std::string& path, IfAbsent absent) {
  auto repo = open_repository(path, absent == IfAbsent::init);
  if (!repo) return repo.error();
  Descriptor disk(::open(git_repository_commondir(*repo), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!disk.open()) return git::system_failure("open the repository in " + path);
  if (const auto head = read_head(*repo)) remove_left_locks(*repo, *head);
  UserIndex::remove_left_lock(git_repository_path(*repo));
  return GitRepo(std::make_unique<OpenRepository>(OpenRepository{path, std::move(*repo), std::move(disk)}));
}

// The user may have replaced .git. Open the new repository, but never create one in its place.
Result<void> GitRepo::reopen_if_replaced() {
  struct stat held {};
  struct stat there {};
  if (::fstat(open_->disk.number(), &held) != 0 ||
      ::stat(git_repository_commondir(open_->repo), &there) != 0) {
    return git::system_failure("find its repository in " + open_->path);
  }
  if (held.st_dev == there.st_dev && held.st_ino == there.st_ino) return {};
  auto opened = open(open_->path, IfAbsent::refuse);
  if (!opened) return opened.error();
  opened->remember(marks());
  opened->open_->bypassed = open_->bypassed;
  open_ = std::move(opened->open_);
  return {};
}

const GitMarks& GitRepo::marks() const { return open_->marks; }

void GitRepo::remember(GitMarks marks) { open_->marks = std::move(marks); }

Result<std::optional<MovedHead>> GitRepo::moved() {
  if (auto kept = reopen_if_replaced(); !kept) return kept.error();
  if (!user_operation(open_->repo).empty()) return std::optional<MovedHead>();
  const auto head = read_head(open_->repo);
  if (!head) return head.error();
  MovedHead moved{.to = hash_of(*head)};
  const auto& seen = open_->marks.head;
  if (seen == moved.to) return std::optional<MovedHead>();
  using LastSeen = MovedHead::LastSeen;
  moved.from = seen ? LastSeen::seen : LastSeen::unseen;
  auto changed = open_->changed_between(seen.value_or(""), moved.to);
  if (!changed && seen) {
    moved.from = LastSeen::gone;
    changed = open_->changed_between("", moved.to);
  }
  if (!changed) return changed.error();
  for (const auto& [path, recorded] : *changed) moved.paths.push_back(path);
  return std::optional(std::move(moved));
}

Result<GitCommit> GitRepo::commit(const Folder& folder, const std::vector<std::string>& paths,
                                  const MessageFor& message, TimePoint now, const KnownFiles& known,
                                  const LargeBlobs& blobs) {
  if (auto kept = reopen_if_replaced(); !kept) return kept.error();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto done = open_->try_commit(folder, paths, message, now, known, blobs);
    if (!done) return done.error();
    if (*done) return **done;
  }
  const auto head = read_head(open_->repo);
  const std::string lock = head ? lock_on(open_->repo, *head) : "";
  if (!lock.empty()) return open_->locked(lock, now, ErrorCode::conflict);
  return Error{ErrorCode::conflict, "Other git processes kept moving HEAD. Changes wait."};
}

RepositoryFolders GitRepo::OpenRepository::folders() const { return {path, git_repository_path(repo)}; }

Result<void> GitRepo::OpenRepository::check_free() const {
  if (const auto what = user_operation(repo); !what.empty()) {
    return Error{ErrorCode::conflict,
                 "A git " + std::string(what) + " is under way here; finish it, or abort it. Changes wait."};
  }
  if (const auto running = running_git(folders())) {
    return Error{ErrorCode::unavailable, *running + " is at work here. Changes wait until it has ended."};
  }
  return {};
}

// The error for a lock of another process. Says so if that process seems to have died.
Error GitRepo::OpenRepository::locked(const std::string& lock, TimePoint now, ErrorCode code) const {
  struct stat found {};
  const bool exists = ::lstat(lock.c_str(), &found) == 0;
  const auto age = now - TimePoint(std::chrono::seconds(found.st_mtim.tv_sec));
  if (exists && age >= kStaleLock && !is_in_use(folders())) {
    return {code, "The lock " + lock + " is older than 10 minutes, and no process has the repository open. " +
                      "Changes wait. If no git runs, remove the lock: rm " + lock};
  }
  return {code, "Another git process holds the lock " + lock + ". Changes wait until it is gone."};
}

Result<void> GitRepo::OpenRepository::sync() const {
  if (::syncfs(disk.number()) != 0) return git::system_failure("sync its files");
  return {};
}

Result<Unstaged> GitRepo::OpenRepository::changed_between(const std::string& from,
                                                          const std::string& to) const {
  const auto before = tree_of(repo, from);
  if (!before) return before.error();
  const auto after = tree_of(repo, to);
  if (!after) return after.error();
  return differences(repo, *before, *after);
}

Result<std::optional<GitCommit>> GitRepo::OpenRepository::try_commit(const Folder& folder,
                                                                     const std::vector<std::string>& paths,
                                                                     const MessageFor& message_for,
                                                                     TimePoint now, const KnownFiles& known,
                                                                     const LargeBlobs& blobs) {
  // Before the lock, so that a git command that is about to take it does not fail.
  if (auto free = check_free(); !free) return free.error();
  const std::string folder_of_git = git_repository_path(repo);
  auto index = UserIndex::lock(folder_of_git, held_lock);
  if (!index) return index.error();
  if (!*index) return locked(folder_of_git + "index.lock", now, ErrorCode::unavailable);
  // Again: a git command that has released the lock may not have moved HEAD yet.
  if (auto free = check_free(); !free) return free.error();
  if (auto merged = check_merged((*index)->entries()); !merged) return merged.error();
  const auto head = read_head(repo);
  if (!head) return head.error();
  const auto base = read_base(repo, *head);
  if (!base) return base.error();
  git::ConfigHandle config;
  if (git_repository_config_snapshot(config.out(), repo) != 0) return git::failure("read its configuration");
  const bool fresh = is_fresh(**index, now);
  auto taken = take_paths(
      {repo, config, base->tree, (*index)->entries(), folder, known, blobs, bypassed, fresh}, paths);
  if (!taken) return taken.error();
  GitCommit result{.left_out = taken->left_out, .filtered = taken->filtered};
  if (taken->changed.empty()) return std::optional(std::move(result));

  for (const auto& entry : taken->changed) result.changed.push_back(entry.first);
  const std::string message = message_for(result.changed);
  const auto signature = sign(config, now);
  if (!signature) return signature.error();
  const auto id = write_commit(repo, *base, *signature, message, *taken);
  if (!id) return id.error();
  // Objects must be on disk before HEAD names them: after a power failure git could not read the commit.
  if (auto synced = sync(); !synced) return synced.error();
  const auto moved = move(*head, *id, *signature, message, *taken, **index);
  if (!moved) return moved.error();
  if (!*moved) return std::optional<GitCommit>();
  index->reset();  // removes the lock
  result.hash = git_oid_tostr_s(&*id);
  result.files = result.changed.size();
  if (auto synced = sync(); !synced) return synced.error();
  return std::optional(std::move(result));
}

// Moves HEAD and the index. False: HEAD moved meanwhile, or another process has locked it.
Result<bool> GitRepo::OpenRepository::move(const GitHead& head, const git_oid& id,
                                           const git_signature* signature, const std::string& message,
                                           const TakenPaths& taken, UserIndex& index) {
  const std::string parent = hash_of(head);
  auto made = tree_of(repo, git_oid_tostr_s(&id));
  if (!made) return made.error();
  index.prepare(unstaged(parent, taken), [&](const std::string& name) -> std::optional<git_index_entry> {
    if (const auto found = taken.changed.find(name); found != taken.changed.end()) return found->second.after;
    const auto recorded = entry_at(*made, name);
    if (!recorded || !*recorded) return std::nullopt;
    git_index_entry entry{};
    entry.id = (*recorded)->id;
    entry.mode = (*recorded)->mode;
    return entry;
  });
  auto moved = move_head(repo, head, id, signature, log_line(head, message), index);
  if (!moved || !*moved) return moved;
  if (index.is_exchanged()) {
    marks.index.reset();
  } else if (!marks.index) {
    marks.index = parent;
  }
  // Otherwise moved() must still report the commits below.
  if (marks.head == parent) marks.head = git_oid_tostr_s(&id);
  return true;
}

// The entries that the user's index has if the user staged nothing: those before this commit and, if the
// index could not follow earlier commits, those before them. If the first of these is gone, its entries stay
// as they are.
Unstaged GitRepo::OpenRepository::unstaged(const std::string& parent, const TakenPaths& taken) const {
  Unstaged all;
  if (marks.index) {
    if (auto behind = changed_between(*marks.index, parent)) all = std::move(*behind);
  }
  for (const auto& [name, change] : taken.changed) all.emplace(name, change.before);
  return all;
}

void GitRepo::OpenRepository::read_links() {
  const std::string name = std::string(git_repository_path(repo)) + "index";
  struct stat found {};
  if (::stat(name.c_str(), &found) != 0) return links.clear();
  const LockStamp stamp{found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
  if (stamp == links_of) return;
  links.clear();
  git::IndexHandle index;
  if (git_index_open(index.out(), name.c_str()) != 0) return;
  for (std::size_t at = 0; at < git_index_entrycount(index); ++at) {
    const git_index_entry* entry = git_index_get_byindex(index, at);
    if (entry->mode == GIT_FILEMODE_LINK) links.emplace_back(entry->path);
  }
  links_of = stamp;
}

Result<std::vector<std::string>> GitRepo::gone_links(const Folder& folder) {
  if (auto kept = reopen_if_replaced(); !kept) return kept.error();
  open_->read_links();
  std::vector<std::string> gone;
  for (const std::string& path : open_->links) {
    const auto kind = folder.kind(path);
    if (kind && *kind == PathKind::absent) gone.push_back(path);
  }
  if (gone.empty()) return gone;
  const auto head = read_head(open_->repo);
  if (!head) return head.error();
  const auto base = read_base(open_->repo, *head);
  if (!base) return base.error();
  std::erase_if(gone, [&](const std::string& path) {
    const auto entry = entry_at(base->tree, path);
    return entry && !*entry;
  });
  return gone;
}

void GitRepo::bypass_filters(const std::string& names) {
  open_->bypassed.clear();
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(',', at), names.size());
    std::string name = names.substr(at, end - at);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) open_->bypassed.insert(std::move(name));
    at = end + 1;
  }
}

Result<std::vector<TrailedCommit>> GitRepo::with_trailer(const std::string& key) {
  const auto head = read_head(open_->repo);
  if (!head) return head.error();
  std::vector<TrailedCommit> found;
  if (!head->commit) return found;
  git::CommitHandle commit;
  if (git_commit_lookup(commit.out(), open_->repo, &*head->commit) != 0) {
    return git::failure("read its history");
  }
  for (int seen = 0; seen < kTrailerCommits; ++seen) {
    auto values = trailers_in(git_commit_message(commit), key);
    if (!values.empty()) found.push_back({git_oid_tostr_s(git_commit_id(commit)), std::move(values)});
    git::CommitHandle parent;
    if (git_commit_parent(parent.out(), commit, 0) != 0)
      break;  // the root commit, or the end of a shallow clone
    commit = std::move(parent);
  }
  return found;
}

}  // namespace eventq::notebook
