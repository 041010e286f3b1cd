// folder_watcher_test.cc: tests what the watcher reports for real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "notebook/files/note_path.h"
#include "notebook/watch/folder_watcher.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Longer than any test.
constexpr Millis kNever = 1h;

// Records the callbacks.
class RecordedCallbacks {
 public:
  FolderWatcher::OnTouched on_touched() {
    return [this](std::vector<TouchedPath> touched) {
      std::unique_lock lock(mutex_);
      bool held = false;
      for (TouchedPath& one : touched) {
        held = held || one.path == held_;
        paths_.insert(one.path);
        if (!one.source.empty()) renames_.insert(one.source + ">" + one.path);
      }
      ++calls_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !held || held_.empty(); });
    };
  }
  FolderWatcher::OnRescan on_rescan() {
    return [this](const std::string& reason) {
      const std::scoped_lock lock(mutex_);
      rescans_.push_back(reason);
      changed_.notify_all();
    };
  }
  Logger logger() {
    return [this](LogLevel level, std::string_view line) {
      const std::scoped_lock lock(mutex_);
      if (level == LogLevel::warning) warnings_.emplace_back(line);
    };
  }

  // The callback that reports this path blocks until release().
  void hold(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    held_ = path;
  }
  void release() {
    const std::scoped_lock lock(mutex_);
    held_.clear();
    changed_.notify_all();
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    paths_.clear();
    renames_.clear();
  }

  // False on timeout, which is far longer than any test should wait.
  bool await(const std::function<bool()>& happened) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, happened);
  }
  bool await_path(const std::string& path) {
    return await([&] { return paths_.contains(path); });
  }
  // Whether the path was reported by itself or by a renamed folder above it.
  bool await_covered(const std::string& path) {
    return await([&] {
      const auto holds = [&](const std::string& folder) { return is_within(path, folder); };
      return std::any_of(renames_.begin(), renames_.end(),
                         [&](const std::string& rename) {
                           const std::size_t arrow = rename.find('>');
                           return holds(rename.substr(0, arrow)) || holds(rename.substr(arrow + 1));
                         }) ||
             paths_.contains(path);
    });
  }
  bool await_rename(const std::string& rename) {
    return await([&] { return renames_.contains(rename); });
  }
  bool await_rescans(std::size_t count) {
    return await([&] { return rescans_.size() >= count; });
  }

  std::set<std::string> paths() { return get(paths_); }
  std::set<std::string> renames() { return get(renames_); }
  std::vector<std::string> rescans() { return get(rescans_); }
  std::vector<std::string> warnings() { return get(warnings_); }
  int calls() { return get(calls_); }

 private:
  template <typename T>
  T get(const T& value) {
    const std::scoped_lock lock(mutex_);
    return value;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> paths_;
  std::set<std::string> renames_;  // "source>path"
  std::vector<std::string> rescans_;
  std::vector<std::string> warnings_;
  int calls_ = 0;
  std::string held_;
};

class FolderWatcherTest : public testing::Test {
 protected:
  FolderWatcherTest() { fs::create_directory(root); }
  ~FolderWatcherTest() override { recorded.release(); }

  void start(FolderWatchOptions options) {
    options.logger = recorded.logger();
    auto started = FolderWatcher::start(root, options, recorded.on_touched(), recorded.on_rescan());
    ASSERT_TRUE(started) << started.error().message;
    watcher = std::move(*started);
  }
  void start() { start({.quiet = 5ms, .restless = 100ms, .poll_every = kNever}); }

  [[nodiscard]] std::string path(const std::string& name) const { return root + "/" + name; }
  void write(const std::string& name, const std::string& content = "text") const {
    std::ofstream(path(name)) << content;
  }
  void make_folder(const std::string& name) const { fs::create_directories(path(name)); }
  void rename(const std::string& from, const std::string& to) const { fs::rename(path(from), path(to)); }

  // Returns when all earlier changes have been reported.
  void settle() {
    const std::string name = "settle-" + std::to_string(++settled);
    write(name);
    ASSERT_TRUE(recorded.await_path(name));
  }
  // Blocks the watcher in a callback until release(), so that inotify events accumulate.
  void hold() {
    recorded.hold("settle-" + std::to_string(settled + 1));
    settle();
  }

