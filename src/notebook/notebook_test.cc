// notebook_test.cc: a notebook at work on a real queue, folder and repository.
#include "notebook/notebook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <thread>

#include "base/steady.h"
#include "notebook/notebooks.h"
#include "notebook/operation.h"
#include "queue/engine.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum Operation::Kind;
namespace fs = std::filesystem;
constexpr std::chrono::minutes kLong{2};

class NotebookTest : public testing::Test {
 protected:
  NotebookTest() {
    fs::create_directory(root_);
    start();
    Settings settings;
    settings.git_commit_interval = std::chrono::hours(1);  // only when asked
    settings.git_commit_max_files = 1'000'000;
    settings.retry_backoff = Millis(10);
    settings.max_retries = 1000;
    settings.poll_interval = Millis(10);
    auto added = notebooks_->add("n", root_, settings);
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    notebook_ = notebooks_->find("n");
  }
  ~NotebookTest() override {
    stop();
    git("fsck --strict");
  }

  void start() {
    auto engine = Engine::open("sqlite:" + directory_.file("queue.db"), {});
    engine_ = std::move(*engine);
    NotebooksOptions options;
    options.state = directory_.file("state");
    options.allow = {directory_.file("")};
    auto notebooks = Notebooks::open(*engine_, options);
    EXPECT_TRUE(notebooks) << (notebooks ? "" : notebooks.error().message);
    notebooks_ = std::move(*notebooks);
    notebook_ = notebooks_->find("n");
  }
  void stop() {
    notebook_.reset();
    if (notebooks_) notebooks_->stop();
    notebooks_.reset();
    engine_.reset();
  }

  std::future<Result<Accepted>> ask(ChangeRequest request) {
    auto promise = std::make_shared<std::promise<Result<Accepted>>>();
    auto future = promise->get_future();
    notebook_->submit(std::move(request),
                      [promise](Result<Accepted> a) { promise->set_value(std::move(a)); });
    return future;
  }
  // The event after its end.
  Event end_of(EventId id) {
    Command command;
    command.wait = WaitRequest{id, kLong};
    EXPECT_TRUE(engine_->call(std::move(command)).waited);
    return now_of(id);
  }
  Event now_of(EventId id) {
    Command command;
    command.get = Command::Get{id, false};
    return (*engine_->call(std::move(command)).details)->event;
  }
  // How often its log says that it ended.
  int ends_of(EventId id) {
    Command command;
    command.get = Command::Get{id, true};
    const Answer answer = engine_->call(std::move(command));
    int ends = 0;
    for (const LogEntry& entry : (*answer.details)->log) {
      ends += entry.action == Action::completed || entry.action == Action::superseded ? 1 : 0;
      ends += entry.action == Action::failed && !entry.next_retry_at ? 1 : 0;
    }
    return ends;
  }
  Event done(ChangeRequest request) {
    auto accepted = ask(std::move(request)).get();
    EXPECT_TRUE(accepted) << (accepted ? "" : accepted.error().message);
    if (!accepted) return {};
    if (accepted->group) {
      Command command;
      command.wait = WaitRequest{WaitRequest::Correlated{accepted->correlation_id}, kLong};
      EXPECT_TRUE(engine_->call(std::move(command)).waited);
    }
    return end_of(accepted->event.id);
  }
  Event make(const std::string& path, const std::string& content) {
    return done({.kind = create, .path = path, .content = content});
  }
  void commit() { EXPECT_EQ(done({.kind = batch_commit}).status, Status::completed); }

  // The worker takes nothing until it is let go.
  void pause(QueueStatus status) {
    Command command;
    command.ask = QueueChange{"notebook:n", QueueChange::SetStatus{status, "test", ""}};
    const Answer answer = engine_->call(std::move(command));
    EXPECT_FALSE(answer.error);
  }

  std::int64_t id_of(const std::string& path) {
    const auto row = notebook_->file_at(path);
    EXPECT_TRUE(row) << path;
    return row ? row->id : 0;
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    std::ifstream file(root_ + "/" + path);
    return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "(absent)";
  }
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << content;
  }
  std::vector<std::string> known() {
    std::vector<std::string> paths;
    const auto rows = notebook_->files(State::Which::files, "", 1000);
    for (const FileRow& row : *rows) paths.push_back(row.path);
    return paths;
  }
  // Until what others did has become events, and they have ended, this is so.
  template <typename Condition>
  static void wait_until(const Condition& holds, const char* what) {
    const SteadyTime start = steady_now();
    while (!holds() && millis_since(start) < kLong) std::this_thread::yield();
    EXPECT_TRUE(holds()) << what;
  }
  std::string git(const std::string& arguments) {
    Process process({{"/bin/sh", "-c", "git " + arguments}, {"HOME=" + directory_.file("")}, root_});
    EXPECT_EQ(process.wait(kLong), 0) << arguments << process.err();
    return process.out();
  }

  const TemporaryDirectory directory_;
  const std::string root_ = directory_.file("notes");
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Notebooks> notebooks_;
  std::shared_ptr<Notebook> notebook_;
};

