// path_debouncer_test.cc: tests when touched paths are due and how renames are joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "notebook/watch/path_debouncer.h"

namespace eventq::notebook {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Millis kQuiet = 50ms;
constexpr Millis kRestless = 1000ms;

class PathDebouncerTest : public testing::Test {
 protected:
  [[nodiscard]] static SteadyTime at(Millis time) { return SteadyTime(1h) + time; }

  // "path", or "source>path".
  std::vector<std::string> due(Millis time) {
    std::vector<std::string> texts;
    for (const TouchedPath& touched : paths.take_due(at(time))) {
      texts.push_back(touched.source.empty() ? touched.path : touched.source + ">" + touched.path);
    }
    return texts;
  }
  void rename(const std::string& from, const std::string& to, Millis time) {
    paths.move_from(++cookie, from, at(time));
    EXPECT_TRUE(paths.move_to(cookie, to, at(time)));
  }

  PathDebouncer paths{kQuiet, kRestless};
  std::uint32_t cookie = 0;
};

TEST_F(PathDebouncerTest, NothingIsDueWhenNothingWasTouched) {
  EXPECT_EQ(paths.next_due(), std::nullopt);
  EXPECT_THAT(due(1h), IsEmpty());
}

TEST_F(PathDebouncerTest, APathIsDueOnceWhenItHasBeenQuiet) {
  paths.touch("a", at(0ms));

  EXPECT_EQ(paths.next_due(), at(50ms));
  EXPECT_THAT(due(49ms), IsEmpty());
  EXPECT_THAT(due(50ms), ElementsAre("a"));
  EXPECT_THAT(due(51ms), IsEmpty());
  EXPECT_EQ(paths.next_due(), std::nullopt);
}

TEST_F(PathDebouncerTest, ASecondTouchPostponesThePathAndReportsItOnce) {
  paths.touch("a", at(0ms));
  paths.touch("a", at(49ms));

  EXPECT_THAT(due(98ms), IsEmpty());
  EXPECT_THAT(due(99ms), ElementsAre("a"));
}

TEST_F(PathDebouncerTest, APathThatIsNeverQuietIsDueAfterASecondAndThenAgain) {
  std::vector<Millis> taken;
  for (Millis time = 0ms; time <= 2100ms; time += 10ms) {
    paths.touch("a", at(time));
    if (!due(time).empty()) taken.push_back(time);
  }

  EXPECT_THAT(taken, ElementsAre(1000ms, 2010ms));
}

TEST_F(PathDebouncerTest, EachPathHasItsOwnDueTimeAndAllDuePathsAreTakenTogether) {
  paths.touch("a", at(0ms));
  paths.touch("b", at(10ms));
  paths.touch("c", at(40ms));

  EXPECT_EQ(paths.next_due(), at(50ms));
  EXPECT_THAT(due(60ms), ElementsAre("a", "b"));
  EXPECT_EQ(paths.next_due(), at(90ms));
}

TEST_F(PathDebouncerTest, TwoHalvesAreOneRename) {
  rename("a", "b", 0ms);

  EXPECT_THAT(due(50ms), ElementsAre("a>b"));
}

TEST_F(PathDebouncerTest, HalvesOfDifferentRenamesAreTouches) {
  paths.move_from(1, "a", at(0ms));
  EXPECT_FALSE(paths.move_to(2, "b", at(0ms)));

  EXPECT_THAT(due(50ms), UnorderedElementsAre("a", "b"));
}

TEST_F(PathDebouncerTest, HalvesArePairedByCookieWithOtherRenamesBetween) {
  paths.move_from(1, "a", at(0ms));
  paths.move_from(2, "b", at(0ms));
  EXPECT_TRUE(paths.move_to(2, "d", at(1ms)));
  EXPECT_TRUE(paths.move_to(1, "c", at(1ms)));

  EXPECT_THAT(due(51ms), UnorderedElementsAre("a>c", "b>d"));
}

TEST_F(PathDebouncerTest, ASecondHalfIsTooLateOnceTheFirstWasTaken) {
  paths.move_from(1, "a", at(0ms));
  EXPECT_THAT(due(50ms), ElementsAre("a"));

  EXPECT_FALSE(paths.move_to(1, "b", at(51ms)));
  EXPECT_THAT(due(101ms), ElementsAre("b"));
}

TEST_F(PathDebouncerTest, RenamesInARowAreOneFromTheFirstToTheLast) {
  rename("a", "b", 0ms);
  rename("b", "c", 1ms);
  rename("c", "d", 2ms);

  // Other files may be at b and c now.
  EXPECT_THAT(due(52ms), UnorderedElementsAre("a>d", "b", "c"));
}

TEST_F(PathDebouncerTest, ARenameThereAndBackIsNoRename) {
  rename("a", "b", 0ms);
  rename("b", "a", 1ms);

  EXPECT_THAT(due(51ms), UnorderedElementsAre("a", "b"));
}

TEST_F(PathDebouncerTest, AnExchangeIsARenameEachWay) {
  rename("a", "x", 0ms);
  rename("b", "a", 0ms);
  rename("x", "b", 0ms);

  EXPECT_THAT(due(50ms), UnorderedElementsAre("a>b", "b>a", "x"));
}

TEST_F(PathDebouncerTest, OfTwoRenamesToOnePathTheFirstSourceIsTouched) {
  rename("a", "c", 0ms);
  rename("b", "c", 1ms);

  EXPECT_THAT(due(51ms), UnorderedElementsAre("b>c", "a"));
}

TEST_F(PathDebouncerTest, ATouchKeepsWhereItWasRenamedFrom) {
  rename("a", "b", 0ms);
  paths.touch("b", at(1ms));

  EXPECT_THAT(due(51ms), ElementsAre("a>b"));
}

TEST_F(PathDebouncerTest, ANewFileAtTheSourceOfARenameIsTouched) {
  rename("a", "b", 0ms);
  paths.touch("a", at(1ms));

  EXPECT_THAT(due(51ms), UnorderedElementsAre("a>b", "a"));
}

TEST_F(PathDebouncerTest, ARenamedFolderReplacesEarlierTouchesInIt) {
  paths.touch("x/a", at(0ms));
  paths.touch("x-ray", at(0ms));
  rename("x/b", "x/c", 1ms);
  rename("x", "y", 30ms);

  EXPECT_THAT(due(50ms), ElementsAre("x-ray"));
  EXPECT_THAT(due(80ms), UnorderedElementsAre("x>y", "x/b>y/c"));
}

TEST_F(PathDebouncerTest, EndlessRenamesAreDueAfterASecond) {
  std::vector<std::string> taken;
  for (int i = 0; taken.empty() && i < 200; ++i) {
    rename("f" + std::to_string(i), "f" + std::to_string(i + 1), 10ms * i);
    for (const std::string& text : due(10ms * i)) {
      if (text.find('>') != text.npos) taken.push_back(text);
    }
  }

  EXPECT_THAT(taken, ElementsAre("f0>f101"));
}

TEST_F(PathDebouncerTest, NothingIsLeftAfterClear) {
  paths.touch("a", at(0ms));
  paths.move_from(1, "b", at(0ms));

  paths.clear();

  EXPECT_THAT(due(1h), IsEmpty());
  EXPECT_FALSE(paths.move_to(1, "c", at(1h)));
}

}  // namespace
}  // namespace eventq::notebook