  const TemporaryDirectory directory;
  const std::string root = directory.file("notebook");
  RecordedCallbacks recorded;
  int settled = 0;
  std::unique_ptr<FolderWatcher> watcher;  // destroyed first
};

TEST_F(FolderWatcherTest, RefusesWhatIsNoFolder) {
  const auto absent = FolderWatcher::start(path("absent"), {}, recorded.on_touched(), recorded.on_rescan());
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);

  write("file");
  const auto file = FolderWatcher::start(path("file"), {}, recorded.on_touched(), recorded.on_rescan());
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
}

TEST_F(FolderWatcherTest, FilesThatExistAtTheStartAreNotReported) {
  make_folder("old");
  write("old/a");
  start();

  settle();

  EXPECT_THAT(recorded.paths(), testing::ElementsAre("settle-1"));
  EXPECT_THAT(recorded.rescans(), testing::IsEmpty());
  EXPECT_EQ(watcher->stats().watches, 2U);
  EXPECT_FALSE(watcher->stats().polls);
}

struct Saving {
  const char* name;
  std::function<void(const std::string& path)> save;
};

TEST_F(FolderWatcherTest, EveryWayOfSavingIsReported) {
  make_folder("deep/er");
  write("deep/er/note.md", "before");
  start();
  const std::vector<Saving> ways = {
      {"in place", [](const std::string& file) { std::fstream(file, std::ios::in | std::ios::out) << "b"; }},
      {"truncated", [](const std::string& file) { std::ofstream(file) << "new"; }},
      {"appended", [](const std::string& file) { std::ofstream(file, std::ios::app) << "more"; }},
      {"cut", [](const std::string& file) { fs::resize_file(file, 1); }},
      {"deleted and made again",
       [](const std::string& file) {
         fs::remove(file);
         std::ofstream(file) << "again";
       }},
      {"renamed over",
       [](const std::string& file) {
         std::ofstream(file + "~") << "by rename";
         fs::rename(file + "~", file);
       }},
      {"backed up by rename",
       [](const std::string& file) {
         fs::rename(file, file + ".bak");
         std::ofstream(file) << "fresh";
         fs::remove(file + ".bak");
       }},
      {"linked",
       [](const std::string& file) {
         std::ofstream(file + ".other") << "linked";
         fs::remove(file);
         fs::create_hard_link(file + ".other", file);
       }},
      {"made executable", [](const std::string& file) { ASSERT_EQ(::chmod(file.c_str(), 0755), 0); }},
      {"deleted", [](const std::string& file) { fs::remove(file); }},
  };
  for (const Saving& way : ways) {
    SCOPED_TRACE(way.name);
    settle();
    recorded.forget();

    way.save(path("deep/er/note.md"));

    EXPECT_TRUE(recorded.await_path("deep/er/note.md"));
  }
}

TEST_F(FolderWatcherTest, ARenameReportsItsSource) {
  write("a");
  make_folder("sub");
  start();
  hold();

  rename("a", "sub/b");

  recorded.release();
  EXPECT_TRUE(recorded.await_rename("a>sub/b"));
  EXPECT_FALSE(recorded.paths().contains("a"));
}

TEST_F(FolderWatcherTest, RenamesInARowAreReportedAsOne) {
  write("a");
  start();
  hold();

  rename("a", "b");
  rename("b", "c");
  rename("c", "d");

  recorded.release();
  EXPECT_TRUE(recorded.await_rename("a>d"));
  EXPECT_EQ(recorded.renames().size(), 1U);
}

TEST_F(FolderWatcherTest, NothingMadeInNewFoldersIsMissed) {
  start();
  std::set<std::string> made;
  for (int i = 0; i < 200; ++i) {
    const std::string folder = "n" + std::to_string(i) + "/b/c";
    make_folder(folder);
    write(folder + "/file");
    made.insert(folder + "/file");
  }

  for (const std::string& file : made) EXPECT_TRUE(recorded.await_path(file)) << file;
  EXPECT_EQ(watcher->stats().watches, 601U);
}

