// git_ignores.cc: see git_ignores.h.
#include "notebook/git/git_ignores.h"

#include <unordered_map>
#include <utility>

#include "notebook/files/note_path.h"
#include "notebook/git/git_open.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

struct GitIgnores::IgnoredFolders {
  git::RepositoryHandle repo;
  git::IndexHandle index;
  std::unordered_map<std::string, bool> folders = {};

  bool is_ignored(const std::string& folder) {
    const auto [found, is_new] = folders.emplace(folder, false);
    if (!is_new) return found->second;
    int ignored = 0;
    // An error counts as not ignored, so that no file is missed.
    found->second = git_ignore_path_is_ignored(&ignored, repo, (folder + "/").c_str()) == 0 && ignored == 1;
    return found->second;
  }
};

GitIgnores::GitIgnores(std::unique_ptr<IgnoredFolders> state) : state_(std::move(state)) {}
GitIgnores::GitIgnores(GitIgnores&&) noexcept = default;
GitIgnores::~GitIgnores() = default;

Result<GitIgnores> GitIgnores::open(const std::string& path) {
  auto repo = open_repository(path, false);
  if (!repo) return repo.error();
  git::IndexHandle index;
  if (git_repository_index(index.out(), *repo) != 0) return git::failure("read its index");
  return GitIgnores(std::make_unique<IgnoredFolders>(IgnoredFolders{std::move(*repo), std::move(index)}));
}

void GitIgnores::refresh() {
  state_->folders.clear();
  // After an error the entries of the last time count.
  if (git_index_read(state_->index, 0) != 0) git_error_clear();
}

bool GitIgnores::is_in_ignored_folder(const std::string& path) {
  for (const std::string& folder : folders_of(path)) {
    if (state_->is_ignored(folder)) return !git::recorded(state_->index, path);
  }
  return false;
}

}  // namespace eventq::notebook
