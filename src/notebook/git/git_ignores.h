// git_ignores.h: which files lie in folders that git ignores, for change detection.
//
// Has its own handle of the repository, because change detection runs beside the worker's GitRepo.
// Threads: a GitIgnores belongs to one thread at a time.
#pragma once

#include <memory>
#include <string>

#include "eventq/error.h"

namespace eventq::notebook {

class GitIgnores {
 public:
  // Errors: as GitRepo::open().
  static Result<GitIgnores> open(const std::string& path);
  GitIgnores(GitIgnores&&) noexcept;
  ~GitIgnores();

  // Reads the index again if it changed, and forgets the folders. Call it before each search for changes.
  void refresh();

  // Whether a folder above `path` is ignored and git does not track the file.
  bool is_in_ignored_folder(const std::string& path);

 private:
  struct IgnoredFolders;
  explicit GitIgnores(std::unique_ptr<IgnoredFolders> state);
  std::unique_ptr<IgnoredFolders> state_;
};

}  // namespace eventq::notebook