TEST_F(NotebookTest, AChangeIsAnsweredWithItsEventAndThenThere) {
  auto accepted = ask({.kind = create, .path = "a.md", .content = "one"}).get();
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->path, "a.md");
  EXPECT_EQ(accepted->event.pattern, "file.create");
  EXPECT_EQ(end_of(accepted->event.id).status, Status::completed);
  EXPECT_EQ(get("a.md"), "one");
  EXPECT_EQ(done({.kind = update, .file = id_of("a.md"), .content = "two"}).status, Status::completed);
  EXPECT_EQ(done({.kind = move, .file = id_of("a.md"), .dest_path = "b/c.md"}).status, Status::completed);
  EXPECT_EQ(get("b/c.md"), "two");
  EXPECT_EQ(done({.kind = remove, .file = id_of("b/c.md")}).status, Status::completed);
  EXPECT_EQ(get("b/c.md"), "(absent)");
}

TEST_F(NotebookTest, BadPathsAndIdsAreRefusedBeforeAnythingIsPublished) {
  EXPECT_EQ(ask({.kind = create, .path = "../a", .content = ""}).get().error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(ask({.kind = update, .file = 99, .content = ""}).get().error().code, ErrorCode::not_found);
  make("a", "1");
  EXPECT_EQ(ask({.kind = create, .path = "a", .content = ""}).get().error().code, ErrorCode::conflict);
  EXPECT_EQ(ask({.kind = move, .file = id_of("a"), .dest_path = ".git/x"}).get().error().code,
            ErrorCode::invalid_argument);
}

TEST_F(NotebookTest, ABadPathInAnEventOfSomebodyElseEndsItAtOnceWithAReason) {
  NewEvent event;
  event.title = "by hand";
  event.tags = {"by-hand"};
  event.queue = "notebook:n";
  event.pattern = "file.create";
  event.payload = R"({"path":"a/../../b","content":"x"})";
  Command command;
  command.publication = Publication{.events = {event}, .key = {}};
  const Answer answer = engine_->call(std::move(command));
  const Event ended = end_of((*answer.published)->events.front().id);
  EXPECT_EQ(ended.status, Status::failed);
  EXPECT_EQ(ended.attempts, 1);
}

TEST_F(NotebookTest, WhatWaitsIsCombinedAndTheLosersAreLinked) {
  pause(QueueStatus::paused);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  // The file has no id yet; so this comes from another file's path.
  pause(QueueStatus::active);
  end_of(created->event.id);
  pause(QueueStatus::paused);
  std::vector<EventId> updates;
  for (int i = 0; i < 5; ++i) {
    updates.push_back(
        ask({.kind = update, .file = id_of("a"), .content = std::to_string(i)}).get()->event.id);
  }
  for (int i = 0; i < 4; ++i) {
    const Event lost = now_of(updates[static_cast<std::size_t>(i)]);
    EXPECT_EQ(lost.status, Status::superseded);
    EXPECT_EQ(lost.superseded_by, updates[static_cast<std::size_t>(i) + 1]);
  }
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(updates.back()).status, Status::completed);
  EXPECT_EQ(get("a"), "4");
}

TEST_F(NotebookTest, MovesInARowBecomeOneMove) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  pause(QueueStatus::paused);
  const auto first = ask({.kind = move, .file = id, .dest_path = "b"}).get();
  const auto second = ask({.kind = move, .file = id, .dest_path = "c"}).get();
  const auto again = ask({.kind = create, .path = "a", .content = "new"}).get();
  const auto third = ask({.kind = update, .file = id, .content = "2"}).get();
  ASSERT_TRUE(first && second && again && third);
  EXPECT_EQ(now_of(first->event.id).superseded_by, second->event.id);
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(third->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "new");
  EXPECT_EQ(get("c"), "2");
  EXPECT_EQ(get("b"), "(absent)");
  EXPECT_EQ(id_of("c"), id);
}

