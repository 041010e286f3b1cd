// model_against_real_test.cc: random operations get the same answers from the model store and from real ones.
//
// EVENTQ_SEED changes the random operations, EVENTQ_OPERATIONS their number.
#include <gtest/gtest.h>

#include <iostream>

#include "against_model/comparison.h"
#include "support/rounds.h"
#include "support/test_store.h"

namespace eventq {
namespace {

constexpr std::uint32_t kSeed = 20'251'224;
constexpr std::uint32_t kSeedPostgres = 9;  // reaches every case with few operations

constexpr std::uint32_t kOperationsPostgres = 1'500;  // each takes several round trips
std::uint32_t usual_operations() { return static_cast<std::uint32_t>(rounds(5'000, 2'500, 60'000)); }

void run_operations(Comparison& comparison, std::uint32_t seed, std::uint32_t operations) {
  for (std::uint32_t i = 0; i < operations; ++i) {
    comparison.step();
    ASSERT_EQ(comparison.failure(), "") << "EVENTQ_SEED=" << seed;
  }
  comparison.finish();
  ASSERT_EQ(comparison.failure(), "") << "EVENTQ_SEED=" << seed;
}

TEST(ModelAgainstReal, RandomOperationsGetTheSameAnswersFromTheModelFromARealStoreAndOverHttp) {
  const std::uint32_t seed = number_from_environment("EVENTQ_SEED", tests_postgres() ? kSeedPostgres : kSeed);
  const std::uint32_t operations = number_from_environment(
      "EVENTQ_OPERATIONS", tests_postgres() ? kOperationsPostgres : usual_operations());
  std::cout << "EVENTQ_SEED=" << seed << " EVENTQ_OPERATIONS=" << operations << std::endl;
  Comparison comparison(seed);
  ASSERT_NO_FATAL_FAILURE(run_operations(comparison, seed, operations));

  // Every case occurred, not only the frequent ones.
  const Comparison::Tally& tally = comparison.tally();
  std::cout << "operations=" << tally.operations << " events=" << tally.events << " claimed=" << tally.claimed
            << " restarts=" << tally.restarts << " parked=" << tally.parked << " served=" << tally.served
            << " refused=" << tally.refused << " last_failures=" << tally.last_failures
            << " replayed=" << tally.replayed << " conflicted=" << tally.conflicted << " full=" << tally.full
            << " slowed=" << tally.slowed << " replays=" << tally.replays << " retried=" << tally.retried
            << " timeouts=" << tally.timeouts << " completions=" << tally.completions
            << " blocked_lines=" << tally.blocked_lines;
  for (const auto& [action, count] : tally.entries) std::cout << " " << action << "=" << count;
  std::cout << std::endl;
  EXPECT_GT(tally.events, operations / 10);
  EXPECT_GT(tally.claimed, static_cast<int>(operations / 10));
  EXPECT_GT(tally.restarts, 0);
  EXPECT_GT(tally.served, 0);
  EXPECT_GT(tally.parked, tally.served);
  EXPECT_GT(tally.timeouts, 0);
  EXPECT_GT(tally.refused, 0);
  EXPECT_GT(tally.last_failures, 0);
  EXPECT_GT(tally.replayed, 0);
  EXPECT_GT(tally.conflicted, 0);
  EXPECT_GT(tally.full, 0);
  EXPECT_GT(tally.slowed, tally.full);
  EXPECT_GT(tally.replays, 0);
  EXPECT_GT(tally.retried, 0);
  EXPECT_GT(tally.completions, 0);
  EXPECT_GT(tally.blocked_lines, 0);
  EXPECT_GT(tally.entries.at("SUPERSEDED"), 0);
}

// On PostgreSQL, the time of a waiting worker's last poll used to change when a commit thread retried its
// claim.
TEST(ModelAgainstReal, SeedsThatOnceFoundADifferenceNoLongerDo) {
  for (const std::uint32_t seed : {12U, 21U, 29U}) {
    Comparison comparison(seed);
    ASSERT_NO_FATAL_FAILURE(run_operations(comparison, seed, 100));
  }
}

}  // namespace
}  // namespace eventq
