// git_open.cc: see git_open.h.
#include "notebook/git/git_open.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "notebook/files/note_path.h"
#include "notebook/git/git_repo.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kCacheBytes = 16U << 20U;  // for trees and commits of all repositories together

// Runs once; the library is never shut down, because other code in this process may use it.
void init_libgit2() {
  [[maybe_unused]] static const int started = [] {
    const int users = git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, static_cast<ssize_t>(kCacheBytes));
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    // Skip the existence check of every tree entry: each one is from HEAD's tree or was just written.
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
    return users;
  }();
}

int init(git::RepositoryHandle& repo, const std::string& path) {
  git_repository_init_options options = GIT_REPOSITORY_INIT_OPTIONS_INIT;
  options.initial_head = "main";
  return git_repository_init_ext(repo.out(), path.c_str(), &options);
}

// Whether init() may create a repository: there is no .git, or only one from an interrupted init.
bool has_no_repository(const std::string& path) {
  struct stat found {};
  if (::lstat((path + "/.git").c_str(), &found) != 0) return errno == ENOENT;
  return S_ISDIR(found.st_mode) && ::lstat((path + "/.git/HEAD").c_str(), &found) != 0 && errno == ENOENT;
}

// Whether opening failed because another user owns the folder. libgit2 1.5 reports that as a missing
// safe.directory setting.
bool is_owned_by_another_user(int code) {
  if (code == GIT_EOWNER) return true;
  const git_error* last = git_error_last();
  return code == GIT_ENOTFOUND && last != nullptr && std::strstr(last->message, "safe.directory") != nullptr;
}

Result<git::RepositoryHandle> open_or_init(const std::string& path, bool may_init) {
  git::RepositoryHandle repo;
  int done = git_repository_open_ext(repo.out(), path.c_str(), GIT_REPOSITORY_OPEN_NO_SEARCH, nullptr);
  if (done == GIT_ENOTFOUND && may_init && has_no_repository(path)) done = init(repo, path);
  if (done == 0) return repo;
  if (is_owned_by_another_user(done)) {
    return Error{
        ErrorCode::unavailable,
        path + " belongs to another user, and git trusts only its owner. Run as that user, or trust it: " +
            "git config --global --add safe.directory " + path,
        "path"};
  }
  const git_error* last = git_error_last();
  if (last != nullptr && std::strstr(last->message, "unsupported extension") != nullptr) {
    return Error{ErrorCode::conflict,
                 "The repository in " + path + " is of a kind that is not known here (" + last->message +
                     "), such as one with SHA-256.",
                 "path"};
  }
  return git::failure("open a repository in " + path);
}

// Refuses a repository whose work tree is not this folder.
Result<void> check_worktree(git_repository* repo, const std::string& path) {
  if (git_repository_is_bare(repo) != 0) {
    return Error{ErrorCode::conflict,
                 path + " is a bare repository, which has no files. Name another folder.", "path"};
  }
  const std::string files = git_repository_workdir(repo);
  std::error_code failed;
  if (std::filesystem::equivalent(files, path, failed)) return {};
  return Error{ErrorCode::conflict,
               "The repository in " + path + " keeps the files of " + files +
                   " (core.worktree in its configuration). Name that folder.",
               "path"};
}

// Keeps `git add` from adding the temporary files in kOwnFolder.
Result<void> exclude_own_folder(git_repository* repo) {
  const std::string folder = std::string(git_repository_commondir(repo)) + "info";
  const std::string line = "/" + std::string(kOwnFolder) + "/";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  std::string text = "\n";
  {
    std::ifstream file(folder + "/exclude", std::ios::binary);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  if (text.find("\n" + line + "\n") != text.npos || text.ends_with("\n" + line)) return {};
  std::ofstream file(folder + "/exclude", std::ios::binary | std::ios::app);
  file << (text.ends_with('\n') ? "" : "\n") << line << "\n" << std::flush;
  if (!file) return git::system_failure("write to " + folder + "/exclude");
  return {};
}

}  // namespace

Result<void> check_not_nested(const std::string& path) {
  struct stat found {};
  if (::lstat((path + "/.git").c_str(), &found) == 0 || ::stat(path.c_str(), &found) != 0) return {};
  const dev_t disk = found.st_dev;
  for (std::filesystem::path above = std::filesystem::path(path); above.has_relative_path();) {
    above = above.parent_path();
    if (::stat(above.c_str(), &found) != 0 || found.st_dev != disk) return {};
    const std::string git = above / ".git";
    const bool is_file = ::stat(git.c_str(), &found) == 0 && S_ISREG(found.st_mode);
    if (!is_file && ::stat((git + "/HEAD").c_str(), &found) != 0) continue;
    return Error{ErrorCode::conflict,
                 path + " is inside the repository of " + above.string() +
                     ", which would take a repository in it for a submodule. Name another folder, run git " +
                     "init in it, or set git_nested to true.",
                 "path"};
  }
  return {};
}

Result<git::RepositoryHandle> open_repository(const std::string& path, bool may_init) {
  init_libgit2();
  auto repo = open_or_init(path, may_init);
  if (!repo) return repo;
  if (auto fits = check_worktree(*repo, path); !fits) return fits.error();
  if (auto excluded = exclude_own_folder(*repo); !excluded) return excluded.error();
  return repo;
}

}  // namespace eventq::notebook
