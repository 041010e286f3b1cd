// git_tree.cc: see git_tree.h.
#include "notebook/git/git_tree.h"

#include <vector>

namespace eventq::notebook {
namespace {

using TreeEntryHandle = git::Handle<git_tree_entry, git_tree_entry_free>;

git_tree_update update_of(const std::string& path, const std::optional<git::Recorded>& entry) {
  git_tree_update update{};
  update.path = path.c_str();
  update.action = entry ? GIT_TREE_UPDATE_UPSERT : GIT_TREE_UPDATE_REMOVE;
  if (!entry) return update;
  update.id = entry->id;
  update.filemode = static_cast<git_filemode_t>(entry->mode);
  return update;
}

}  // namespace

Result<std::optional<git::Recorded>> entry_at(git_tree* tree, const std::string& path) {
  if (tree == nullptr) return std::optional<git::Recorded>();
  TreeEntryHandle entry;
  const int found = git_tree_entry_bypath(entry.out(), tree, path.c_str());
  if (found == GIT_ENOTFOUND) git_error_clear();
  if (found == GIT_ENOTFOUND) return std::optional<git::Recorded>();
  if (found != 0) return git::failure("read the tree of " + path);
  const git_filemode_t mode = git_tree_entry_filemode(entry);
  if (mode == GIT_FILEMODE_TREE) return std::optional<git::Recorded>();
  return std::optional(git::Recorded{*git_tree_entry_id(entry), static_cast<std::uint32_t>(mode)});
}

Result<git_oid> write_tree(git_repository* repo, git_tree* base, const TreeChanges& changes) {
  std::vector<git_tree_update> removed;
  std::vector<git_tree_update> put;
  for (const auto& [path, entry] : changes) (entry ? put : removed).push_back(update_of(path, entry));
  git_oid id;
  // Remove first: a file may replace a folder whose entries have to go, and the reverse.
  git::TreeHandle rest;
  if (!removed.empty()) {
    if (git_tree_create_updated(&id, repo, base, removed.size(), removed.data()) != 0 ||
        git_tree_lookup(rest.out(), repo, &id) != 0) {
      return git::failure("write a tree");
    }
    base = rest;
  }
  if (put.empty()) return id;
  if (git_tree_create_updated(&id, repo, base, put.size(), put.data()) != 0)
    return git::failure("write a tree");
  return id;
}

}  // namespace eventq::notebook
