// sqlite_store_test.cc: guarantees of the SQLite store only: settings, one process per file, which files it
// refuses, and that a reopened store has the same data.
#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "store/conformance/store_conformance.h"
#include "store/sqlite/writer.h"
#include "support/describe.h"
#include "support/faulty_vfs.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq::sqlite {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string bytes_of(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

class SqliteStoreTest : public testing::Test {
 protected:
  void open() { store_ = must(open_store(path_, clock_)); }
  void close() { store_.reset(); }

  // The error of an open that must fail, as "code message".
  std::string refusal(const std::string& path) {
    auto opened = open_store(path, clock_);
    return opened ? "opened" : describe(opened.error().code) + " " + opened.error().message;
  }

  EventId add(const std::string& event_id) {
    Stored stored = new_event(event_id, clock_.now());
    const auto transaction = must(store_->begin());
    must(transaction->insert({&stored, 1}));
    must(transaction->commit());
    return stored.event.id;
  }

  void change(EventId id, const std::function<void(Event&)>& edit) {
    const auto transaction = must(store_->begin());
    Stored stored = must(transaction->load({{id}}, Transaction::EventFields::state)).at(0).value();
    edit(stored.event);
    must(transaction->save({&stored, 1}));
    must(transaction->commit());
  }

  // Adds events of a million bytes each.
  void add_megabytes(int count) {
    std::vector<Stored> events;
    for (int i = 0; i < count; ++i) {
      events.push_back(new_event("large" + std::to_string(i), clock_.now()));
      events.back().event.payload = std::string(1'000'000, 'x');
    }
    const auto transaction = must(store_->begin());
    must(transaction->insert(events));
    must(transaction->commit());
  }