TEST_F(NotebookTest, AFolderMoveTakesWhatWillBeInItWhenItsTurnComes) {
  make("a/1", "1");
  make("a/2", "2");
  const std::int64_t folder = notebook_->file_at("a")->id;
  pause(QueueStatus::paused);
  ASSERT_TRUE(ask({.kind = create, .path = "a/3", .content = "3"}).get());
  ASSERT_TRUE(ask({.kind = remove, .file = id_of("a/1")}).get());
  const auto moved = ask({.kind = move, .file = folder, .dest_path = "z"}).get();
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->group);
  EXPECT_EQ(moved->file_count, 2);
  pause(QueueStatus::active);
  Command command;
  command.wait = WaitRequest{WaitRequest::Correlated{moved->correlation_id}, kLong};
  ASSERT_TRUE(engine_->call(std::move(command)).waited);
  EXPECT_THAT(known(), ElementsAre("z/2", "z/3"));
  EXPECT_EQ(get("z/3"), "3");
  EXPECT_FALSE(fs::exists(root_ + "/a"));
}

TEST_F(NotebookTest, AFolderMoveThatCannotBeDoneFailsWholeWithTheReasonInEveryEvent) {
  for (int i = 0; i < 10; ++i) make("a/" + std::to_string(i), "x");
  const std::int64_t folder = notebook_->file_at("a")->id;
  pause(QueueStatus::paused);
  const auto moved = ask({.kind = move, .file = folder, .dest_path = "b"}).get();
  ASSERT_TRUE(moved);
  put("b/7", "in the way");
  pause(QueueStatus::active);
  Command command;
  command.ask = AskCorrelation{moved->correlation_id, EventId{}, 100};
  Command wait;
  wait.wait = WaitRequest{WaitRequest::Correlated{moved->correlation_id}, kLong};
  ASSERT_TRUE(engine_->call(std::move(wait)).waited);
  const Answer answer = engine_->call(std::move(command));
  const auto& correlation = *std::get<Result<Correlation>>(answer.told);
  EXPECT_EQ(correlation.total, 10);
  EXPECT_EQ(correlation.failed, 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get("a/" + std::to_string(i)), "x");
  EXPECT_EQ(get("b/7"), "in the way");
}

TEST_F(NotebookTest, AnEmptyFolderCanBeMadeMovedAndDeleted) {
  EXPECT_EQ(done({.kind = create, .path = "a/b", .folder = true}).status, Status::completed);
  EXPECT_EQ(done({.kind = move, .file = notebook_->file_at("a/b")->id, .dest_path = "c"}).status,
            Status::completed);
  EXPECT_TRUE(fs::is_directory(root_ + "/c"));
  EXPECT_FALSE(fs::exists(root_ + "/a/b"));
  EXPECT_EQ(done({.kind = remove, .file = notebook_->file_at("c")->id}).status, Status::completed);
  EXPECT_FALSE(fs::exists(root_ + "/c"));
}

TEST_F(NotebookTest, AFailureThatMayMendItselfIsRetriedBeforeWhatComesBehindIt) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  // Where new content is written first there is a file instead of a folder.
  fs::remove_all(root_ + "/.eventq");
  std::ofstream(root_ + "/.eventq") << "in the way";
  const auto update = ask({.kind = Operation::Kind::update, .file = id, .content = "2"}).get();
  const auto behind = ask({.kind = move, .file = id, .dest_path = "b"}).get();
  wait_until([&] { return now_of(update->event.id).retry_count > 1; }, "the update fails");
  EXPECT_EQ(now_of(behind->event.id).status, Status::pending);
  EXPECT_EQ(get("a"), "1");
  fs::remove(root_ + "/.eventq");
  EXPECT_EQ(end_of(update->event.id).status, Status::completed);
  EXPECT_EQ(end_of(behind->event.id).status, Status::completed);
  EXPECT_EQ(get("b"), "2");
}

TEST_F(NotebookTest, ACommitHasWhatWasPublishedBeforeItAndFindsItsEvents) {
  const Event created = make("a.md", "1");
  commit();
  EXPECT_EQ(git("log --format=%s"), "Update a.md\n");
  EXPECT_THAT(git("log -1 --format=%B"), HasSubstr("Eventq-Event: " + created.event_id));
  make("b", "2");
  make("c", "3");
  commit();
  EXPECT_EQ(git("log -1 --format=%s"), "Batch update: 2 files\n");
  EXPECT_EQ(git("status --porcelain"), "");
  const auto commits = notebook_->commits(10, "");
  ASSERT_EQ(commits->size(), 2U);
  EXPECT_THAT(commits->back().event_ids, ElementsAre(created.event_id));
  EXPECT_EQ(commits->front().hash + "\n", git("rev-parse HEAD"));
  const auto found = notebook_->commits(10, created.event_id);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().hash, commits->back().hash);
}

