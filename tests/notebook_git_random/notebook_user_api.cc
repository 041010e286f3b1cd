// notebook_user_api.cc: the changes of notebook_user.h that go through the API.
#include "notebook_git_random/notebook_user.h"

namespace eventq {
namespace {

std::string without_quotes(const std::string& text) {
  return text.size() < 2 ? "" : text.substr(1, text.size() - 2);
}

}  // namespace

void NotebookUser::change_by_api() {
  const auto files = list_files();
  const std::size_t kind = draw(100);
  if (files.empty() || kind < 30) return create_by_api();
  const FileEntry& file = files[draw(files.size())];
  if (kind < 65) return update_by_api(file);
  if (kind < 80) return move_by_api(file);
  if (kind < 90) return delete_by_api(file);
  wait_for_sent();
  return kind < 95 ? move_folder_by_api() : delete_folder_by_api();
}

void NotebookUser::create_by_api() {
  const bool is_new = chance(50);
  const std::string path = is_new ? new_path() : some_path();
  const int number = contents_.add(path, branch_, Source::api);
  note("API create " + path + " " + std::to_string(number));
  send("POST", "/notebooks/n/files",
       R"({"path":")" + path + R"(","content":")" + contents_.text(number) + "\"}",
       {.event = "", .number = number, .path = path, .is_new_file = is_new});
}

void NotebookUser::update_by_api(const FileEntry& file) {
  const int number = contents_.add(file.path, branch_, Source::api);
  note("API update " + file.path + " " + std::to_string(number));
  send("PUT", "/notebooks/n/files/" + file.id, R"({"content":")" + contents_.text(number) + "\"}",
       {.event = "", .number = number, .path = file.path});
}

void NotebookUser::move_by_api(const FileEntry& file) {
  const std::string to = some_path();
  note("API move " + file.path + " to " + to);
  contents_.allow_deletion(file.path, branch_);
  contents_.moved(file.path, to);
  send("PATCH", "/notebooks/n/files/" + file.id + "/move", R"({"dest_path":")" + to + "\"}",
       {.event = "", .number = 0, .path = file.path});
}

void NotebookUser::delete_by_api(const FileEntry& file) {
  note("API delete " + file.path);
  contents_.allow_deletion(file.path, branch_);
  contents_.superseded(file.path, contents_.next());
  send("DELETE", "/notebooks/n/files/" + file.id, "", {.event = "", .number = 0, .path = file.path});
}

void NotebookUser::move_folder_by_api() {
  const auto folders = list_files("folder");
  if (folders.empty()) return;
  const FileEntry& folder = folders[draw(folders.size())];
  if (folder.path == "bulk") return;
  const std::string to = "moved" + std::to_string(draw(3)) + "/" + std::to_string(draw(3));
  if (to.starts_with(folder.path)) return;
  note("API move of the folder " + folder.path + " to " + to);
  for (const std::string& path : paths_in(folder.path)) {
    contents_.allow_deletion(path, branch_);
    contents_.moved(path, to + path.substr(folder.path.size()));
  }
  (void)call_api("PATCH", "/notebooks/n/files/" + folder.id + "/move?sync=true",
                 R"({"dest_path":")" + to + "\"}");
}

void NotebookUser::delete_folder_by_api() {
  const auto folders = list_files("folder");
  if (folders.empty()) return;
  const FileEntry& folder = folders[draw(folders.size())];
  if (folder.path == "bulk") return;
  note("API delete of the folder " + folder.path);
  for (const std::string& path : paths_in(folder.path)) {
    contents_.allow_deletion(path, branch_);
    contents_.superseded(path, contents_.next());
  }
  (void)call_api("DELETE", "/notebooks/n/files/" + folder.id + "?sync=true", "");
}

// Of recorded files, and of files that the watcher has not found yet.
std::set<std::string> NotebookUser::paths_in(const std::string& folder) {
  std::set<std::string> paths;
  for (const FileEntry& file : list_files()) paths.insert(file.path);
  for (const std::string& path : paths_on_disk()) paths.insert(path);
  std::erase_if(paths, [&](const std::string& path) { return !path.starts_with(folder + "/"); });
  return paths;
}

// The change may be refused: another one took its path or removed its file first.
JsonLines NotebookUser::call_api(const std::string& method, const std::string& target,
                                 const std::string& body) {
  auto answer = server_.call(method, target, body);
  const std::set<std::string> usual = {"200", "201", "202", "404", "409"};
  EXPECT_TRUE(usual.contains(answer["http status"])) << method << " " << target << answer["message"];
  return answer;
}

bool NotebookUser::send(const std::string& method, const std::string& target, const std::string& body,
                        SentChange change) {
  const bool sync = chance(40) && may_wait_;
  auto answer = call_api(method, sync ? target + "?sync=true" : target, body);
  const std::string status = answer["http status"];
  if (status == "202") change.event = answer["event.id"];
  if (status != "202" && status != "200" && status != "201") return false;
  // From here on the earlier contents of this file may be gone, except those of other programs.
  if (change.number != 0) contents_.superseded(change.path, change.number);
  if (status == "202") {
    sent_.push_back(change);
  } else if (change.number != 0) {
    contents_.acknowledge(change.number);
  }
  return true;
}

// The end of an event, or of the event that replaced it.
std::string NotebookUser::end_of(const std::string& event) {
  auto ended = server_.expect("200", "POST", "/events/" + event + "/wait?timeout=60");
  if (ended["status"] != "\"SUPERSEDED\"" || ended["superseded_by"].empty()) return ended["status"];
  return end_of(ended["superseded_by"]);
}

void NotebookUser::wait_for_sent() {
  for (const SentChange& change : std::exchange(sent_, {})) {
    const std::string end = end_of(change.event);
    EXPECT_TRUE(end == "\"COMPLETED\"" || end == "\"FAILED\"") << change.path << " ended " << end;
    if (end == "\"COMPLETED\"" && change.number != 0) contents_.acknowledge(change.number);
  }
}

std::vector<NotebookUser::FileEntry> NotebookUser::list_files(const std::string& kind) {
  std::vector<FileEntry> files;
  for (std::string after;;) {
    auto page =
        server_.expect("200", "GET", "/notebooks/n/files?limit=1000&kind=" + kind + "&after=" + after);
    const std::size_t before = files.size();
    for (std::size_t at = 0;; ++at) {
      const std::string prefix = "files[" + std::to_string(at) + "].";
      if (!page.contains(prefix + "path")) break;
      files.push_back({page[prefix + "id"], without_quotes(page[prefix + "path"]), page[prefix + "size"],
                       without_quotes(page[prefix + "hash"])});
    }
    if (files.size() < before + 1000) return files;
    after = files.back().path;
  }
}

}  // namespace eventq
