// bench_results_test.cc: bench/results has the format in its README, and docs/ shows the newest figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/file_text.h"
#include "support/json_lines.h"

namespace eventq {
namespace {

using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

std::vector<JsonLines> all_results() {
  std::vector<JsonLines> results;
  for (const auto& entry : std::filesystem::directory_iterator(EVENTQ_SOURCE_DIR "/bench/results")) {
    if (entry.path().extension() != ".jsonl") continue;
    for (const std::string& line : lines_of(content_of(entry.path()))) results.push_back(json_lines(line));
  }
  return results;
}

std::string page(const std::string& path) { return content_of(EVENTQ_SOURCE_DIR "/" + path); }

// "0.8" is also shown by "0.80", but not by "10.8" or "0.85".
bool shows(const std::string& text, const std::string& number) {
  const std::string escaped = std::regex_replace(number, std::regex("\\."), "\\.");
  return std::regex_search(text, std::regex("(^|[^0-9.,])" + escaped + "0*($|[^0-9])"));
}

TEST(BenchResultsTest, EveryLineHasTheFieldsThatTheReadmeLists) {
  const std::vector<std::string> needed = {"commit", "date", "machine", "unit", "value", "wanted", "what"};
  const std::vector<std::string> allowed = {"commit", "date",  "machine", "note",
                                            "unit",   "value", "wanted",  "what"};
  const std::vector<JsonLines> results = all_results();
  ASSERT_THAT(results, Not(IsEmpty()));
  for (const JsonLines& result : results) {
    std::vector<std::string> fields;
    for (const auto& [field, value] : result) fields.push_back(field);
    EXPECT_THAT(fields, IsSupersetOf(needed)) << testing::PrintToString(result);
    EXPECT_THAT(allowed, IsSupersetOf(fields)) << testing::PrintToString(result);
  }
}

TEST(BenchResultsTest, TheDocsShowANewestFigureOfEveryGoal) {
  std::map<std::string, std::string> newest;
  std::map<std::string, std::vector<JsonLines>> by_goal;
  for (const JsonLines& result : all_results()) {
    if (result.at("wanted") == "null") continue;
    by_goal[result.at("what")].push_back(result);
    newest[result.at("what")] = std::max(newest[result.at("what")], result.at("date"));
  }
  const std::string shown = page("docs/performance.md") + page("docs/scaling.md");
  for (const auto& goal : by_goal) {
    const std::string& date = newest[goal.first];
    const auto is_shown = [&](const JsonLines& result) {
      return result.at("date") == date && shows(shown, result.at("value"));
    };
    EXPECT_TRUE(std::any_of(goal.second.begin(), goal.second.end(), is_shown))
        << "docs/performance.md and docs/scaling.md show no figure of " << date << " of " << goal.first;
  }
}

}  // namespace
}  // namespace eventq