TEST_F(NotebookTest, ChangesThatUndoEachOtherMakeNoCommit) {
  make("a", "1");
  commit();
  make("b", "2");
  done({.kind = remove, .file = id_of("b")});
  commit();
  EXPECT_EQ(git("log --format=%s"), "Update a\n");
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

TEST_F(NotebookTest, WhatOthersDoBecomesKnownAndIsCommitted) {
  put("sub/theirs.txt", "hello");
  wait_until([&] { return notebook_->file_at("sub/theirs.txt").has_value(); }, "the new file is known");
  const std::int64_t id = id_of("sub/theirs.txt");
  fs::rename(root_ + "/sub/theirs.txt", root_ + "/moved.txt");
  wait_until([&] { return notebook_->file_at("moved.txt").has_value(); }, "the renamed file is known");
  EXPECT_EQ(id_of("moved.txt"), id);
  commit();
  EXPECT_EQ(git("show HEAD:moved.txt"), "hello");
  fs::remove(root_ + "/moved.txt");
  wait_until([&] { return !notebook_->file_at("moved.txt").has_value(); }, "the deletion is known");
}

TEST_F(NotebookTest, OurOwnWritesBecomeNoFurtherEvents) {
  for (int i = 0; i < 50; ++i) make("f" + std::to_string(i), "x");
  put("last", "outside");  // when this one is known, the watcher has seen the others
  wait_until([&] { return notebook_->file_at("last").has_value(); }, "the outside file is known");
  Command command;
  command.ask = AskQueue{"notebook:n", 0};
  const Answer answer = engine_->call(std::move(command));
  EXPECT_EQ((*std::get<Result<QueueDocument>>(answer.told)).totals.published, 51);
}

TEST_F(NotebookTest, AnEditRightAfterOurWriteIsSeen) {
  make("a", "ours");
  put("a", "theirs");
  wait_until([&] { return notebook_->file_at("a")->state.size == 6; }, "the edit is known");
  commit();
  EXPECT_EQ(git("show HEAD:a"), "theirs");
}

TEST_F(NotebookTest, WhatHappenedWhileNobodyWatchedIsFoundAtTheStart) {
  make("a", "1");
  make("b", "2");
  stop();
  put("a", "edited");
  fs::remove(root_ + "/b");
  put("c", "new");
  start();
  wait_until(
      [&] {
        return known() == std::vector<std::string>{"a", "c"} && notebook_->file_at("a")->state.size == 6;
      },
      "the differences are known");
  commit();
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookTest, WhatWaitedWhenTheServerStoppedIsDoneAfterTheNextStart) {
  make("a", "1");
  pause(QueueStatus::paused);
  const auto update = ask({.kind = Operation::Kind::update, .file = id_of("a"), .content = "2"}).get();
  stop();
  start();
  // Known again: combined with what waits.
  const auto next = ask({.kind = Operation::Kind::update, .file = id_of("a"), .content = "3"}).get();
  EXPECT_EQ(now_of(update->event.id).superseded_by, next->event.id);
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(next->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "3");
}

TEST_F(NotebookTest, AStopCommitsWhatWaits) {
  make("a", "1");
  stop();
  EXPECT_EQ(git("log --format=%s"), "Update a\n");
}

TEST_F(NotebookTest, AThousandChangesAtOnceOnAHundredPathsWithAnEditorAtWorkAgreeInTheEnd) {
  constexpr int kPaths = 100;
  for (int i = 0; i < kPaths; ++i) make("f" + std::to_string(i), "0");
  std::atomic<bool> stop_editing = false;
  std::thread editor([&] {
    for (int i = 0; !stop_editing; ++i)
      put("f" + std::to_string(i * 7 % kPaths), "edited " + std::to_string(i));
  });
  std::vector<std::future<Result<Accepted>>> asked;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "f" + std::to_string(i * 31 % kPaths);
    const auto row = notebook_->file_at(path);
    if (row && i % 5 != 4) {
      asked.push_back(ask({.kind = Operation::Kind::update, .file = row->id, .content = std::to_string(i)}));
    } else if (row) {
      asked.push_back(ask({.kind = remove, .file = row->id}));
    } else {
      asked.push_back(ask({.kind = create, .path = path, .content = std::to_string(i)}));
    }
  }
  std::vector<EventId> events;
  for (auto& one : asked) {
    if (auto accepted = one.get()) events.push_back(accepted->event.id);
  }
  stop_editing = true;
  editor.join();
  for (const EventId id : events) {
    end_of(id);
    EXPECT_EQ(ends_of(id), 1);
  }
  ASSERT_TRUE(notebook_->rescan());
  commit();
  ASSERT_EQ(*notebook_->rescan(), 0U);

  const auto rows = *notebook_->files(State::Which::files, "", 1000);
  std::size_t on_disk = 0;
  for (const auto& entry : fs::directory_iterator(root_)) on_disk += entry.is_regular_file() ? 1U : 0U;
  EXPECT_EQ(rows.size(), on_disk);
  for (const FileRow& row : rows) EXPECT_EQ(row.hash, hash_of(get(row.path))) << row.path;
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookTest, EveryChangeIsInTheHistoryOnce) {
  make("a", "1");
  commit();
  done({.kind = Operation::Kind::update, .file = id_of("a"), .content = "2"});
  make("b", "3");
  commit();
  put("c", "outside");
  wait_until([&] { return notebook_->file_at("c").has_value(); }, "the outside file is known");
  commit();
  commit();
  EXPECT_EQ(git("log --reverse --name-status --format="), "A\ta\nM\ta\nA\tb\nA\tc\n");
}

