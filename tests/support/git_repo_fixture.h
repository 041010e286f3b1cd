// git_repo_fixture.h: a folder with a repository, and the real git to inspect it, for tests.
#pragma once

#include <git2.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "notebook/git/git_repo.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {

namespace fs = std::filesystem;

// Runs `git fsck` at the end of each test.
class GitRepoTest : public testing::Test {
 protected:
  GitRepoTest() {
    fs::create_directories(home_);
    fs::create_directories(path_);
    git_libgit2_init();
    for (const int level : {GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_SYSTEM}) {
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, home_.c_str());
    }
    set_user();
  }
  ~GitRepoTest() override {
    if (fs::exists(path_ + "/.git/HEAD")) git({"fsck", "--strict"});
    git_libgit2_shutdown();
  }

  void set_user() {
    std::ofstream(home_ + "/.gitconfig") << "[user]\n\tname = Ann\n\temail = ann@example.org\n"
                                         << "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n";
  }

  // Runs git, which must succeed, and returns its output.
  std::string git(const std::vector<std::string>& arguments) { return git_in(path_, arguments); }
  std::string git_in(const std::string& folder, const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"git"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Finished done = run(setup(command, folder));
    EXPECT_EQ(done.exit_code, 0) << testing::PrintToString(arguments) << done.err << done.out;
    return done.out;
  }
  ProcessSetup setup(const std::vector<std::string>& command, const std::string& folder) {
    // Removes the variables of a git hook that may run these tests.
    std::vector<std::string> whole = {"/usr/bin/env",  "-u", "GIT_DIR",       "-u",
                                      "GIT_WORK_TREE", "-u", "GIT_INDEX_FILE"};
    whole.insert(whole.end(), command.begin(), command.end());
    return {.command = whole,
            .environment = {"HOME=" + home_, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME=" + home_,
                            "GIT_EDITOR=true", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"},
            .directory = folder};
  }
  std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) found.push_back(line);
    return found;
  }
  std::vector<std::string> tree(const std::string& commit = "HEAD") {
    return lines(git({"ls-tree", "-r", "--name-only", commit}));
  }
  std::vector<std::string> subjects() { return lines(git({"log", "--format=%s"})); }
  std::string status() { return git({"status", "--porcelain"}); }

  void write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name, std::ios::binary | std::ios::trunc) << content;
  }
  void remove(const std::string& name) { fs::remove_all(path_ + "/" + name); }

  GitRepo& repo() {
    if (!repo_) repo_.emplace(must(GitRepo::open(path_)));
    return *repo_;
  }
  Folder& folder() {
    if (!folder_) folder_.emplace(must(Folder::open(path_, 022)));
    return *folder_;
  }
  static MessageFor says(const std::string& message) {
    return [message](const auto&) { return message; };
  }
  Result<GitCommit> try_commit(const std::vector<std::string>& paths, const std::string& message = "ours\n") {
    return repo().commit(folder(), paths, says(message), TimePoint(std::chrono::seconds(1'700'000'000)));
  }
  GitCommit commit(const std::vector<std::string>& paths, const std::string& message = "ours\n") {
    return must(try_commit(paths, message));
  }
  template <typename T>
  static T must(Result<T> result) {
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return std::move(*result);
  }

  // Calls moved() and remembers the new HEAD.
  std::optional<MovedHead> moved() {
    auto found = must(repo().moved());
    GitMarks marks = repo().marks();
    if (found) marks.head = found->to;
    repo().remember(marks);
    return found;
  }
  std::vector<std::string> moved_paths() { return moved().value_or(MovedHead()).paths; }

  TemporaryDirectory directory_;
  const std::string home_ = directory_.file("home");
  const std::string path_ = directory_.file("notes");
  std::optional<GitRepo> repo_;
  std::optional<Folder> folder_;
};

}  // namespace eventq::notebook
