// notebook_test.cc: tests a notebook with a real queue, folder and repository.
#include "notebook/notebook.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <stop_token>
#include <thread>

#include "support/manual_clock.h"
#include "support/notebook_fixture.h"

namespace eventq::notebook {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using enum OperationKind;

TEST_F(NotebookTest, AChangeIsAnsweredWithItsEventAndThenApplied) {
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

TEST_F(NotebookTest, AnEventWithABadPathFailsAtOnceWithAReason) {
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

TEST_F(NotebookTest, PendingOperationsAreCombinedAndTheSupersededEventsAreLinked) {
  make("a", "1");
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

TEST_F(NotebookTest, AFileHasItsIdBeforeItIsCreatedAndCanBeChangedByIt) {
  pause(QueueStatus::paused);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  ASSERT_TRUE(created);
  const std::int64_t id = created->file_id;
  EXPECT_GT(id, 0);
  const auto updated = ask({.kind = update, .file = id, .content = "2"}).get();
  const auto moved = ask({.kind = move, .file = id, .dest_path = "b"}).get();
  ASSERT_TRUE(updated && moved);
  EXPECT_EQ(updated->file_id, id);
  EXPECT_EQ(moved->file_id, id);
  EXPECT_EQ(now_of(updated->event.id).superseded_by, moved->event.id);

  pause(QueueStatus::active);
  EXPECT_EQ(end_of(moved->event.id).status, Status::completed);
  EXPECT_EQ(get("b"), "2");
  EXPECT_EQ(id_of("b"), id);
}

TEST_F(NotebookTest, APromisedIdSurvivesARestart) {
  pause(QueueStatus::paused);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  stop();
  start();
  const auto other = ask({.kind = create, .path = "b", .content = "2"}).get();
  const auto updated = ask({.kind = update, .file = created->file_id, .content = "3"}).get();
  ASSERT_TRUE(other && updated);
  EXPECT_NE(other->file_id, created->file_id);
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(updated->event.id).status, Status::completed);
  EXPECT_EQ(id_of("a"), created->file_id);
  EXPECT_EQ(get("a"), "3");
  EXPECT_EQ(id_of("b"), other->file_id);
}

TEST_F(NotebookTest, NoOtherFileGetsTheIdOfACreateThatFailed) {
  pause(QueueStatus::paused);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  put("a", "obstacle");
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(created->event.id).status, Status::failed);
  stop();
  start();
  make("b", "2");
  ASSERT_TRUE(notebook_->rescan());
  wait_until([&] { return notebook_->file_at("a").has_value(); }, "the other program's file is recorded");
  EXPECT_NE(id_of("a"), created->file_id);
  EXPECT_NE(id_of("b"), created->file_id);
  EXPECT_FALSE(notebook_->file(created->file_id));
}

TEST_F(NotebookTest, AnEventWithTheIdOfAnotherFileGetsANewOne) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  NewEvent event;
  event.title = "by hand";
  event.tags = {"file"};
  event.queue = "notebook:n";
  event.pattern = "file.create";
  event.payload = R"({"path":"b","content":"2"})";
  event.source = {"file", std::to_string(id), ""};
  const Answer answer = engine_->call({.publication = Publication{.events = {event}}});
  ASSERT_TRUE(*answer.published);
  EXPECT_EQ(end_of((*answer.published)->events.front().id).status, Status::completed);
  EXPECT_EQ(id_of("a"), id);
  EXPECT_NE(id_of("b"), id);
  EXPECT_EQ(get("a"), "1");
}

TEST_F(NotebookTest, AnEventThatAnotherWorkerHasClaimedIsTakenBackAndApplied) {
  OneAnswer foreign;
  ClaimRequest claim{.selector = {"notebook:n", {}}, .worker_id = "foreign", .limit = 1, .wait = kLongTime};
  // A waiting claim gets the event in the commit that publishes it, before the notebook's worker asks.
  engine_->submit({.claim = claim}, foreign, 0);
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  ASSERT_TRUE(created);
  EXPECT_EQ(foreign.wait().claims.size(), 1U);

  EXPECT_EQ(end_of(created->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "1");
}

TEST_F(NotebookTest, AStatusSaysWhyChangesWait) {
  pause(QueueStatus::paused);
  EXPECT_EQ(notebook_->status()->worker.worker_trouble, "") << "nothing waits";
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  EXPECT_THAT(notebook_->status()->worker.worker_trouble,
              testing::HasSubstr("eventq queue resume notebook:n"));
  pause(QueueStatus::active);
  end_of(created->event.id);
  wait_until([&] { return notebook_->status()->worker.worker_trouble.empty(); }, "the trouble is over");
}

TEST_F(NotebookTest, AnEventThatIsRetriedAfterARestartIsShownAsTrouble) {
  fs::remove_all(root_ + "/.eventq");
  std::ofstream(root_ + "/.eventq") << "obstacle";
  const auto created = ask({.kind = create, .path = "a", .content = "1"}).get();
  wait_until([&] { return now_of(created->event.id).retry_count > 0; }, "the first try fails");
  EXPECT_NE(notebook_->status()->worker.worker_trouble, "");
  pause(QueueStatus::paused);
  fs::remove(root_ + "/.eventq");
  stop();
  start();
  EXPECT_THAT(notebook_->status()->worker.worker_trouble, testing::HasSubstr("retried"));
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(created->event.id).status, Status::completed);
}

TEST_F(NotebookTest, NamesThatOtherSystemsCannotHoldAreRefusedInRequestsOnly) {
  make("Notes/A.md", "1");
  const auto refused = [&](const std::string& path) {
    const auto accepted = ask({.kind = create, .path = path, .content = ""}).get();
    return accepted ? ErrorCode::internal : accepted.error().code;
  };
  for (const char* path : {"foo.", "foo ", "a:b.md", ":(top)x.md"}) {
    EXPECT_EQ(refused(path), ErrorCode::invalid_argument) << path;
  }
  for (const char* path : {"Notes/a.md", "notes/b.md", "NOTES"}) {
    EXPECT_EQ(refused(path), ErrorCode::conflict) << path;
  }
  make("ÄRGER.md", "1");
  EXPECT_EQ(refused("ärger.md"), ErrorCode::conflict);
  const Event renamed = done({.kind = move, .file = id_of("Notes/A.md"), .dest_path = "Notes/a.md"});
  EXPECT_EQ(renamed.status, Status::completed) << "a move may change the case of its own name";

  pause(QueueStatus::paused);
  ASSERT_TRUE(ask({.kind = create, .path = "Later/x", .content = ""}).get());
  EXPECT_EQ(refused("later/y"), ErrorCode::conflict) << "a pending create counts";
  pause(QueueStatus::active);

  put("made outside:.md", "2");
  put(":(top)y.md", "3");
  ASSERT_TRUE(notebook_->rescan());
  wait_until([&] { return notebook_->file_at("made outside:.md") && notebook_->file_at(":(top)y.md"); },
             "files of other programs are recorded");
}

TEST_F(NotebookTest, WithoutPortableNamesEveryNameIsAPlainOne) {
  fs::create_directory(directory_.file("free"));
  NotebookSettings settings;
  settings.portable_names = false;
  ASSERT_TRUE(notebooks_->add("free", directory_.file("free"), settings));
  notebook_ = notebooks_->find("free");
  const std::vector<std::string> names = {":(top)x.md", "A.md", "a.md", "a:b.md", "foo ", "foo.", "x*"};
  for (const std::string& name : names) make(name, name);
  EXPECT_EQ(known(), names);
  done({.kind = remove, .file = id_of("x*")});
  commit();
  Process tree({{"/bin/sh", "-c", "git -c core.quotePath=false ls-tree --name-only HEAD"},
                {"HOME=" + directory_.file("")},
                directory_.file("free")});
  EXPECT_EQ(tree.wait(kLongTime), 0);
  EXPECT_EQ(tree.out(), ":(top)x.md\nA.md\na.md\na:b.md\nfoo \nfoo.\n");
  notebook_ = notebooks_->find("n");
}

TEST_F(NotebookTest, AFileThatIsOnlyTouchedWithoutPauseCanBeUpdated) {
  make("a", "1");
  commit();
  std::jthread toucher([&](const std::stop_token& stop) {
    for (std::int64_t tick = 1; !stop.stop_requested(); ++tick) {
      std::error_code gone;
      fs::last_write_time(root_ + "/a", fs::file_time_type(std::chrono::nanoseconds(tick)), gone);
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(done({.kind = update, .file = id_of("a"), .content = std::to_string(i)}).status,
              Status::completed);
  }
  toucher.request_stop();
  toucher.join();
  EXPECT_EQ(get("a"), "19");
}

TEST_F(NotebookTest, AFileThatIsWrittenWithoutPauseIsCommittedAllTheSame) {
  ManualClock clock(std::chrono::floor<Millis>(std::chrono::system_clock::now()));
  clock_ = &clock;
  stop();
  start();
  std::jthread writer([&](const std::stop_token& stop) {
    std::ofstream log(root_ + "/log");
    for (std::int64_t line = 0; !stop.stop_requested(); ++line) log << line << std::endl;
  });
  wait_until([&] { return notebook_->status()->waiting.paths > 0; }, "the file is noticed");
  clock.advance(std::chrono::seconds(20));
  commit();
  EXPECT_THAT(git("show HEAD:log"), testing::StartsWith("0\n1\n"));
  EXPECT_GT(notebook_->status()->waiting.paths, 0) << "it is compared again";
  writer.request_stop();
  writer.join();
  ASSERT_TRUE(notebook_->rescan());
  const std::string last = get("log");
  wait_until(
      [&] {
        commit();
        return git("show HEAD:log") == last;
      },
      "the last content is committed");
  stop();  // before the clock is destroyed
}

TEST_F(NotebookTest, PendingMovesInARowAreCombinedToOneMove) {
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

TEST_F(NotebookTest, AFolderMoveIncludesFilesThatPendingOperationsPutThere) {
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
  command.wait = WaitRequest{WaitRequest::Correlated{moved->correlation_id}, kLongTime};
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
  command.admin = CorrelationQuery{moved->correlation_id, EventId{}, 100};
  Command wait;
  wait.wait = WaitRequest{WaitRequest::Correlated{moved->correlation_id}, kLongTime};
  ASSERT_TRUE(engine_->call(std::move(wait)).waited);
  const Answer answer = engine_->call(std::move(command));
  const auto& correlation = *std::get<Result<Correlation>>(answer.admin);
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

TEST_F(NotebookTest, ATransientFailureIsRetriedBeforeLaterEventsRun) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  // A file in place of kOwnFolder makes every write fail.
  fs::remove_all(root_ + "/.eventq");
  std::ofstream(root_ + "/.eventq") << "in the way";
  const auto update = ask({.kind = OperationKind::update, .file = id, .content = "2"}).get();
  const auto behind = ask({.kind = move, .file = id, .dest_path = "b"}).get();
  wait_until([&] { return now_of(update->event.id).retry_count > 1; }, "the update fails");
  // The worker may have claimed the move with the update; it then releases it without a try.
  wait_until([&] { return now_of(behind->event.id).status == Status::pending; }, "the move is released");
  EXPECT_EQ(now_of(behind->event.id).retry_count, 0);
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "(absent)");
  fs::remove(root_ + "/.eventq");
  EXPECT_EQ(end_of(update->event.id).status, Status::completed);
  EXPECT_EQ(end_of(behind->event.id).status, Status::completed);
  EXPECT_EQ(get("b"), "2");
}

TEST_F(NotebookTest, ACommitContainsTheChangesPublishedBeforeItAndNamesTheirEvents) {
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

TEST_F(NotebookTest, AChangeByAnotherProgramIsRecordedAndCommitted) {
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

TEST_F(NotebookTest, TheWorkersOwnWritesCauseNoFurtherEvents) {
  for (int i = 0; i < 50; ++i) make("f" + std::to_string(i), "x");
  put("last", "outside");  // when this file has a row, the watcher has seen the earlier ones
  wait_until([&] { return notebook_->file_at("last").has_value(); }, "the outside file is known");
  Command command;
  command.admin = QueueQuery{"notebook:n", 0};
  const Answer answer = engine_->call(std::move(command));
  EXPECT_EQ((*std::get<Result<QueueDocument>>(answer.admin)).totals.published, 51);
}

TEST_F(NotebookTest, AnEditRightAfterAWriteOfTheWorkerIsDetected) {
  make("a", "ours");
  put("a", "theirs");
  wait_until([&] { return notebook_->file_at("a")->state.size == 6; }, "the edit is known");
  commit();
  EXPECT_EQ(git("show HEAD:a"), "theirs");
}

TEST_F(NotebookTest, ChangesMadeWhileTheServerWasStoppedAreFoundAtTheStart) {
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

TEST_F(NotebookTest, EventsPendingAtAStopAreAppliedAfterTheNextStart) {
  make("a", "1");
  pause(QueueStatus::paused);
  const auto update = ask({.kind = OperationKind::update, .file = id_of("a"), .content = "2"}).get();
  stop();
  start();
  // After the restart the publisher combines with the pending event again.
  const auto next = ask({.kind = OperationKind::update, .file = id_of("a"), .content = "3"}).get();
  EXPECT_EQ(now_of(update->event.id).superseded_by, next->event.id);
  pause(QueueStatus::active);
  EXPECT_EQ(end_of(next->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "3");
}

TEST_F(NotebookTest, AStopCommitsPendingChanges) {
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
      asked.push_back(ask({.kind = OperationKind::update, .file = row->id, .content = std::to_string(i)}));
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

  const auto rows = *notebook_->files(FileFilter::files, "", 1000);
  std::size_t on_disk = 0;
  for (const auto& entry : fs::directory_iterator(root_)) on_disk += entry.is_regular_file() ? 1U : 0U;
  EXPECT_EQ(rows.size(), on_disk);
  for (const FileRow& row : rows) EXPECT_EQ(row.hash, hash_of(get(row.path))) << row.path;
  EXPECT_EQ(git("status --porcelain"), "");
}

TEST_F(NotebookTest, EveryChangeIsInTheHistoryOnce) {
  make("a", "1");
  commit();
  done({.kind = OperationKind::update, .file = id_of("a"), .content = "2"});
  make("b", "3");
  commit();
  put("c", "outside");
  wait_until([&] { return notebook_->file_at("c").has_value(); }, "the outside file is known");
  commit();
  commit();
  EXPECT_EQ(git("log --reverse --name-status --format="), "A\ta\nM\ta\nA\tb\nA\tc\n");
}

TEST_F(NotebookTest, AnEditIsCommittedBeforeItIsReplacedOrDeleted) {
  make("a", "1");
  make("b", "1");
  commit();
  put("a", "hours of work");
  put("b", "hours of play");
  wait_until(
      [&] { return notebook_->file_at("b")->state.size == 13 && notebook_->file_at("a")->state.size == 13; },
      "the edits are known");
  done({.kind = OperationKind::update, .file = id_of("a"), .content = "2"});
  done({.kind = remove, .file = id_of("b")});
  commit();
  EXPECT_THAT(git("log -p --format="), AllOf(HasSubstr("+hours of work"), HasSubstr("+hours of play")));
  EXPECT_EQ(git("show HEAD:a"), "2");
}

TEST_F(NotebookTest, AnEditThatIsNotYetDetectedIsCommittedBeforeItIsReplaced) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  pause(QueueStatus::paused);
  const auto update = ask({.kind = OperationKind::update, .file = id, .content = "2"}).get();
  put("a", "hours of work");  // detected only after the update
  pause(QueueStatus::active);
  end_of(update->event.id);
  commit();
  EXPECT_THAT(git("log -p --format="), HasSubstr("+hours of work"));
  EXPECT_EQ(get("a"), "2");
}

TEST_F(NotebookTest, ACancelledEventIsNoLongerPending) {
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

TEST_F(NotebookTest, AReplacedFolderStopsTheWorkerUntilItIsBack) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  fs::rename(root_, root_ + ".away");
  fs::create_directory(root_);
  const auto update = ask({.kind = OperationKind::update, .file = id, .content = "2"}).get();
  wait_until([&] { return !notebook_->status()->worker.worker_trouble.empty(); },
             "the status shows the error");
  EXPECT_EQ(now_of(update->event.id).status, Status::pending);
  fs::remove_all(root_);
  fs::rename(root_ + ".away", root_);
  EXPECT_EQ(end_of(update->event.id).status, Status::completed);
  EXPECT_EQ(get("a"), "2");
}

TEST_F(NotebookTest, AnEmptyFolderInItsPlaceAtTheStartIsNotOpenedAndItsRowsStay) {
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

TEST_F(NotebookTest, AFolderIsLockedByOneServerAtATime) {
  NotebooksOptions options;
  options.state = directory_.file("another state");
  options.allow = {directory_.file("")};
  const auto other = Notebooks::open(*engine_, options);
  ASSERT_TRUE(other);
  const auto added = (*other)->add("other", root_, {});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::unavailable);
}

TEST_F(NotebookTest, AFileThatGitIgnoresIsRecordedAndNotCommitted) {
  make(".gitignore", "*.tmp\n");
  put("x.tmp", "ignored");
  wait_until([&] { return notebook_->file_at("x.tmp").has_value(); }, "the file is known");
  commit();
  EXPECT_EQ(git("ls-tree --name-only HEAD"), ".gitignore\n");
  EXPECT_EQ(notebook_->status()->waiting.paths, 0);
}

TEST_F(NotebookTest, ANotebookWhoseFolderComesBackAfterTheStartIsOpened) {
  make("a", "1");
  const std::int64_t id = id_of("a");
  stop();
  fs::rename(root_, root_ + ".away");
  start();
  EXPECT_EQ(notebook_, nullptr);
  EXPECT_THAT(notebooks_->add("n", directory_.file(""), {}).error().message,
              HasSubstr("its folder does not exist"));
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
