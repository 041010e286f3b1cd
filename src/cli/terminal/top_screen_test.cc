// top_screen_test.cc: the screen of `eventq top`, line by line.
#include "cli/terminal/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "cli/terminal/terminal_text.h"

namespace eventq::cli {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

OutputOptions wide(std::size_t width, bool color = false) {
  OutputOptions options;
  options.width = width;
  options.color = color;
  return options;
}

class TopScreenTest : public testing::Test {
 protected:
  static TopSample sample(std::int64_t done) {
    TopSample made;
    made.queues = {
        {.name = "main",
         .state = "active",
         .waiting = 980,
         .running = 30,
         .failed = 2,
         .published = done * 2,
         .completions = done,
         .failures = 0,
         .oldest_seconds = 1.24},
        {.name = "mail", .state = "paused", .waiting = 224, .oldest_seconds = 245},
    };
    made.workers = {{.id = "host-1:8742", .state = "active", .holding = 3, .completed = 1203, .failed = 2},
                    {.id = "host-2:911", .state = "stale", .holding = 1, .completed = 7, .failed = 0}};
    made.file_bytes = 4'300'000;
    made.log_bytes = 512;
    return made;
  }

  TopScreenTest() {
    history_.add(sample(0), SteadyTime{});
    history_.add(sample(6), SteadyTime{seconds(1)});
  }

  TopHistory history_;
  TopView view_{.history = history_, .version = "0.1.0", .url = "http://127.0.0.1:8080", .selected = "main"};
};

TEST_F(TopScreenTest, ShowsQueuesWorkersAndRatesInAlignedColumns) {
  EXPECT_THAT(
      lines_of(draw_top(view_, wide(100), 12)),
      ElementsAre("eventq 0.1.0  http://127.0.0.1:8080  store 4.1M  wal 512B │ in 12/s  done 6.0/s  fail 0/s",
                  " QUEUE         STATE    WAITING RUNNING  FAILED    IN/s  DONE/s  FAIL/s  OLDEST 5 MIN",
                  " mail          paused       224       0       0       0       0       0      4m ▁",
                  ">main          active       980      30       2      12     6.0       0    1.2s █", "",
                  " WORKER                                   STATE     HOLDING     DONE  FAILED",
                  " host-1:8742                              active          3     1203       2",
                  " host-2:911                               stale           1        7       0", "", "", "",
                  "q quit  ↑↓ select  p pause or resume  s sort (by name)"));
}

TEST_F(TopScreenTest, NamesTheQueuesWhoseEventsNoWorkerAsksFor) {
  TopSample waiting = sample(0);
  waiting.queues[0].unattended = 980;
  waiting.queues.push_back({.name = "reports", .state = "active", .waiting = 1, .unattended = 1});
  TopHistory once;
  once.add(waiting, SteadyTime{});

  EXPECT_THAT(draw_top({.history = once, .version = "", .url = "http://h:1"}, wide(100), 0),
              HasSubstr("\n events wait and no worker asks for them: main, reports\n"));
}

TEST_F(TopScreenTest, OneSampleHasNoColumnsForRates) {
  TopHistory once;
  once.add(sample(6), SteadyTime{});
  const std::string text = draw_top({.history = once, .version = "", .url = "http://h:1"}, wide(100), 0);
  EXPECT_THAT(text, Not(HasSubstr("/s")));
  EXPECT_THAT(text, Not(HasSubstr("5 MIN")));
  EXPECT_THAT(text, Not(HasSubstr("q quit")));
  EXPECT_THAT(text, HasSubstr("OLDEST"));
}

TEST_F(TopScreenTest, TheScreenIsNeverWiderOrHigherThanTheTerminal) {
  for (std::size_t i = 0; i < 60; ++i) {
    TopSample many = sample(6);
    for (std::size_t n = 0; n < i; ++n)
      many.queues.push_back({.name = "a-queue-with-a-long-name-" + std::to_string(n)});
    for (std::size_t n = 0; n < i; ++n) many.workers.push_back({.id = "工人-" + std::to_string(n)});
    history_.add(many, SteadyTime{seconds(2 + i)});
    for (const std::size_t width : {20U, 40U, 80U, 99U, 100U, 101U, 250U}) {
      for (const std::size_t height : {4U, 5U, 10U, 30U}) {
        const auto lines = lines_of(draw_top(view_, wide(width), height));
        ASSERT_EQ(lines.size(), height);
        for (const std::string& line : lines) ASSERT_LE(display_width(line), width) << line;
      }
    }
  }
}

TEST_F(TopScreenTest, TheSelectedQueueIsAlwaysOnTheScreen) {
  TopSample many = sample(6);
  for (int n = 10; n < 90; ++n) many.queues.push_back({.name = "q" + std::to_string(n)});
  history_.add(many, SteadyTime{seconds(2)});
  for (const std::string& name : top_order(view_)) {
    view_.selected = name;
    EXPECT_THAT(draw_top(view_, wide(80), 15), HasSubstr("\n>" + name + " "));
  }
}

TEST_F(TopScreenTest, SortsByTheChosenColumnTheLargestFirst) {
  EXPECT_THAT(top_order(view_), ElementsAre("mail", "main"));
  for (const TopSort sort : {TopSort::waiting, TopSort::in, TopSort::done, TopSort::failed}) {
    view_.sort = sort;
    EXPECT_THAT(top_order(view_), ElementsAre("main", "mail"));
  }
}

TEST_F(TopScreenTest, ANoticeReplacesTheKeys) {
  view_.notice = "No eventq server at http://127.0.0.1:8080; retrying.";
  EXPECT_EQ(lines_of(draw_top(view_, wide(80), 10)).back(), view_.notice);
}

TEST_F(TopScreenTest, EscapeSequencesInAWorkerIdDoNotReachTheTerminal) {
  TopSample evil = sample(6);
  evil.workers.push_back({.id = "\x1b[2Jgone"});
  history_.add(evil, SteadyTime{seconds(2)});
  EXPECT_THAT(draw_top(view_, wide(100), 0), Not(HasSubstr("\x1b")));
}

TEST_F(TopScreenTest, UsesColoursOnlyIfEnabled) {
  EXPECT_THAT(draw_top(view_, wide(100), 20), Not(HasSubstr("\x1b")));
  EXPECT_THAT(draw_top(view_, wide(100, true), 20), HasSubstr("\x1b["));
}

TEST_F(TopScreenTest, AnEmptyServerHasHeadingsOnly) {
  TopHistory empty;
  EXPECT_THAT(
      lines_of(draw_top({.history = empty, .version = "", .url = "http://h:1"}, wide(80), 4)),
      ElementsAre("eventq  http://h:1", testing::StartsWith(" QUEUE"), "", testing::StartsWith("q quit")));
}

}  // namespace
}  // namespace eventq::cli
