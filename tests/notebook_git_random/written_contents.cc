// written_contents.cc: see written_contents.h.
#include "notebook_git_random/written_contents.h"

#include <algorithm>

namespace eventq {
namespace {

constexpr std::string_view kNumber = " n=";
constexpr std::size_t kDigits = 6;

// Many contents have equal sizes, because git compares sizes before it reads files.
std::string text_of(int number, const std::string& branch) {
  std::string digits = std::to_string(number);
  digits.insert(0, kDigits - digits.size(), '0');
  return "branch=" + branch + std::string(kNumber) + digits + " " +
         std::string(number % 4 == 0 ? static_cast<std::size_t>(number % 1000) : 10, 'x');
}

}  // namespace

int WrittenContents::add(const std::string& path, const std::string& branch, Source source) {
  const int number = next();
  all_[number] = {.text = text_of(number, branch),
                  .source = source,
                  .branches = {branch},
                  .paths = {path},
                  .acknowledged = source == Source::outside,
                  .recorded = false,
                  .excuse = ""};
  return number;
}

std::vector<int> WrittenContents::numbers_in(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t at = text.find(kNumber); at != text.npos; at = text.find(kNumber, at + 1)) {
    numbers.push_back(std::stoi(std::string(text.substr(at + kNumber.size(), kDigits))));
  }
  return numbers;
}

void WrittenContents::excuse(int number, const std::string& why) {
  WrittenContent& content = all_.at(number);
  if (!content.recorded && content.excuse.empty()) content.excuse = why;
}

void WrittenContents::excuse_all_in(std::string_view text, const std::string& why) {
  for (const int number : numbers_in(text)) excuse(number, why);
}

void WrittenContents::forget_history_of(std::string_view text) {
  for (const int number : numbers_in(text)) all_.at(number).recorded = false;
}

void WrittenContents::superseded(const std::string& path, int by) {
  for (auto& [number, content] : all_) {
    if (number < by && content.source == Source::api && content.paths.contains(path)) {
      excuse(number, "superseded at " + path);
    }
  }
}

void WrittenContents::overwritten(const std::string& path, int by) {
  for (auto& [number, content] : all_) {
    if (number < by && content.paths.contains(path)) excuse(number, "overwritten at " + path);
  }
}

void WrittenContents::moved(const std::string& from, const std::string& to) {
  for (auto& [number, content] : all_) {
    if (content.paths.contains(from)) content.paths.insert(to);
  }
}

void WrittenContents::allow_all_in(std::string_view text, const std::string& branch) {
  for (const int number : numbers_in(text)) allow(number, branch);
}

bool WrittenContents::is_allowed(int number, const std::string& branch) const {
  const auto found = all_.find(number);
  return found != all_.end() && found->second.branches.contains(branch);
}

bool WrittenContents::is_allowed_deletion(const std::string& path, const std::string& branch) const {
  const auto found = deletions_.find(path);
  return found != deletions_.end() && found->second.contains(branch);
}

std::string WrittenContents::lost(const std::set<int>& in_history, const std::set<int>& in_files) {
  std::string lines;
  for (auto& [number, content] : all_) {
    if (in_history.contains(number)) {
      content.recorded = content.excuse.empty() && content.acknowledged;
      continue;
    }
    if (!content.acknowledged || !content.excuse.empty() || in_files.contains(number)) continue;
    lines += content.text.substr(0, content.text.find('x')) +
             (content.source == Source::api ? "by the API" : "from outside");
    for (const std::string& path : content.paths) lines += ", " + path;
    lines += "\n";
  }
  return lines;
}

}  // namespace eventq
