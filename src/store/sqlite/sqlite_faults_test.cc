// sqlite_faults_test.cc: a full disk, a failed sync or a power failure at any moment loses no acknowledged
// transaction and splits none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>

#include "store/conformance/store_conformance.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/describe.h"
#include "support/faulty_vfs.h"
#include "support/power_loss.h"
#include "support/rounds.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq::sqlite {
namespace {

using namespace std::chrono_literals;

const ManualClock kClock{TimePoint(1'700'000'000s)};

// The steps of the script. Each runs in its own transaction.

Result<void> publish(Transaction& transaction, int n) {
  std::vector<Stored> events;
  for (const char* suffix : {"a", "b", "c"}) {
    events.push_back(new_event("e" + std::to_string(n) + suffix, transaction.now()));
    events.back().event.payload = std::string(static_cast<std::size_t>(n) * 97 % 6000, 'x');
  }
  events.back().event.due_at += 1s;
  if (auto done = transaction.insert(events); !done) return done;
  return transaction.put_key({"k" + std::to_string(n % 7), "print", {events[0].event.id}, transaction.now()});
}

Result<void> claim(Transaction& transaction, std::size_t limit) {
  auto claimed = transaction.claim({"main", {"email"}}, limit);
  if (!claimed) return claimed.error();
  std::vector<LogEntry> entries;
  for (Stored& stored : *claimed) {
    hold(stored.event, "w:1", transaction.now() + 60s);
    entries.push_back(new_entry(stored.event.id, Action::picked));
  }
  if (auto done = transaction.save(*claimed); !done) return done;
  return transaction.append(entries);
}

// Completes, fails or requeues the held events, by their id.
Result<void> finish(Transaction& transaction, int n) {
  for (std::int64_t id = 1; id < n * 2; ++id) {
    auto loaded = transaction.load({{EventId{id}}}, Transaction::EventFields::state);
    if (!loaded) return loaded.error();
    std::optional<Stored>& stored = loaded->at(0);
    if (!stored || stored->event.status != Status::processing) continue;
    if (id % 3 == 0) requeue(stored->event, transaction.now());
    if (id % 3 != 0) end(stored->event, id % 3 == 1 ? Status::completed : Status::failed, transaction.now());
    if (auto done = transaction.save({&*stored, 1}); !done) return done;
    LogEntry entry = new_entry(EventId{id}, Action::completed);
    if (auto done = transaction.append({&entry, 1}); !done) return done;
  }
  return {};
}

constexpr int kScript = 30;  // transactions

// The n-th transaction of the script, up to its commit.
Result<void> write(Transaction& transaction, int n) {
  switch (n % 4) {
    case 1: return claim(transaction, 3);
    case 2: return finish(transaction, n);
    default: return publish(transaction, n);
  }
}

Result<void> run(Store& store, int n) {
  auto transaction = store.begin(kClock.now() + std::chrono::seconds(n));
  if (!transaction) return transaction.error();
  if (auto done = write(**transaction, n); !done) return done;
  return (*transaction)->commit();
}

// The same without a commit, which only skips ids. The model needs the same gap as the store.
void run_in_vain(Store& store, int n) {
  must(write(*must(store.begin(kClock.now() + std::chrono::seconds(n))), n));
}

// The events, logs, totals and keys of a store as text.
std::string dump(Store& store) {
  const auto reader = must(store.reader());
  std::string text;
  for (const Event& event : must(reader->list({.limit = 1000})).events) {
    text += describe(*must(reader->get(event.id))) + "\n";
    for (const LogEntry& entry : must(reader->log(event.id))) text += describe(entry) + "\n";
  }
  for (const Status status : {Status::pending, Status::processing, Status::completed, Status::failed}) {
    text += std::to_string(must(reader->list({.status = status, .limit = 0})).total) + " ";
  }
  const auto transaction = must(store.begin());
  for (int i = 0; i < 7; ++i) {
    const auto key = must(transaction->find_key("k" + std::to_string(i)));
    text += key ? describe(key->created_at) + " " : "no key ";
  }
  return text;
}

class SqliteFaultsTest : public testing::Test {
 protected:
  void open() { store_ = must(open_store(path_, kClock)); }
  void close() { store_.reset(); }
  void reopen() {
    close();
    open();
  }

  std::string outcome(int n) {
    const auto done = run(*store_, n);
    return done ? "ok" : describe(done.error().code);
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("store.db");
  FaultyVfs disk_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteFaultsTest, AFullDiskReturnsNoSpaceAndLeavesNoPartOfTheTransaction) {
  open();
  EXPECT_EQ(outcome(0), "ok");
  const std::string before = dump(*store_);
  disk_.fill_disk(true);

  EXPECT_EQ(outcome(1), "no_space");
  EXPECT_EQ(outcome(3), "no_space");

  EXPECT_EQ(dump(*store_), before);
}

TEST_F(SqliteFaultsTest, TheStoreCommitsAgainOnceTheDiskHasSpace) {
  open();
  disk_.fill_disk(true);
  EXPECT_EQ(outcome(0), "no_space");

  disk_.fill_disk(false);

  EXPECT_EQ(outcome(0), "ok");
  close();
  EXPECT_EQ(audit(path_), "");
}

TEST_F(SqliteFaultsTest, AStoreClosedOnAFullDiskLosesNothing) {
  open();
  EXPECT_EQ(outcome(0), "ok");
  EXPECT_EQ(outcome(1), "ok");
  const std::string before = dump(*store_);
  disk_.fill_disk(true);
  close();
  disk_.fill_disk(false);

  open();

  EXPECT_EQ(dump(*store_), before);
}

TEST_F(SqliteFaultsTest, AStoreThatAFullDiskPreventedCanBeCreatedLater) {
  disk_.skip_syncs();
  int fault = 1;
  for (bool opened = false; !opened; ++fault) {
    const std::string path = directory_.file("new" + std::to_string(fault) + ".db");
    disk_.fill_disk_at_write(fault);
    const auto tried = open_store(path, kClock);
    opened = tried.has_value();
    if (opened) continue;
    EXPECT_EQ(describe(tried.error().code), "no_space") << "write " << fault;

    const auto again = open_store(path, kClock);

    ASSERT_TRUE(again) << "write " << fault << ": " << again.error().message;
    must(run(**again, 0));
    EXPECT_EQ(audit(path), "") << "write " << fault;
  }
  EXPECT_GT(fault, 20);
}

TEST_F(SqliteFaultsTest, AFullDiskAtAnyWriteLosesNoAcknowledgedTransactionAndAddsNoOther) {
  disk_.skip_syncs();
  open();
  close();
  int fault = 1;
  for (bool reached = true; reached; fault += rounds(1, 4)) {
    SCOPED_TRACE("write " + std::to_string(fault));
    const std::string path = directory_.file("full.db");
    std::filesystem::copy_file(path_, path);
    const auto model = memory::open_store(kClock);
    auto store = must(open_store(path, kClock));
    const int before = disk_.writes();
    disk_.fill_disk_at_write(fault);
    for (int n = 0; n < kScript; ++n) {
      const auto done = run(*store, n);
      ASSERT_THAT(done ? "ok" : describe(done.error().code), testing::AnyOf("ok", "no_space"));
      done ? must(run(*model, n)) : run_in_vain(*model, n);
    }
    store.reset();  // the destructor also writes
    reached = disk_.writes() >= before + fault;

    store = must(open_store(path, kClock));

    ASSERT_EQ(dump(*store), dump(*model));
    ASSERT_EQ(audit(path), "");
    store.reset();
    std::filesystem::remove(path);
  }
  EXPECT_GT(fault, 300);
}

TEST_F(SqliteFaultsTest, AFailedSyncReturnsUnknownOutcomeAndEndsAcknowledgements) {
  open();
  EXPECT_EQ(outcome(0), "ok");
  disk_.fail_next_sync(EIO);

  EXPECT_EQ(outcome(1), "unknown_outcome");

  EXPECT_EQ(outcome(1), "unavailable");
  EXPECT_EQ(outcome(2), "unavailable");
}

TEST_F(SqliteFaultsTest, AStoreReopenedAfterAFailedSyncIsWholeAndWorks) {
  const auto model = memory::open_store(kClock);
  must(run(*model, 0));
  const std::string without = dump(*model);
  must(run(*model, 3));
  const std::string with = dump(*model);
  open();
  EXPECT_EQ(outcome(0), "ok");
  disk_.fail_next_sync(EIO);
  EXPECT_EQ(outcome(3), "unknown_outcome");

  reopen();

  EXPECT_THAT(dump(*store_), testing::AnyOf(without, with));
  EXPECT_EQ(outcome(4), "ok");
  EXPECT_EQ(audit(path_), "");
}

TEST_F(SqliteFaultsTest, ASyncThatFailsOnAFullDiskReturnsUnknownOutcome) {
  open();
  disk_.fail_next_sync(ENOSPC);

  EXPECT_EQ(outcome(0), "unknown_outcome");
  EXPECT_EQ(outcome(0), "unavailable");
}

TEST_F(SqliteFaultsTest, AFailedSyncBeforeTheCommitEndsAcknowledgements) {
  open();
  reopen();  // starts with an empty log
  disk_.fail_next_sync(EIO);
  {
    // The data exceeds SQLite's cache, so SQLite writes and syncs the start of its log before the commit.
    const auto transaction = must(store_->begin());
    std::vector<Stored> events;
    for (int i = 0; i < 80; ++i) {
      events.push_back(new_event("e" + std::to_string(i), kClock.now()));
      events.back().event.payload = std::string(1'000'000, 'x');
    }
    ASSERT_FALSE(transaction->insert(events));
  }

  EXPECT_EQ(outcome(0), "unavailable");
}

TEST_F(SqliteFaultsTest, AFailedSyncInACheckpointEndsAcknowledgements) {
  open();
  {
    const auto transaction = must(store_->begin());
    std::vector<Stored> events;
    for (int i = 0; i < 17; ++i) {
      events.push_back(new_event("e" + std::to_string(i), kClock.now()));
      events.back().event.payload = std::string(1'000'000, 'x');
    }
    must(transaction->insert(events));
    must(transaction->commit());
  }
  disk_.fail_next_sync(EIO);

  EXPECT_FALSE(store_->tidy());

  EXPECT_EQ(outcome(0), "unavailable");
}

// Runs transactions on a store and on the model. Then checks what a power failure at any moment would leave
// of the store.
class SqlitePowerLossTest : public SqliteFaultsTest {
 protected:
  SqlitePowerLossTest() {
    disk_.skip_syncs();
    disk_.start_recording();
    acknowledge();
    open();
  }

  void play(int transactions) {
    for (; transactions > 0; --transactions) {
      play_one();
      acknowledge();
    }
  }

  // Plays transactions that no tested power failure comes before. Their dumps are not kept, because each is
  // as large as the whole store; only their number counts.
  void play_at_once(int transactions) {
    for (int i = 0; i < transactions; ++i) play_one();
    states_.resize(static_cast<std::size_t>(played_));
    acknowledged_at_.resize(states_.size(), disk_.recorded());
    acknowledge();
  }

  void play_one() {
    must(run(*store_, played_));
    must(run(*model_, played_));
    ++played_;
  }

  // The last transaction returned without an error: a later power failure must not lose it.
  void acknowledge() {
    states_.push_back(dump(*model_));
    acknowledged_at_.push_back(disk_.recorded());
  }

  // The number of transactions that a power failure left, or a description of the fault.
  std::string left_by(const Disk& disk, std::mt19937_64& random) const {
    const TemporaryDirectory directory;
    disk.write_after_power_loss(directory.file(""), random);
    const std::string path = directory.file("store.db");
    const auto opened = open_store(path, kClock);
    if (!opened) return "not opened: " + opened.error().message;
    if (std::string faults = audit(path); !faults.empty()) return faults;
    const auto found = std::find(states_.begin(), states_.end(), dump(**opened));
    return found == states_.end() ? "no state there ever was" : std::to_string(found - states_.begin());
  }

  // How many transactions were acknowledged after this many file operations.
  std::size_t acknowledged_after(std::size_t operations) const {
    const auto later = std::upper_bound(acknowledged_at_.begin(), acknowledged_at_.end(), operations);
    return static_cast<std::size_t>(later - acknowledged_at_.begin()) - 1;
  }

  // Simulates `outcomes` power failures just before and just after each sync, starting at operation `first`.
  // Returns the number of power failures.
  int fail_at_each_sync(std::size_t first, int outcomes) {
    constexpr std::uint64_t kSeed = 20'260'102;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    std::mt19937_64 random(kSeed);
    Disk disk;
    int failures = 0;
    const auto fail = [&](std::size_t done) {
      const std::size_t known = acknowledged_after(done);
      for (int n = 0; n < outcomes; ++n, ++failures) {
        // The transaction that was committing may or may not be there.
        EXPECT_THAT(left_by(disk, random), testing::AnyOf(std::to_string(known), std::to_string(known + 1)))
            << "after " << done << " operations, outcome " << n;
      }
    };
    close();
    const std::vector<FileOperation> operations = disk_.stop_recording();
    for (std::size_t i = 0; i < operations.size() && !HasFailure(); ++i) {
      const bool wanted = i >= first && operations[i].kind == FileOperation::Kind::sync;
      if (wanted) fail(i);
      disk.apply(operations[i]);
      if (wanted) fail(i + 1);
    }
    return failures;
  }

  const std::unique_ptr<Store> model_ = memory::open_store(kClock);
  int played_ = 0;
  std::vector<std::string> states_;           // dumps of the model, by number of transactions
  std::vector<std::size_t> acknowledged_at_;  // file operations recorded at each acknowledgement
};

TEST_F(SqlitePowerLossTest, APowerFailureKeepsAcknowledgedTransactionsAndSplitsNone) {
  // Reopens twice, so that the log is created, checkpointed and removed between transactions.
  play(10);
  reopen();
  play(10);
  reopen();
  play(10);

  constexpr int kOutcomes = rounds(8, 2);
  EXPECT_GE(fail_at_each_sync(0, kOutcomes), 69 * kOutcomes);
}

TEST_F(SqlitePowerLossTest, APowerFailureDuringACheckpointLosesNothingAcknowledged) {
  play_at_once(600);
  const std::size_t before = disk_.recorded();
  must(store_->tidy());
  ASSERT_GT(disk_.recorded(), before) << "the log is too short for a checkpoint";
  play(4);

  constexpr int kOutcomes = rounds(4, 1);
  EXPECT_GE(fail_at_each_sync(before, kOutcomes), 11 * kOutcomes);
}

TEST_F(SqlitePowerLossTest, ThePowerFailureTestDetectsADiskThatNeverSyncs) {
  play(10);
  close();
  std::mt19937_64 random(1);
  Disk disk;
  for (const FileOperation& operation : disk_.stop_recording()) {
    if (operation.kind != FileOperation::Kind::sync) disk.apply(operation);
  }

  EXPECT_NE(left_by(disk, random), "10");
}

}  // namespace
}  // namespace eventq::sqlite
