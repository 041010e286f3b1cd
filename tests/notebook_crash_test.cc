// notebook_crash_test.cc: kills the server during folder moves and overflows inotify; files, metadata and
// commits must agree afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <iostream>
#include <random>
#include <set>

#include "notebook_server.h"
#include "support/rounds.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
namespace fs = std::filesystem;

constexpr int kFiles = 200;
constexpr std::uint32_t kSeed = 20'261'116;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  if (!fs::exists(folder)) return names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// Names and ids of the files in `folder`, from the API.
std::map<std::string, std::string> recorded_in(NotebookServer& server, const std::string& folder) {
  std::map<std::string, std::string> found;
  for (const auto& [path, id] : server.files()) {
    if (path.starts_with(folder + "/")) found[path.substr(folder.size() + 1)] = id;
  }
  return found;
}

TEST(NotebookCrashTest, AfterKillsDuringFolderMovesEveryFileExistsOnceAtItsPath) {
  const int kills = rounds(50, 50, 500);
  std::mt19937 random(kSeed);
  NotebookServer server(R"({"git_commit_interval":0.2})");
  server.start();
  std::set<std::string> names;
  for (int i = 0; i < kFiles; ++i) {
    names.insert(std::to_string(i));
    server.put("a/" + std::to_string(i), "file " + std::to_string(i));
  }
  server.wait_until([&] { return server.files().size() == kFiles; }, "all files are recorded");
  const auto ids = recorded_in(server, "a");
  std::string from = "a";
  int failures = 0;
  int undone = 0;  // starts that had to undo a move

  for (int round = 1; round <= kills; ++round) {
    const std::string to = from == "a" ? "b" : "a";
    // Every fifth move fails, because the target of the last file but one exists.
    const bool blocked = round % 5 == 0;
    const std::string folder = server.id_of(from);
    if (blocked) server.expect("200", "POST", "/queues/notebook:n/pause", "{}");
    const auto moved = server.expect("202", "PATCH", "/notebooks/n/files/" + folder + "/move",
                                     R"({"dest_path":")" + to + "\"}");
    if (blocked) {
      server.put(to + "/98", "obstacle");
      server.expect("200", "POST", "/queues/notebook:n/resume", "{}");
    }
    ASSERT_EQ(moved.at("file_count"), std::to_string(kFiles)) << round;
    const std::string correlation =
        moved.at("correlation_id").substr(1, moved.at("correlation_id").size() - 2);
    if (round % 2 == 0) {
      ASSERT_EQ(server.server().wait(std::chrono::milliseconds(random() % 60)), std::nullopt);
    } else {
      // The move has begun when its first step has made the folder.
      server.wait_until([&] { return fs::exists(server.root() + "/" + to); }, "the move begins", 0ms);
    }
    server.server().kill();

    server.start();
    undone += server.server().log().find("notebook undid unfinished steps") != std::string::npos ? 1 : 0;
    const auto ended =
        server.expect("200", "POST", "/events/correlation/" + correlation + "/wait?timeout=60");
    const bool failed = ended.at("failed") == std::to_string(kFiles);
    ASSERT_TRUE(failed || ended.at("completed") == std::to_string(kFiles))
        << "partly done in round " << round;
    ASSERT_EQ(failed, blocked) << round;
    failures += failed ? 1 : 0;
    if (!failed) from = to;

    const std::string other = from == "a" ? "b" : "a";
    ASSERT_EQ(names_in(server.root() + "/" + from), names) << round;
    ASSERT_EQ(names_in(server.root() + "/" + other),
              failed ? std::set<std::string>{"98"} : std::set<std::string>())
        << round;
    ASSERT_EQ(recorded_in(server, from), ids) << round;
    if (failed) {
      server.wait_until([&] { return !recorded_in(server, other).empty(); }, "the obstacle is recorded");
      fs::remove_all(server.root() + "/" + other);
      server.wait_until([&] { return recorded_in(server, other).empty(); },
                        "the record of the obstacle is removed");
    }
  }
  std::cout << failures << " of " << kills << " moves failed as a whole\n";
  EXPECT_EQ(failures, kills / 5);
  std::cout << undone << " of " << kills << " kills interrupted a move\n";
  EXPECT_GT(undone, 0);
  server.commit();
  for (int i = 0; i < kFiles; ++i)
    EXPECT_EQ(server.get(from + "/" + std::to_string(i)), "file " + std::to_string(i));
  EXPECT_EQ(server.git("status --porcelain"), "");
  server.git("fsck --strict");
}

TEST(NotebookBurstTest, TwentyThousandNewFilesAreRecordedAndCommittedThoughTheKernelDropsEvents) {
  constexpr int kBurst = 20'000;
  NotebookServer server(R"({"git_commit_max_files":2000})");
  server.start();
  const auto status = [&] { return server.expect("200", "GET", "/notebooks/n"); };
  for (int i = 0; i < 50; ++i) fs::create_directory(server.root() + "/d" + std::to_string(i));
  server.wait_until([&] { return status()["watcher.watches"] == "51"; }, "the folders are watched");
  server.server().signal(SIGSTOP);
  for (int i = 0; i < kBurst; ++i) {
    server.put("d" + std::to_string(i % 50) + "/" + std::to_string(i), std::to_string(i));
  }
  server.server().signal(SIGCONT);
  server.wait_until([&] { return status()["files"] == std::to_string(kBurst); }, "all files are recorded");
  server.wait_until([&] { return status()["uncommitted"] == "0"; }, "all files are committed");
  EXPECT_NE(status()["watcher.overflows"], "0");
  const std::string tracked = server.git("ls-tree -r --name-only HEAD");
  EXPECT_EQ(std::count(tracked.begin(), tracked.end(), '\n'), kBurst);
  EXPECT_EQ(server.git("status --porcelain"), "");
  server.git("fsck --strict");
}

}  // namespace
}  // namespace eventq
