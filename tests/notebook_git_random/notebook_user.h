// notebook_user.h: changes one notebook in random order: through its API, as another program in its folder,
// and with git. Checks at quiet points that nothing is lost and no commit mixes branches.
//
// A change of the API may still wait while git runs. Git can overwrite a file that changes after git has
// checked it, so contents of such updates may be lost; new files never.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "notebook_git_random/git_user.h"
#include "notebook_git_random/written_contents.h"
#include "notebook_server.h"

namespace eventq {

class NotebookUser {
 public:
  explicit NotebookUser(std::uint32_t seed);

  // Starts the server and makes two branches in which many files differ, and a second clone.
  void prepare();
  // One random change.
  void step();
  // Waits until the notebook is idle and checks everything.
  void check();

  // The last steps, for a failed test.
  [[nodiscard]] std::string last_steps() const;
  [[nodiscard]] std::string summary() const;

 private:
  struct FileEntry {
    std::string id;
    std::string path;
    std::string size;
    std::string hash;
  };
  struct SentChange {
    std::string event;
    int number = 0;  // of its content; 0: none
    std::string path;
    bool is_new_file = false;
  };
  // Whether the notebook is idle when a git command begins. Then git's own changes need no commit.
  enum class Before : std::uint8_t { idle, busy };

  // notebook_user.cc
  std::size_t draw(std::size_t below) { return random_() % below; }
  bool chance(std::size_t percent) { return draw(100) < percent; }
  void note(const std::string& step);
  std::string some_path();
  std::string new_path();
  [[nodiscard]] std::string read_file(const std::string& path) const { return server_.get(path); }

  // notebook_user_api.cc
  void change_by_api();
  void create_by_api();
  void update_by_api(const FileEntry& file);
  void move_by_api(const FileEntry& file);
  void delete_by_api(const FileEntry& file);
  void move_folder_by_api();
  void delete_folder_by_api();
  std::set<std::string> paths_in(const std::string& folder);
  JsonLines call_api(const std::string& method, const std::string& target, const std::string& body);
  // Waits for the answer, or keeps the event in sent_. False: the change was refused or failed.
  bool send(const std::string& method, const std::string& target, const std::string& body, SentChange change);
  std::string end_of(const std::string& event);
  void wait_for_sent();
  std::vector<FileEntry> list_files(const std::string& kind = "file");

  // notebook_user_edits.cc
  void change_outside();
  int write_outside(const std::string& path);
  void remove_outside(const std::string& path);
  void save_by_rename(const std::string& path);
  void rename_outside(const std::string& from, const std::string& to);
  void rename_folder_outside();
  void restore_outside(const std::string& path);
  std::vector<std::string> paths_on_disk(const std::string& folder = "");

  // notebook_user_git.cc
  void use_git();
  void check_out();
  void pull();
  void merge();
  void rebase();
  void stash();
  void pop_stash();
  void amend();
  void commit_staged();
  void reset_soft();
  void reset_hard();
  bool has_older_commits();
  void maintain();
  void resolve();
  // Makes a branch with a commit of its own in another work tree. Returns its name.
  std::string make_topic();
  // Draws whether the notebook is idle when the command begins, and makes it so.
  void begin_git(const std::string& what);
  // An idle notebook has nothing to commit after the command.
  void end_git();
  // Runs a git command that changes files, sometimes slowly. Commits first when changes are in its way.
  GitRun change_files(const std::vector<std::string>& arguments);
  GitRun run_slowly(const std::vector<std::string>& arguments);
  void finish_rebase(GitRun run);
  void finish_merge();
  void abort_operation(const std::string& kind);
  void wait_for_moves();
  void change_while_git_runs();
  void allow_uncommitted(const std::string& branch);
  void excuse_uncommitted(const std::string& why);
  void allow_changes_between(const std::string& from, const std::string& to);
  std::vector<std::string> lines(const std::string& script);
  [[nodiscard]] bool commit_by_api();

  // notebook_user_checks.cc
  void become_idle();
  bool is_idle();
  void check_commits();
  void check_commit(const std::string& hash, const std::string& branch);
  void check_blob(const std::string& hash, const std::string& branch, const std::string& blob,
                  const std::string& path);
  void check_contents();
  void check_metadata();
  // Branch by hash, of the commits that eventq made, from git's logs of the branches.
  std::map<std::string, std::string> notebook_commits();
  std::set<std::string> notebook_hashes();
  void read_blobs(const std::vector<std::string>& blobs);

  std::mt19937 random_;
  NotebookServer server_;
  GitUser git_;
  WrittenContents contents_;
  std::string branch_ = "main";
  std::string next_branch_ = "main";  // of the checkout in progress
  bool may_wait_ = true;              // false: a wait for an API change could last as long as a git command
  Before before_ = Before::busy;
  std::vector<SentChange> sent_;  // changes whose ends are not known
  int new_paths_ = 0;
  int topics_ = 0;
  std::set<std::string> commits_before_;  // of eventq, when a git command began on an idle notebook
  std::set<std::string> checked_commits_;
  std::map<std::string, std::string> blobs_;  // contents by hash
  const SteadyTime start_ = steady_now();
  std::vector<std::string> steps_;
};

}  // namespace eventq