TEST_F(FolderWatcherTest, AFolderMovedWithinTheNotebookIsReportedOnceAndWatchedAtItsNewPath) {
  make_folder("x/in/deep");
  write("x/in/deep/a");
  make_folder("other");
  start();
  hold();

  rename("x", "other/y");

  recorded.release();
  EXPECT_TRUE(recorded.await_rename("x>other/y"));
  settle();
  EXPECT_FALSE(recorded.paths().contains("other/y/in/deep/a"));
  EXPECT_EQ(watcher->stats().watches, 5U);
  write("other/y/in/deep/a", "changed");
  EXPECT_TRUE(recorded.await_path("other/y/in/deep/a"));
  EXPECT_FALSE(recorded.paths().contains("x/in/deep/a"));
}

TEST_F(FolderWatcherTest, AFolderMovedAwayIsReportedAndNoLongerWatched) {
  make_folder("x/in");
  write("x/in/a");
  start();

  fs::rename(path("x"), directory.file("away"));
  ASSERT_TRUE(recorded.await_path("x"));
  while (watcher->stats().watches > 1) settle();

  recorded.forget();
  std::ofstream(directory.file("away/in/a")) << "unseen";
  settle();
  EXPECT_EQ(recorded.paths().size(), 1U);

  fs::rename(directory.file("away"), path("back"));
  EXPECT_TRUE(recorded.await_path("back/in/a"));
  EXPECT_EQ(watcher->stats().watches, 3U);
  recorded.forget();
  write("back/in/a", "seen");
  EXPECT_TRUE(recorded.await_path("back/in/a"));
}

TEST_F(FolderWatcherTest, ADeletedFolderIsReportedAndWatchedAgainWhenItComesBack) {
  make_folder("x/in");
  write("x/in/a");
  start();

  fs::remove_all(path("x"));
  EXPECT_TRUE(recorded.await_path("x/in/a"));
  EXPECT_TRUE(recorded.await_path("x/in"));
  EXPECT_TRUE(recorded.await_path("x"));

  recorded.forget();
  make_folder("x/in");
  write("x/in/a");
  EXPECT_TRUE(recorded.await_path("x/in/a"));
}

TEST_F(FolderWatcherTest, AFolderWhoseModeChangedIsReported) {
  fs::create_directory(root + "/folder");
  start({});
  fs::permissions(root + "/folder", fs::perms::none);
  fs::permissions(root + "/folder", fs::perms::owner_all);

  EXPECT_TRUE(recorded.await_path("folder"));
}

TEST_F(FolderWatcherTest, AFileThatReplacesAFolderIsReported) {
  make_folder("x");
  start();
  hold();

  fs::remove(path("x"));
  write("x");
  fs::remove(path("x"));
  make_folder("x");
  write("x/a");

  recorded.release();
  EXPECT_TRUE(recorded.await_path("x"));
  EXPECT_TRUE(recorded.await_path("x/a"));
}

TEST_F(FolderWatcherTest, DotGitDotEventqAndRefusedNamesAreNotReported) {
  make_folder(".git");
  make_folder("sub/.git/deep");
  start();
  make_folder(".eventq");
  make_folder("sub/.eventq");
  write(".git/index");
  write("sub/.git/deep/index");
  write(".eventq/event-1");
  write("sub/.eventq/event-1");
  write("back\\slash");
  write("line\nbreak");
  write("bad\xFF");
  make_folder("line\nbreak-folder/in");
  write("line\nbreak-folder/in/a");

  // A rename from there counts as a new file, a rename to there as a deletion.
  rename(".eventq/event-1", "new.md");
  ASSERT_TRUE(recorded.await_path("new.md"));
  rename("new.md", ".eventq/event-2");
  settle();

  EXPECT_THAT(recorded.paths(), testing::ElementsAre("new.md", "settle-1"));
  EXPECT_THAT(recorded.renames(), testing::IsEmpty());
  EXPECT_EQ(watcher->stats().watches, 2U);
}

