// written_contents.h: what the random test has written. Each content names its branch and has a number, so
// that any blob shows where it belongs and whether it is lost.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eventq {

enum class Source : std::uint8_t {
  api,      // needed when its event is completed
  outside,  // another program wrote it into the work tree; needed at once
  commit,   // another clone or work tree committed it; never needed
};

struct WrittenContent {
  std::string text;
  Source source = Source::outside;
  std::set<std::string> branches;  // where a commit of the notebook may contain it
  std::set<std::string> paths;     // where it was written or moved to
  bool acknowledged = false;
  bool recorded = false;  // was found in the history, so that it must stay there
  std::string excuse;     // why it may be gone
};

class WrittenContents {
 public:
  // The number of a new content.
  int add(const std::string& path, const std::string& branch, Source source);
  [[nodiscard]] const std::string& text(int number) const { return all_.at(number).text; }
  [[nodiscard]] const std::map<int, WrittenContent>& all() const { return all_; }

  // The numbers of all contents in a text; a file with conflict markers has several.
  static std::vector<int> numbers_in(std::string_view text);

  void acknowledge(int number) { all_.at(number).acknowledged = true; }
  // A user or a later change may have removed this content. Recorded contents have no excuse.
  void excuse(int number, const std::string& why);
  void excuse_all_in(std::string_view text, const std::string& why);
  // The contents in this text leave the history: a stash is popped or dropped.
  void forget_history_of(std::string_view text);
  // A change through the API replaced or deleted the file: older contents that the API wrote there may be
  // gone. eventq commits contents of other programs first, so those have no excuse.
  void superseded(const std::string& path, int by);
  // Another program replaced or deleted the file: any older content at this path may be gone.
  void overwritten(const std::string& path, int by);
  [[nodiscard]] int next() const { return static_cast<int>(all_.size()) + 1; }
  void moved(const std::string& from, const std::string& to);

  // A commit of the notebook on `branch` may contain the content, or the deletion of the path.
  void allow(int number, const std::string& branch) { all_.at(number).branches.insert(branch); }
  void allow_all_in(std::string_view text, const std::string& branch);
  void allow_deletion(const std::string& path, const std::string& branch) { deletions_[path].insert(branch); }
  [[nodiscard]] bool is_allowed(int number, const std::string& branch) const;
  [[nodiscard]] bool is_allowed_deletion(const std::string& path, const std::string& branch) const;

  // The contents that are needed and not in either set, one per line. Notes those in the history.
  std::string lost(const std::set<int>& in_history, const std::set<int>& in_files);

 private:
  std::map<int, WrittenContent> all_;
  std::map<std::string, std::set<std::string>> deletions_;  // by path, the branches
};

}  // namespace eventq
