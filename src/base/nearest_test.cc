// nearest_test.cc: tests of nearest.h.
#include "base/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eventq {
namespace {

using testing::Eq;
using testing::Optional;

const std::vector<std::string> kNames = {"listen", "lease", "store", "max_retries", "max_attempts"};

TEST(Nearest, FindsTheNameDespiteTypingMistakes) {
  struct Case {
    const char* typed;
    const char* meant;
  };
  for (const Case& row : {
           Case{"lisen", "listen"},              // a letter left out
           Case{"lissten", "listen"},            // added
           Case{"lixten", "listen"},             // replaced
           Case{"lsiten", "listen"},             // swapped
           Case{"max_retry", "max_retries"},     // three mistakes in nine letters
           Case{"maxattempts", "max_attempts"},  //
           Case{"lease", "lease"},
       }) {
    EXPECT_THAT(nearest(row.typed, kNames), Optional(Eq(row.meant))) << row.typed;
  }
}

TEST(Nearest, SuggestsNothingForAnotherWord) {
  for (const std::string typed : {"", "x", "port", "database", "retention_days"}) {
    EXPECT_EQ(nearest(typed, kNames), std::nullopt) << typed;
  }
  EXPECT_EQ(nearest(std::string(1'000'000, 'l'), kNames), std::nullopt);
}

TEST(Nearest, IsWrittenAsAQuestion) {
  EXPECT_EQ(did_you_mean("lisen", kNames), "; did you mean listen?");
  EXPECT_EQ(did_you_mean("database", kNames), "");
}

}  // namespace
}  // namespace eventq