TEST_F(FolderWatcherTest, NoLinkIsFollowed) {
  fs::create_directory(directory.file("outside"));
  fs::create_directory_symlink(directory.file("outside"), path("before"));
  start();
  fs::create_directory_symlink(directory.file("outside"), path("after"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  make_folder("new");
  fs::create_directory_symlink(directory.file("outside"), path("new/link"));

  std::ofstream(directory.file("outside/a")) << "unseen";
  settle();

  EXPECT_THAT(recorded.paths(),
              AllOf(Not(Contains("before/a")), Not(Contains("after/a")), Not(Contains("new/link/a"))));
  EXPECT_EQ(watcher->stats().watches, 2U);
}

TEST_F(FolderWatcherTest, EveryFileOfABurstIsReported) {
  make_folder("many");
  start();

  for (int i = 0; i < 5000; ++i) write("many/" + std::to_string(i));

  EXPECT_TRUE(recorded.await_path("many/4999"));
  settle();
  EXPECT_EQ(recorded.paths().size(), 5001U);
}

TEST_F(FolderWatcherTest, AFileThatNeverBecomesQuietIsReported) {
  start({.quiet = kNever, .restless = 5ms, .poll_every = kNever});

  write("log");

  EXPECT_TRUE(recorded.await_path("log"));
}

TEST_F(FolderWatcherTest, AnOverflowRequestsARescanAndLaterChangesAreReported) {
  std::size_t most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  ASSERT_GT(most, 0U);
  write("a");
  start();
  hold();

  for (std::size_t i = 0; i <= most / 4; ++i) {
    rename("a", "b");
    rename("b", "a");
  }
  make_folder("new/in");  // made while events are dropped

  recorded.release();
  ASSERT_TRUE(recorded.await_rescans(1));
  EXPECT_THAT(recorded.rescans().front(), HasSubstr("overflow"));
  EXPECT_EQ(watcher->stats().overflows, 1U);
  EXPECT_EQ(watcher->stats().watches, 3U);
  EXPECT_GE(watcher->stats().events, most);
  write("new/in/a");
  EXPECT_TRUE(recorded.await_path("new/in/a"));
}

TEST_F(FolderWatcherTest, AsManyFoldersAsWatchesAreWatchedWithoutRescans) {
  make_folder("a");
  start({.quiet = 5ms, .restless = 100ms, .poll_every = 1ms, .watches_max = 3});
  make_folder("b");
  write("b/file");
  ASSERT_TRUE(recorded.await_path("b/file"));
  settle();

  EXPECT_FALSE(watcher->stats().polls);
  EXPECT_EQ(watcher->stats().watches, 3U);
  EXPECT_THAT(recorded.rescans(), testing::IsEmpty());
}

TEST_F(FolderWatcherTest, WithMoreFoldersThanWatchesTheWatcherRescansPeriodicallyAndLogsTheReasonOnce) {
  make_folder("a");
  make_folder("b");
  start({.quiet = 5ms, .restless = 100ms, .poll_every = 1ms, .watches_max = 3});
  EXPECT_FALSE(watcher->stats().polls);

  make_folder("c/in");
  write("c/in/file");

  EXPECT_TRUE(recorded.await_rescans(3));
  EXPECT_TRUE(watcher->stats().polls);
  EXPECT_EQ(watcher->stats().watches, 3U);
  EXPECT_THAT(recorded.warnings(), testing::ElementsAre(HasSubstr("fs.inotify.max_user_watches")));
  write("a/file");  // these folders are still watched
  EXPECT_TRUE(recorded.await_path("a/file"));
  write("b/file");
  EXPECT_TRUE(recorded.await_path("b/file"));
}

TEST_F(FolderWatcherTest, RescansEndWhenThereAreWatchesForAllFoldersAgain) {
  make_folder("a");
  make_folder("b");
  start({.quiet = 5ms, .restless = 100ms, .poll_every = 1ms, .watches_max = 2});
  ASSERT_TRUE(recorded.await_rescans(1));
  EXPECT_TRUE(watcher->stats().polls);

  // Either of the two may be watched.
  fs::remove(path("b"));
  while (watcher->stats().polls) settle();

  EXPECT_EQ(watcher->stats().watches, 2U);
  write("a/file");
  EXPECT_TRUE(recorded.await_path("a/file"));
}

TEST_F(FolderWatcherTest, AMissingFolderRequestsARescanAndAnotherWhenItIsBack) {
  make_folder("a");
  start({.quiet = 5ms, .restless = 100ms, .poll_every = 5ms});

  fs::rename(root, directory.file("elsewhere"));
  ASSERT_TRUE(recorded.await_rescans(1));
  EXPECT_EQ(watcher->stats().watches, 0U);
  EXPECT_FALSE(recorded.warnings().empty());

  fs::rename(directory.file("elsewhere"), root);
  ASSERT_TRUE(recorded.await_rescans(2));
  write("a/file");
  EXPECT_TRUE(recorded.await_path("a/file"));
}

TEST_F(FolderWatcherTest, AFolderDeletedWhileItIsHeldOpenIsNoticed) {
  start({.quiet = 5ms, .restless = 100ms, .poll_every = 5ms});

  fs::remove(root);
  ASSERT_TRUE(recorded.await_rescans(1));

  fs::create_directory(root);
  ASSERT_TRUE(recorded.await_rescans(2));
  write("file");
  EXPECT_TRUE(recorded.await_path("file"));
}

TEST_F(FolderWatcherTest, NoCallbackRunsAfterTheWatcherStopped) {
  start({.quiet = kNever, .restless = kNever, .poll_every = kNever});
  write("a");

  watcher.reset();

  EXPECT_EQ(recorded.calls(), 0);
}

// Makes, renames, replaces and removes folders at random, without pauses.
class Turmoil {
 public:
  Turmoil(std::string root, unsigned seed) : root_(std::move(root)), numbers_(seed) {}

  void stir(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      std::error_code ignored;
      switch (numbers_() % 8) {
        case 0:
        case 1:
        case 2: fs::create_directories(any(), ignored); break;
        case 3: fs::remove_all(any(), ignored); break;
        case 4: std::ofstream(any() + "/file") << i; break;
        default: fs::rename(any(), any(), ignored); break;
      }
    }
  }

 private:
  // Few names, so that they collide often.
  std::string any() {
    std::string path = root_;
    for (auto depth = 1 + numbers_() % 3; depth > 0; --depth)
      path += std::string("/") + "abc"[numbers_() % 3];
    return path;
  }

  const std::string root_;
  std::mt19937 numbers_;
};

class TurmoilTest : public FolderWatcherTest {
 protected:
  // In every other round the watcher is blocked until the round is over.
  void stir(unsigned seed) {
    if (seed % 2 == 0) hold();
    Turmoil(root, seed).stir(300);
    recorded.release();
  }
  // A new file in each folder.
  std::set<std::string> write_probes(const std::string& name) {
    std::set<std::string> probes;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_directory()) probes.insert(fs::relative(entry.path(), root).string() + "/" + name);
    }
    for (const std::string& probe : probes) write(probe);
    return probes;
  }
};

TEST_F(TurmoilTest, EveryNewFileIsReportedByItsPathOrByARenamedFolder) {
  start();
  for (unsigned seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    settle();
    recorded.forget();
    stir(seed);

    for (const std::string& probe : write_probes("probe-" + std::to_string(seed))) {
      ASSERT_TRUE(recorded.await_covered(probe)) << probe;
    }
  }
  EXPECT_EQ(watcher->stats().overflows, 0U);
}

TEST_F(TurmoilTest, EveryFolderIsWatchedUnderItsCurrentName) {
  start();
  for (unsigned seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE(seed);
    stir(seed);
    settle();

    for (const std::string& probe : write_probes("probe-" + std::to_string(seed))) {
      ASSERT_TRUE(recorded.await_path(probe)) << probe;
    }
  }
  EXPECT_EQ(watcher->stats().overflows, 0U);
  std::size_t folders = 1;
  for (const auto& entry : fs::recursive_directory_iterator(root)) folders += entry.is_directory() ? 1 : 0;
  while (watcher->stats().watches > folders) settle();
  EXPECT_EQ(watcher->stats().watches, folders);
}

}  // namespace
}  // namespace eventq::notebook