  LogId append(EventId id) {
    LogEntry entry = new_entry(id, Action::picked);
    const auto transaction = must(store_->begin());
    must(transaction->append({&entry, 1}));
    must(transaction->commit());
    return entry.log_id;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("store.db");
  ManualClock clock_{TimePoint(1'700'000'000s)};
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteStoreTest, TheFileHasAWriteAheadLog) {
  open();

  EXPECT_THAT(query(path_, "PRAGMA journal_mode"), ElementsAre("wal"));
}

TEST_F(SqliteStoreTest, TheWriterSyncsFullyAndNeverCheckpointsInsideACommit) {
  const auto writer = must(SqliteWriter::open(path_));
  const auto setting = [&](const std::string& name) {
    Statement statement = must(Statement::prepare(writer->connection, "PRAGMA " + name));
    EXPECT_TRUE(must(statement.step()));
    return statement.integer(0);
  };

  EXPECT_EQ(setting("synchronous"), 2);
  EXPECT_EQ(setting("wal_autocheckpoint"), 0);
  EXPECT_EQ(setting("page_size"), 4096);
}

TEST_F(SqliteStoreTest, EveryCommitSyncsBeforeItReturns) {
  const FaultyVfs disk;
  open();
  for (const char* name : {"a", "b", "c"}) {
    const int before = disk.syncs();
    add(name);
    EXPECT_GT(disk.syncs(), before) << name;
  }
  close();
}

TEST_F(SqliteStoreTest, ReopeningKeepsEverything) {
  open();
  const EventId live = add("live");
  const EventId held = add("held");
  const EventId ended = add("ended");
  change(held, [&](Event& event) { hold(event, "w:1", clock_.now() + 60s); });
  change(ended, [&](Event& event) { end(event, Status::completed, clock_.now()); });
  append(held);
  {
    const auto transaction = must(store_->begin());
    must(transaction->put_key({"key", "print", {live}, clock_.now()}));
    must(transaction->commit());
  }

  close();
  open();

  const auto reader = must(store_->reader());
  EXPECT_EQ(name_of(must(reader->get(live))->status), "PENDING");
  EXPECT_EQ(name_of(must(reader->get(held))->status), "PROCESSING");
  EXPECT_EQ(name_of(must(reader->get(ended))->status), "COMPLETED");
  EXPECT_EQ(actions_of(must(reader->log(held))), "PICKED");
  EXPECT_EQ(must(reader->list({})).total, 3);
  const auto transaction = must(store_->begin());
  EXPECT_EQ(must(transaction->find_key("key"))->fingerprint, "print");
  EXPECT_EQ(must(transaction->claim({"main", {"email"}}, 10)).size(), 1U);
  EXPECT_EQ(must(transaction->claim({"main", {}}, 10)).size(), 1U);
  EXPECT_EQ(must(transaction->next_due()), clock_.now() + 60s);
}

TEST_F(SqliteStoreTest, AClaimWithoutTagsFindsEventsPublishedBeforeAndAfterARestart) {
  open();
  must(must(store_->begin())->claim({"main", {}}, 1));
  {
    const auto transaction = must(store_->begin());
    must(transaction->claim({"main", {}}, 1));
    must(transaction->commit());
  }
  add("a");
  close();
  open();
  add("b");

  EXPECT_EQ(must(must(store_->begin())->claim({"main", {}}, 10)).size(), 2U);
  EXPECT_EQ(audit(path_), "");
}

TEST_F(SqliteStoreTest, AnIdIsNotReusedAfterARestart) {
  open();
  const EventId last = add("a");
  change(last, [&](Event& event) { end(event, Status::completed, clock_.now()); });
  const LogId entry = append(last);

  close();
  open();

  EXPECT_GT(add("b"), last);
  EXPECT_GT(append(last), entry);
}

TEST_F(SqliteStoreTest, ASecondOpenIsRefusedAndNamesTheProcess) {
  open();

  EXPECT_EQ(refusal(path_),
            "unavailable " + path_ + " is in use by process " + std::to_string(getpid()) +
                ". Only one process may open a store; stop that one, or send it requests over HTTP.");
}

TEST_F(SqliteStoreTest, ASecondOpenThroughASymbolicLinkIsRefused) {
  open();
  const std::string link = directory_.file("link.db");
  std::filesystem::create_symlink(path_, link);

  EXPECT_THAT(refusal(link), HasSubstr("is in use by process"));
}

TEST_F(SqliteStoreTest, ASecondOpenThroughAHardLinkIsRefused) {
  open();
  const std::string link = directory_.file("link.db");
  std::filesystem::create_hard_link(path_, link);

  EXPECT_THAT(refusal(link), HasSubstr("is in use by another process, under another name"));
}

TEST_F(SqliteStoreTest, TheLockFilesDoNotUseTheDescriptorOfAClosedStandardInput) {
  close();
  const int kept = dup(STDIN_FILENO);
  ::close(STDIN_FILENO);
  open();
  std::error_code closed;  // set when descriptor 0 is closed, which is also correct
  const std::string there = std::filesystem::read_symlink("/proc/self/fd/0", closed).string();
  dup2(kept, STDIN_FILENO);
  ::close(kept);
  EXPECT_THAT(there, AnyOf("", "/dev/null"))
      << "what is printed to a closed stream would be written into the store";
}

TEST_F(SqliteStoreTest, ASecondOpenIsRefusedAlsoWhenTheLockFileWasRemoved) {
  open();
  std::filesystem::remove(path_ + ".lock");

  EXPECT_THAT(refusal(path_), HasSubstr("is in use by another process"));
}

TEST_F(SqliteStoreTest, AStoreThatWasClosedCanBeOpenedAgain) {
  open();
  close();

  EXPECT_EQ(refusal(path_), "opened");
}

TEST_F(SqliteStoreTest, AStoreThatFailedToOpenIsNotLeftLocked) {
  std::ofstream(path_) << std::string(5000, 'x');
  EXPECT_THAT(refusal(path_), HasSubstr("corrupt"));
  std::filesystem::remove(path_);

  EXPECT_EQ(refusal(path_), "opened");
}

TEST_F(SqliteStoreTest, AnOpenIsRefusedWhileTheLockIsHeldAndNamesTheHolder) {
  std::ofstream(path_ + ".lock") << "4242";
  const int elsewhere = ::open((path_ + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(elsewhere, LOCK_EX), 0);

  const std::string refused = refusal(path_);
  ::close(elsewhere);

  EXPECT_THAT(refused, HasSubstr("unavailable " + path_ + " is in use by process 4242."));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqliteStoreTest, AFileOfANewerEventqIsRefused) {
  open();
  add("a");
  close();
  query(path_, "PRAGMA user_version = 99");

  EXPECT_EQ(refusal(path_),
            "corrupt " + path_ +
                ": The store has schema 99, this eventq knows up to 6. Use the newer eventq that wrote it.");
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsRefusedAndLeftAsItIs) {
  const char* const foreign[] = {
      "CREATE TABLE theirs (x)",
      "PRAGMA application_id = 42",
      "PRAGMA application_id = 42; CREATE TABLE event_queue (id)",
  };
  for (const char* sql : foreign) {
    const std::string path = directory_.file("foreign.db");
    std::ofstream(path).close();
    query(path, sql);
    const std::string before = bytes_of(path);

    EXPECT_EQ(refusal(path), "corrupt " + path +
                                 ": The file is a SQLite database, but not one of eventq. Name another file.")
        << sql;

    EXPECT_EQ(bytes_of(path), before) << sql;
    std::filesystem::remove(path);
  }
}

TEST_F(SqliteStoreTest, AFileThatIsNoDatabaseIsRefusedAndLeftAsItIs) {
  const std::string text(5000, 'x');
  std::ofstream(path_) << text;

  EXPECT_EQ(refusal(path_),
            "corrupt " + path_ +
                ": The file is not a SQLite database, or its first page is damaged. Name another file, or "
                "restore the store from a backup.");

  EXPECT_EQ(bytes_of(path_), text);
}

TEST_F(SqliteStoreTest, AnEmptyFileBecomesAStore) {
  std::ofstream(path_).close();

  EXPECT_EQ(refusal(path_), "opened");
}

TEST_F(SqliteStoreTest, AFolderIsRefusedByName) {
  const std::string folder = directory_.file("folder");
  std::filesystem::create_directory(folder);

  EXPECT_THAT(refusal(folder), HasSubstr("unavailable Cannot open " + folder + ": Is a directory"));
}

TEST_F(SqliteStoreTest, AFileInAFolderThatIsNotThereIsRefusedByName) {
  const std::string path = directory_.file("missing/store.db");

  EXPECT_EQ(refusal(path), "unavailable Cannot open " + path + ": the folder " + directory_.file("missing") +
                               " does not exist. Create it, or name another file.");
}

TEST_F(SqliteStoreTest, AFileThatCannotBeOpenedIsNamedWithTheCause) {
  const std::string path = directory_.file("missing/store.db");

  const auto opened = SqliteConnection::open(path, SqliteConnection::OpenMode::write);

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
  EXPECT_EQ(opened.error().message, "Cannot open " + path + ": No such file or directory.");
}

TEST_F(SqliteStoreTest, TheNextOpenCompletesAFileThatACrashLeftWithoutItsSchema) {
  std::ofstream(path_).close();
  query(path_, "PRAGMA application_id = 1165381920");

  open();

  add("a");
  EXPECT_EQ(audit(path_), "");
}

TEST_F(SqliteStoreTest, AReaderSeesNothingOfAnOpenTransaction) {
  open();
  const EventId id = add("a");
  const auto reader = must(store_->reader());
  const auto transaction = must(store_->begin());
  Stored stored = must(transaction->load({{id}}, Transaction::EventFields::state)).at(0).value();
  end(stored.event, Status::completed, clock_.now());
  must(transaction->save({&stored, 1}));

  EXPECT_EQ(name_of(must(reader->get(id))->status), "PENDING");
  EXPECT_EQ(must(reader->list({.status = Status::completed})).total, 0);

  must(transaction->commit());

  EXPECT_EQ(name_of(must(reader->get(id))->status), "COMPLETED");
  EXPECT_EQ(must(reader->list({.status = Status::completed})).total, 1);
}

TEST_F(SqliteStoreTest, TidyCopiesALongLogIntoTheFile) {
  open();
  add_megabytes(20);
  EXPECT_LT(std::filesystem::file_size(path_), 1'000'000U);

  must(store_->tidy());

  EXPECT_GT(std::filesystem::file_size(path_), 20'000'000U);
  add("after");
  EXPECT_EQ(audit(path_), "");
}

TEST_F(SqliteStoreTest, TidyEmptiesAVeryLongLog) {
  open();
  add_megabytes(52);
  EXPECT_GT(std::filesystem::file_size(path_ + "-wal"), 52'000'000U);

  must(store_->tidy());

  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), 0U);
}

TEST_F(SqliteStoreTest, TidyLeavesAShortLogAlone) {
  open();
  add("a");
  const auto before = std::filesystem::file_size(path_);

  must(store_->tidy());

  EXPECT_EQ(std::filesystem::file_size(path_), before);
}

TEST_F(SqliteStoreTest, RowsThatNoVersionWritesReturnCorrupt) {
  open();
  const EventId event = add("a");
  append(event);
  query(path_, "PRAGMA ignore_check_constraints = ON; UPDATE event_queue SET status = 'ODD'");
  query(path_, "UPDATE event_log SET action = 'ODD'");
  query(path_, "INSERT INTO idempotency_key VALUES ('key', 'print', '1,x', 0)");
  const auto reader = must(store_->reader());
  const auto code = [](const auto& result) { return result ? "no error" : describe(result.error().code); };

  EXPECT_EQ(code(reader->get(event)), "corrupt");
  EXPECT_EQ(code(reader->list({})), "corrupt");
  EXPECT_EQ(code(reader->log(event)), "corrupt");
  const auto transaction = must(store_->begin());
  EXPECT_EQ(code(transaction->load({{event}}, Transaction::EventFields::state)), "corrupt");
  EXPECT_EQ(code(transaction->log(event)), "corrupt");
  EXPECT_EQ(code(transaction->find_key("key")), "corrupt");
}

TEST_F(SqliteStoreTest, ATotalWithoutACounterIsCountedUpToTenThousand) {
  open();
  std::vector<Stored> events;
  for (int i = 0; i < 10'001; ++i) events.push_back(new_event("e" + std::to_string(i), clock_.now()));
  {
    const auto transaction = must(store_->begin());
    must(transaction->insert(events));
    must(transaction->commit());
  }
  const auto reader = must(store_->reader());

  const EventPage counted = must(reader->list({.tags = {"email"}, .limit = 1}));
  const EventPage kept = must(reader->list({.limit = 1}));

  EXPECT_EQ(counted.total, 10'000);
  EXPECT_FALSE(counted.total_exact);
  EXPECT_EQ(kept.total, 10'001);
  EXPECT_TRUE(kept.total_exact);
}

}  // namespace
}  // namespace eventq::sqlite
