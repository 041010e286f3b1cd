// notebook_user_checks.cc: the checks of notebook_user.h.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "notebook_git_random/notebook_user.h"

namespace eventq {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kIdleLimit{30};
constexpr std::chrono::milliseconds kBetweenLooks{10};

}  // namespace

bool NotebookUser::commit_by_api() {
  return server_.call("POST", "/events/commit?notebook=n&sync=true")["http status"] == "200";
}

// Every change is found, applied and committed, and the index agrees.
bool NotebookUser::is_idle() {
  if (server_.expect("200", "POST", "/notebooks/n/rescan")["changes"] != "0") return false;
  if (!commit_by_api()) return false;
  if (server_.expect("200", "GET", "/notebooks/n")["uncommitted"] != "0") return false;
  const std::set<std::string> ends = {"counts.COMPLETED", "counts.FAILED", "counts.SUPERSEDED",
                                      "counts.CANCELLED"};
  for (const auto& [name, count] : server_.expect("200", "GET", "/queues/notebook:n")) {
    if (name.starts_with("counts.") && !ends.contains(name) && count != "0") return false;
  }
  return lines("GIT_OPTIONAL_LOCKS=0 git status --porcelain").empty();
}

void NotebookUser::become_idle() {
  wait_for_sent();
  const SteadyTime start = steady_now();
  while (!is_idle()) {
    if (testing::Test::HasFailure() || millis_since(start) > kIdleLimit) {
      ADD_FAILURE() << "The notebook does not become idle. git status:\n"
                    << git_.read("git status --porcelain")
                    << "trouble: " << server_.expect("200", "GET", "/notebooks/n")["trouble.commit"];
      return;
    }
    ASSERT_EQ(server_.server().wait(kBetweenLooks), std::nullopt) << server_.server().log();
  }
}

void NotebookUser::check() {
  become_idle();
  check_commits();
  check_contents();
  check_metadata();
  const GitRun fsck = git_.run({"fsck", "--strict", "--no-dangling", "--no-progress"});
  EXPECT_TRUE(fsck.ok()) << fsck.out << fsck.err;
}

std::map<std::string, std::string> NotebookUser::notebook_commits() {
  std::map<std::string, std::string> commits;
  const auto read_log = [&](const fs::path& file, const std::string& branch) {
    std::ifstream log(file);
    for (std::string line; std::getline(log, line);) {
      const bool by_notebook = line.find(" <notebook@example.org> ") != line.npos;
      if (by_notebook && line.find("\tcommit") != line.npos) commits.emplace(line.substr(41, 40), branch);
    }
  };
  const fs::path logs = server_.root() + "/.git/logs";
  for (const auto& entry : fs::directory_iterator(logs / "refs/heads")) {
    read_log(entry.path(), entry.path().filename().string());
  }
  read_log(logs / "HEAD", "a detached HEAD");
  return commits;
}

std::set<std::string> NotebookUser::notebook_hashes() {
  std::set<std::string> hashes;
  for (const auto& [hash, branch] : notebook_commits()) hashes.insert(hash);
  return hashes;
}

void NotebookUser::check_commits() {
  for (const auto& [hash, branch] : notebook_commits()) {
    if (checked_commits_.insert(hash).second) check_commit(hash, branch);
  }
}

// Lines of diff-tree: ":100644 100644 OLD NEW M\tpath".
void NotebookUser::check_commit(const std::string& hash, const std::string& branch) {
  const auto changes = lines("git diff-tree --root -r --no-renames --no-commit-id " + hash);
  constexpr std::size_t kNewBlob = 56;
  constexpr std::size_t kHash = 40;
  constexpr std::size_t kStatus = kNewBlob + kHash + 1;
  std::vector<std::string> blobs;
  for (const std::string& change : changes) {
    if (change[kStatus] != 'D') blobs.push_back(change.substr(kNewBlob, kHash));
  }
  read_blobs(blobs);
  for (const std::string& change : changes) {
    const std::string path = change.substr(kStatus + 2);
    if (change[kStatus] != 'D') {
      check_blob(hash, branch, change.substr(kNewBlob, kHash), path);
    } else {
      EXPECT_TRUE(contents_.is_allowed_deletion(path, branch))
          << "commit " << hash << " of eventq on " << branch << " deletes " << path
          << ", which was not deleted there";
    }
  }
}

void NotebookUser::check_blob(const std::string& hash, const std::string& branch, const std::string& blob,
                              const std::string& path) {
  const std::string& text = blobs_[blob];
  EXPECT_EQ(text.find("<<<<<<<"), text.npos) << "commit " << hash << " has conflict markers in " << path;
  for (const int number : WrittenContents::numbers_in(text)) {
    if (contents_.is_allowed(number, branch)) continue;
    // A merge, pull or rebase brought it here before.
    const std::string seen = "git rev-list --objects " + hash + "^@ | grep -c " + blob + " || true";
    EXPECT_NE(git_.read(seen), "0\n") << "commit " << hash << " of eventq on " << branch << " has " << path
                                      << " of another branch: " << text;
  }
}

void NotebookUser::check_contents() {
  std::vector<std::string> objects;
  for (const std::string& line : lines("git rev-list --objects --all --reflog")) {
    objects.push_back(line.substr(0, line.find(' ')));
  }
  read_blobs(objects);
  std::set<int> in_history;
  for (const std::string& object : objects) {
    for (const int number : WrittenContents::numbers_in(blobs_[object])) in_history.insert(number);
  }
  std::set<int> in_files;
  for (const std::string& path : paths_on_disk()) {
    for (const int number : WrittenContents::numbers_in(read_file(path))) in_files.insert(number);
  }
  EXPECT_EQ(contents_.lost(in_history, in_files), "") << "lost contents";
}

void NotebookUser::check_metadata() {
  std::map<std::string, std::string> tracked;
  for (const std::string& line : lines("git ls-files -z | xargs -0 -r sha256sum")) {
    const std::string path = line.substr(66);
    tracked[path] = line.substr(0, 64) + " " + std::to_string(fs::file_size(server_.root() + "/" + path));
  }
  std::map<std::string, std::string> recorded;
  for (const FileEntry& file : list_files()) recorded[file.path] = file.hash + " " + file.size;
  for (const auto& [path, file] : tracked) EXPECT_EQ(recorded[path], file) << path;
  for (const auto& [path, file] : recorded) EXPECT_EQ(tracked[path], file) << path;
}

void NotebookUser::read_blobs(const std::vector<std::string>& blobs) {
  const std::string list = server_.server().file("blobs.txt");
  std::ofstream names(list);
  for (const std::string& blob : blobs) {
    if (!blobs_.contains(blob)) names << blob << "\n";
  }
  names.close();
  // Each object: "HASH TYPE SIZE\n", its bytes, "\n".
  const std::string out = git_.read("git cat-file --batch < " + list);
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = out.find('\n', at);
    std::istringstream header(out.substr(at, end - at));
    std::string hash;
    std::string type;
    std::size_t size = 0;
    header >> hash >> type >> size;
    blobs_[hash] = type == "blob" ? out.substr(end + 1, size) : "";
    at = end + 1 + size + 1;
  }
}

}  // namespace eventq
