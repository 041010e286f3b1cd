// git_import.cc: see git_import.h.
#include "notebook/git/git_import.h"

#include "notebook/git/git_head.h"
#include "notebook/git/git_open.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {
namespace {

using HeadFiles = std::unordered_map<std::string, HeadFile>;

// Called by git_tree_walk(): `folder` is "" or ends with a slash.
int add_entry(const char* folder, const git_tree_entry* entry, void* files) {
  const git_filemode_t mode = git_tree_entry_filemode(entry);
  if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE) return 0;
  std::string blob(GIT_OID_HEXSZ, '0');
  git_oid_fmt(blob.data(), git_tree_entry_id(entry));
  static_cast<HeadFiles*>(files)->emplace(std::string(folder) + git_tree_entry_name(entry),
                                          HeadFile{std::move(blob), mode == GIT_FILEMODE_BLOB_EXECUTABLE});
  return 0;
}

}  // namespace

Result<HeadFiles> head_files(const std::string& path) {
  const auto repo = open_repository(path, false);
  if (!repo) return repo.error();
  const auto head = read_head(*repo);
  if (!head) return head.error();
  HeadFiles files;
  if (!head->commit) return files;
  git::CommitHandle commit;
  git::TreeHandle tree;
  if (git_commit_lookup(commit.out(), *repo, &*head->commit) != 0 ||
      git_commit_tree(tree.out(), commit) != 0 ||
      git_tree_walk(tree, GIT_TREEWALK_PRE, add_entry, &files) != 0) {
    return git::failure("read the commit of " + head->name);
  }
  return files;
}

}  // namespace eventq::notebook
