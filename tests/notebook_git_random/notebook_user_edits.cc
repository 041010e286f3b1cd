// notebook_user_edits.cc: the changes of notebook_user.h that another program makes in the folder.
#include <algorithm>
#include <filesystem>

#include "notebook_git_random/notebook_user.h"

namespace eventq {
namespace fs = std::filesystem;

void NotebookUser::change_outside() {
  const std::size_t kind = draw(100);
  if (kind < 30) {
    const std::string path = chance(30) ? new_path() : some_path();
    if (fs::is_directory(server_.root() + "/" + path)) return;
    note("write " + path + " " + std::to_string(write_outside(path)));
    return;
  }
  const auto paths = paths_on_disk();
  if (paths.empty()) return;
  const std::string path = paths[draw(paths.size())];
  if (kind < 50) return save_by_rename(path);
  if (kind < 65) return rename_outside(path, some_path());
  if (kind < 75) return rename_folder_outside();
  if (kind < 90) return remove_outside(path);
  restore_outside(path);
}

int NotebookUser::write_outside(const std::string& path) {
  contents_.excuse_all_in(read_file(path), "overwritten from outside at " + path);
  const int number = contents_.add(path, branch_, Source::outside);
  contents_.overwritten(path, number);
  server_.put(path, contents_.text(number));
  return number;
}

void NotebookUser::remove_outside(const std::string& path) {
  note("remove " + path);
  contents_.excuse_all_in(read_file(path), "removed from outside at " + path);
  contents_.overwritten(path, contents_.next());
  contents_.allow_deletion(path, branch_);
  fs::remove(server_.root() + "/" + path);
}

// As editors save: a new file replaces the old one.
void NotebookUser::save_by_rename(const std::string& path) {
  contents_.excuse_all_in(read_file(path), "replaced from outside at " + path);
  const int number = contents_.add(path, branch_, Source::outside);
  note("save " + path + " " + std::to_string(number));
  contents_.overwritten(path, number);
  server_.put(path + "~", contents_.text(number));
  contents_.allow_deletion(path + "~", branch_);
  std::error_code gone;
  fs::create_directories(fs::path(server_.root() + "/" + path).parent_path());
  fs::rename(server_.root() + "/" + path + "~", server_.root() + "/" + path, gone);
  EXPECT_FALSE(gone) << path << gone.message();
}

void NotebookUser::rename_outside(const std::string& from, const std::string& to) {
  if (from == to || fs::is_directory(server_.root() + "/" + to)) return;
  note("rename " + from + " to " + to);
  contents_.excuse_all_in(read_file(to), "replaced from outside at " + to);
  contents_.overwritten(to, contents_.next());
  contents_.allow_deletion(from, branch_);
  contents_.moved(from, to);
  std::error_code failed;
  fs::create_directories(fs::path(server_.root() + "/" + to).parent_path(), failed);
  fs::rename(server_.root() + "/" + from, server_.root() + "/" + to, failed);
}

void NotebookUser::rename_folder_outside() {
  const std::string from = chance(50) ? "a" : "b";
  const std::string to = "renamed/" + std::to_string(draw(3));
  std::error_code failed;
  if (!fs::is_directory(server_.root() + "/" + from) || fs::exists(server_.root() + "/" + to)) return;
  note("rename the folder " + from + " to " + to);
  for (const std::string& path : paths_on_disk(from)) {
    contents_.allow_deletion(path, branch_);
    contents_.moved(path, to + path.substr(from.size()));
  }
  fs::create_directories(server_.root() + "/renamed", failed);
  fs::rename(server_.root() + "/" + from, server_.root() + "/" + to, failed);
}

// Removes a file and writes its content again.
void NotebookUser::restore_outside(const std::string& path) {
  wait_for_sent();
  note("remove and restore " + path);
  const std::string content = read_file(path);
  contents_.allow_deletion(path, branch_);
  fs::remove(server_.root() + "/" + path);
  if (chance(50)) server_.expect("200", "POST", "/notebooks/n/rescan");
  if (content != "(absent)") server_.put(path, content);
}

std::vector<std::string> NotebookUser::paths_on_disk(const std::string& folder) {
  std::vector<std::string> paths;
  const fs::path root = server_.root();
  std::error_code gone;  // the notebook may change the folder meanwhile
  for (auto at = fs::recursive_directory_iterator(root / folder, gone);
       at != fs::recursive_directory_iterator(); at.increment(gone)) {
    const std::string path = fs::relative(at->path(), root, gone).string();
    if (path == ".git" || path == ".eventq") {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(gone) && !path.empty()) {
      paths.push_back(path);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace eventq