TEST_F(NotebookTest, WhatSomebodyElseWroteIsInTheHistoryBeforeItIsReplacedOrDeleted) {
  make("a", "1");
  make("b", "1");
  commit();
  put("a", "hours of work");
  put("b", "hours of play");
  wait_until(
      [&] { return notebook_->file_at("b")->state.size == 13 && notebook_->file_at("a")->state.size == 13; },
      "the edits are known");
  done({.kind = Operation::Kind::update, .file = id_of("a"), .content = "2"});
  done({.kind = remove, .file = id_of("b")});
  commit();
  EXPECT_THAT(git("log -p --format="), AllOf(HasSubstr("+hours of work"), HasSubstr("+hours of play")));
  EXPECT_EQ(git("show HEAD:a"), "2");
}

TEST_F(NotebookTest, WhatSomebodyElseWroteAMomentAgoIsInTheHistoryBeforeItIsReplaced) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  pause(QueueStatus::paused);
  const auto update = ask({.kind = Operation::Kind::update, .file = id, .content = "2"}).get();
  put("a", "hours of work");  // known only after the update
  pause(QueueStatus::active);
  end_of(update->event.id);
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+hours of work"));
  EXPECT_EQ(get("a"), "2");
}

TEST_F(NotebookTest, AnEventThatAPersonCancelledIsNotCountedOn) {
  pause(QueueStatus::paused);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  Command command;
  command.changes.push_back({Lease{created->event.id, "", {}}, Cancel{"not wanted"}});
  ASSERT_FALSE(engine_->call(std::move(command)).error);
  const auto again = ask({.kind = create, .path = "a", .content = "2"}).get();
  ASSERT_TRUE(again) << again.error().message;
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(again->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "2");
}

TEST_F(NotebookTest, AFolderThatIsReplacedHoldsTheNotebookUntilItIsBack) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  fs::rename(root_, root_ + ".away");
  fs::create_directory(root_);
  const auto update = ask({.kind = Operation::Kind::update, .file = id, .content = "2"}).get();
  wait_until([&] { return !notebook_->status()->worker_trouble.empty(); }, "the trouble is told");
  EXPECT_EQ(now_of(update->event.id).status, Status::pending);
  fs::remove_all(root_);
  fs::rename(root_ + ".away", root_);
  EXPECT_EQ(end_of(update->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "2");
}

TEST_F(NotebookTest, AnEmptyFolderInItsPlaceAtTheStartIsLeftOutAndForgetsNothing) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  stop();
  fs::rename(root_, root_ + ".away");
  fs::create_directory(root_);
  start();
  EXPECT_EQ(notebook_, nullptr);
  stop();
  fs::remove_all(root_);
  fs::rename(root_ + ".away", root_);
  start();
  ASSERT_NE(notebook_, nullptr);
  EXPECT_EQ(id_of("a"), id);
}

