// probes_test.cc: the diagnoses of `eventq doctor` for given measurements.
#include "cli/commands/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace eventq::cli {
namespace {

using std::chrono::microseconds;
using State = DiagnosisState;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(Probes, NetworkFileSystemsFail) {
  for (const std::uint64_t type : {0x6969ULL, 0xFF534D42ULL, 0xFE534D42ULL, 0x00C36400ULL, 0x01021997ULL}) {
    const Diagnosis found = judge_file_system(type);
    EXPECT_EQ(found.state, State::fail) << found.text;
    EXPECT_THAT(found.fix, Not(IsEmpty()));
  }
  EXPECT_EQ(judge_file_system(0xEF53).state, State::ok);
  EXPECT_EQ(judge_file_system(0x01021994).state, State::warn);
}

TEST(Probes, ADiskThatRunsFullGivesAWarningAndThenAFailure) {
  EXPECT_EQ(judge_disk(1024 * kMiB, 9999 * kMiB).state, State::ok);
  EXPECT_EQ(judge_disk(1024 * kMiB - 1, 9999 * kMiB).state, State::warn);
  EXPECT_EQ(judge_disk(128 * kMiB, 9999 * kMiB).state, State::warn);
  EXPECT_EQ(judge_disk(128 * kMiB - 1, 9999 * kMiB).state, State::fail);
}

TEST(Probes, ALowLimitOnOpenFilesGivesAWarningAndThenAFailure) {
  EXPECT_EQ(judge_open_files(4096).state, State::ok);
  EXPECT_EQ(judge_open_files(4095).state, State::warn);
  EXPECT_EQ(judge_open_files(128).state, State::warn);
  EXPECT_EQ(judge_open_files(127).state, State::fail);
}

TEST(Probes, SlowAndImpossiblyFastSyncsGiveAWarning) {
  EXPECT_EQ(judge_fsync(std::vector<microseconds>(200, microseconds(400))).state, State::ok);
  EXPECT_EQ(judge_fsync(std::vector<microseconds>(200, microseconds(5))).state, State::warn);
  std::vector<microseconds> slow(200, microseconds(400));
  std::fill(slow.begin(), slow.begin() + 10, microseconds(90'000));
  const Diagnosis found = judge_fsync(slow);
  EXPECT_EQ(found.state, State::warn);
  EXPECT_THAT(found.text, HasSubstr("p50 0.40 ms  p99 90.00 ms (200 samples)"));
}

TEST(Probes, AClockThatDiffersByMoreThanTwoSecondsGivesAWarning) {
  EXPECT_EQ(judge_clock(std::chrono::seconds(2)).state, State::ok);
  EXPECT_THAT(judge_clock(std::chrono::seconds(3)).text, HasSubstr("3 s behind"));
  EXPECT_THAT(judge_clock(std::chrono::seconds(-3)).text, HasSubstr("3 s ahead of"));
}

TEST(Probes, TheWalResetRaceOfOldSqliteVersionsIsReported) {
  EXPECT_THAT(judge_sqlite("3.40.1").text, HasSubstr("WAL-reset race"));
  EXPECT_THAT(judge_sqlite("3.51.2").text, HasSubstr("WAL-reset race"));
  EXPECT_EQ(judge_sqlite("3.51.3").text, "3.51.3");
}

TEST(Probes, ProbesOfAFolderLeaveNoFileInIt) {
  const TemporaryDirectory directory;
  EXPECT_THAT(probe_fsync(directory.file("."), 3).text, HasSubstr("(3 samples)"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.file("")));
  EXPECT_EQ(probe_fsync(directory.file("none"), 3).state, State::fail);
  EXPECT_NE(probe_disk(directory.file("")).text, "");
  EXPECT_NE(probe_file_system(directory.file("")).text, "");
}

}  // namespace
}  // namespace eventq::cli
