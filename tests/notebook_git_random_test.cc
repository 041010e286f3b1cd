// notebook_git_random_test.cc: a notebook and a user who works in the same folder with git, in random order.
// Nothing may be lost and no commit may mix branches, whatever they do at the same time.
#include <gtest/gtest.h>

#include <iostream>

#include "notebook_git_random/notebook_user.h"
#include "support/rounds.h"

namespace eventq {
namespace {

constexpr std::uint32_t kSeed = 20'261'118;
constexpr int kStepsBetweenChecks = 25;

// EVENTQ_SEED repeats one run, EVENTQ_ROUNDS sets its length in steps.
TEST(NotebookGitRandomTest, GitAndTheNotebookInOneFolderLoseNothingAndMixNoBranches) {
  const std::uint32_t first = number_from_environment("EVENTQ_SEED", kSeed);
  const auto steps = static_cast<int>(
      number_from_environment("EVENTQ_ROUNDS", static_cast<std::uint32_t>(rounds(60, 60, 200))));
  const int runs = std::getenv("EVENTQ_SEED") != nullptr ? 1 : rounds(1, 1, 12);
  for (int run = 0; run < runs; ++run) {
    const std::uint32_t seed = first + static_cast<std::uint32_t>(run);
    std::cout << "EVENTQ_SEED=" << seed << std::endl;
    NotebookUser user(seed);
    user.prepare();
    for (int step = 1; step <= steps && !HasFailure(); ++step) {
      user.step();
      if (step % kStepsBetweenChecks == 0) user.check();
    }
    if (!HasFailure()) user.check();
    std::cout << user.summary() << std::endl;
    ASSERT_FALSE(HasFailure()) << "EVENTQ_SEED=" << seed << " repeats this run. Its last steps:\n"
                               << user.last_steps();
  }
}

}  // namespace
}  // namespace eventq