TEST_F(NotebookTest, AFolderHasOneServerAtATime) {
  NotebooksOptions options;
  options.state = directory_.file("another state");
  options.allow = {directory_.file("")};
  const auto other = Notebooks::open(*engine_, options);
  ASSERT_TRUE(other);
  const auto added = (*other)->add("other", root_, {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::unavailable);
}

TEST_F(NotebookTest, WhatGitIgnoresIsKnownAndNotCommitted) {
  make(".gitignore", "*.tmp\n");
  put("x.tmp", "ignored");
  wait_until([&] { return notebook_->file_at("x.tmp").has_value(); }, "the file is known");
  commit();
  EXPECT_EQ(git("ls-tree --name-only HEAD"), ".gitignore\n");
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

// A user's `git commit` from the index as it was at keep_index(): one that began before our last commit.
class NotebookBesideGitTest : public NotebookTest {
 protected:
  void keep_index() { fs::copy_file(root_ + "/.git/index", directory_.file("index")); }
  void commit_kept_index() {
    fs::copy_file(directory_.file("index"), root_ + "/.git/index", fs::copy_options::overwrite_existing);
    git(kUser + "commit -q --allow-empty -m theirs");
  }
  // Commits of theirs that undo an update, a deletion and a creation of ours.
  void undo_ours() {
    make("a", "1");
    make("gone", "1");
    commit();
    keep_index();
    done({.kind = update, .file = id_of("a"), .content = "2"});
    done({.kind = remove, .file = id_of("gone")});
    make("new", "2");
    commit();
    commit_kept_index();
    EXPECT_EQ(git("show HEAD:a"), "1");
    EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\ngone\n");
  }
  void expect_redone() {
    EXPECT_EQ(git("show HEAD:a"), "2");
    EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\nnew\n");
    EXPECT_EQ(git("log --format=%s"),
              "Batch update: 3 files\ntheirs\nBatch update: 3 files\nBatch update: 2 files\n");
    EXPECT_EQ(git("status --porcelain"), "");
    EXPECT_EQ(notebook_->commits(10, "")->size(), 3U);
  }

  const std::string kUser = "-c user.name=Ann -c user.email=ann@example.org ";
};

TEST_F(NotebookBesideGitTest, WhatACommitFromAnOlderIndexUndidIsCommittedAgain) {
  undo_ours();
  commit();
  expect_redone();
  commit();
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
  EXPECT_EQ(git("rev-list --count HEAD"), "4\n");
}

TEST_F(NotebookBesideGitTest, WhatIsUndoneWhileNobodyServesItIsCommittedAfterTheStart) {
  undo_ours();
  const std::string theirs = git("rev-parse HEAD");
  const std::string before = git("rev-parse HEAD~1");
  git("update-ref HEAD " + before);
  commit();  // where it was: nothing to do
  stop();
  git("update-ref HEAD " + theirs);
  start();
  wait_until([&] { return notebook_->status()->waiting.paths == 3; }, "it is noticed");
  commit();
  expect_redone();
}

TEST_F(NotebookBesideGitTest, WithoutAnyChangeItIsNoticedAfterTheCommitInterval) {
  const std::string path = directory_.file("other");
  fs::create_directory(path);
  Settings settings;
  settings.git_commit_interval = Millis(10);
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  const auto git_there = [&](const std::string& arguments) { return git("-C " + path + " " + arguments); };
  std::ofstream(path + "/a") << "1";
  wait_until([&] { return other->status()->commits == 1; }, "the file is committed");
  git_there(kUser + "rm -q --cached a");
  git_there(kUser + "commit -q -m theirs");
  wait_until([&] { return other->status()->commits == 2; }, "it is committed again");
  EXPECT_EQ(git_there("log --format=%s"), "Update a\ntheirs\nUpdate a\n");
  EXPECT_EQ(git_there("status --porcelain"), "");
  git_there("fsck --strict");
}

TEST_F(NotebookBesideGitTest, WhatTheUserHasStagedStaysStagedWhenHisCommitIsMended) {
  undo_ours();
  const std::string blob = git("hash-object -w .git/HEAD").substr(0, 40);
  for (const std::string path : {"a", "mine"}) {
    git("update-index --add --cacheinfo 100644," + blob + "," + path);
  }
  commit();
  EXPECT_EQ(git("ls-files --stage a mine"), "100644 " + blob + " 0\ta\n100644 " + blob + " 0\tmine\n");
  EXPECT_EQ(git("show HEAD:a"), "2");
  EXPECT_EQ(git("ls-tree --name-only HEAD"), "a\nnew\n");
}

TEST_F(NotebookBesideGitTest, ANewRepositoryGetsAllFiles) {
  make("a", "1");
  make("b/c", "2");
  commit();
  fs::remove_all(root_ + "/.git");
  git("init -q -b other");
  commit();
  EXPECT_EQ(git("ls-tree -r --name-only other"), "a\nb/c\n");
  EXPECT_EQ(git("log --format=%s"), "Batch update: 2 files\n");
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookBesideGitTest, ABranchWithoutCommitsGetsAllFiles) {
  make("a", "1");
  commit();
  git("checkout -q --orphan side");
  make("b", "2");
  commit();
  EXPECT_EQ(git("ls-tree --name-only side"), "a\nb\n");
  EXPECT_EQ(git("rev-list --count --all"), "2\n");
}

TEST_F(NotebookBesideGitTest, AnotherBranchIsTakenAsItIs) {
  make("a", "1");
  make("only main's", "1");
  commit();
  git("checkout -q -b side");
  done({.kind = update, .file = id_of("a"), .content = "22"});
  done({.kind = remove, .file = id_of("only main's")});
  make("b", "22");
  commit();
  const auto become = [&](const std::vector<std::string>& files, std::int64_t size) {
    commit();  // also before it is known what has become of the files
    wait_until([&] { return known() == files && notebook_->file_at("a")->state.size == size; },
               "the files are known");
    commit();
    EXPECT_EQ(notebook_->status()->waiting.paths, 0);
    EXPECT_EQ(git("status --porcelain"), "");
  };
  git("checkout -q main");
  become({"a", "only main's"}, 1);
  git("checkout -q --detach side");
  become({"a", "b"}, 2);
  EXPECT_EQ(git("rev-list --count main"), "1\n");
  EXPECT_EQ(git("rev-list --count HEAD"), "2\n");
}

TEST_F(NotebookBesideGitTest, WhatTheUserUntracksAndIgnoresStaysOutOfTheRepository) {
  make("x.tmp", "1");
  commit();
  make(".gitignore", "*.tmp\n");
  git(kUser + "rm -q --cached x.tmp");
  git(kUser + "commit -q -m theirs");
  commit();
  EXPECT_EQ(git("ls-tree --name-only HEAD"), ".gitignore\n");
  EXPECT_EQ(get("x.tmp"), "1");
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

TEST_F(NotebookBesideGitTest, ACommitIsPutDownOnceWhateverWaitsWhenTheProcessEnds) {
  const std::string first = make("a", "1").event_id;
  const std::string second = make("b", "1").event_id;
  commit();
  stop();
  // Left out of the commit, so that it waits for another one.
  auto state = State::open(directory_.file("state"));
  const auto since = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  ASSERT_TRUE(state->add_pending(1, {.path = "b", .event_id = second, .since = since}));
  start();
  EXPECT_EQ(notebook_->status()->waiting.paths, 1);
  stop();
  // In a commit that was not put down. Whether that has all of them is not known.
  ASSERT_TRUE(state->add_pending(1, {.path = "b", .since = since}));
  ASSERT_TRUE(state->add_pending(1, {.path = "a", .event_id = "evt_3", .since = since}));
  git(kUser + "commit -q --allow-empty -m ours -m 'Eventq-Event: evt_3'");
  start();
  EXPECT_EQ(notebook_->status()->waiting.paths, 2);
  commit();
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
  const auto commits = notebook_->commits(10, "");
  ASSERT_EQ(commits->size(), 2U);
  EXPECT_THAT(commits->front().event_ids, ElementsAre("evt_3"));
  EXPECT_THAT(commits->back().event_ids, ElementsAre(first, second));
}

TEST_F(NotebookBesideGitTest, WhatWasDeletedBeforeTheFolderBecameANotebookIsDeletedInHeadToo) {
  const std::string path = directory_.file("other");
  fs::create_directory(path);
  const auto git_there = [&](const std::string& arguments) { return git("-C " + path + " " + arguments); };
  git_there("init -q");
  for (const std::string name : {"kept", "gone"}) std::ofstream(path + "/" + name) << "1";
  git_there("add .");
  git_there(kUser + "commit -q -m theirs");
  fs::remove(path + "/gone");
  Settings settings;
  settings.git_commit_interval = Millis(10);
  ASSERT_TRUE(notebooks_->add("other", path, settings));
  const auto other = notebooks_->find("other");
  wait_until([&] { return git_there("ls-tree --name-only HEAD") == "kept\n"; }, "it is deleted");
  EXPECT_EQ(git_there("log --format=%s"), "Update gone\ntheirs\n");
}

TEST_F(NotebookBesideGitTest, ACommitSaysHowManyFilesAreInIt) {
  make("a", "1");
  make("b", "1");
  commit();
  put("a", "theirs");
  git(kUser + "commit -q -a -m theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  done({.kind = update, .file = id_of("b"), .content = "2"});
  commit();
  EXPECT_EQ(git("log -1 --format=%s"), "Update b\n");
  EXPECT_EQ(notebook_->commits(1, "")->front().message, "Update b");
}

TEST_F(NotebookBesideGitTest, WhatSomebodyElseWroteBeforeARestartIsInTheHistoryBeforeItIsReplaced) {
  make("a", "1");
  commit();
  put("a", "theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  std::ofstream(root_ + "/.git/MERGE_HEAD") << git("rev-parse HEAD");  // so that the stop cannot commit it
  stop();
  fs::remove(root_ + "/.git/MERGE_HEAD");
  start();
  done({.kind = update, .file = id_of("a"), .content = "3"});
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+theirs"));
}

TEST_F(NotebookBesideGitTest, WhatSomebodyElseWroteIsInTheHistoryAlsoWhenItWasMovedBeforeItIsReplaced) {
  make("a", "1");
  commit();
  put("a", "theirs");
  wait_until([&] { return notebook_->status()->waiting.paths == 1; }, "it is known");
  done({.kind = move, .file = id_of("a"), .dest_path = "b"});
  done({.kind = update, .file = id_of("b"), .content = "3"});
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+theirs"));
  EXPECT_EQ(git("show HEAD:b"), "3");
}

// An editor that saves at some moment of an update, and we replace that once more: all it saved is in the
// history.
TEST_F(NotebookBesideGitTest, NoSaveOfAnEditorIsLostWhileWeReplaceTheFile) {
  make("a", "0");
  const std::int64_t id = id_of("a");
  const ChangeRequest ours{.kind = update, .file = id, .content = "ours"};
  constexpr int kSaves = 40;
  for (int i = 1; i <= kSaves; ++i) {
    put(".x", "save-" + std::to_string(i) + "\n");
    auto racing = ask(ours).get();
    ASSERT_TRUE(racing);
    const SteadyTime asked = steady_now();
    while (steady_now() - asked < i * std::chrono::microseconds(500)) std::this_thread::yield();
    fs::rename(root_ + "/.x", root_ + "/a");
    EXPECT_EQ(end_of(racing->event.id).status, Status::completed);
    EXPECT_EQ(done(ours).status, Status::completed);
    EXPECT_EQ(get("a"), "ours");
  }
  commit();
  const std::string history = git("log -p --format= -- a");
  for (int i = 1; i <= kSaves; ++i) {
    EXPECT_THAT(history, HasSubstr("+save-" + std::to_string(i) + "\n"));
  }
}

TEST_F(NotebookTest, ANotebookWhoseFolderComesBackAfterTheStartIsOpened) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  stop();
  fs::rename(root_, root_ + ".away");
  start();
  EXPECT_EQ(notebook_, nullptr);
  EXPECT_THAT(notebooks_->add("n", directory_.file(""), {}).error().message, HasSubstr("not there"));
  fs::rename(root_ + ".away", root_);
  wait_until([&] { return notebooks_->find("n") != nullptr; }, "it is opened");
  notebook_ = notebooks_->find("n");
  EXPECT_EQ(id_of("a"), id);
}

TEST_F(NotebookTest, ANameThatIsTakenIsRefusedBeforeARepositoryIsMade) {
  fs::create_directory(directory_.file("other"));
  EXPECT_EQ(notebooks_->add("n", directory_.file("other"), {}).error().field, "name");
  EXPECT_TRUE(fs::is_empty(directory_.file("other")));
}

TEST_F(NotebookTest, AFolderThatIsNotAllowedIsRefused) {
  EXPECT_FALSE(notebooks_->is_allowed("/"));
  EXPECT_FALSE(notebooks_->add("other", "/", {}).has_value());
  fs::create_directory(root_ + "/inner");
  EXPECT_EQ(notebooks_->add("inner", root_ + "/inner", {}).error().code, ErrorCode::conflict);
}

}  // namespace
}  // namespace eventq::notebook
