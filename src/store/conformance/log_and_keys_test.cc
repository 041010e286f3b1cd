// log_and_keys_test.cc: the log of an event, and idempotency keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/conformance/store_conformance.h"
#include "support/describe.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(StoreConformance, AppendGivesAscendingIdsAcrossTransactions) {
  const EventId id = add("a");
  std::vector<LogEntry> entries = {new_entry(id, Action::picked), new_entry(id, Action::started)};
  {
    const auto transaction = begin();
    must(transaction->append(entries));
    must(transaction->commit());
  }
  append(new_entry(id, Action::completed));

  const std::vector<LogEntry> log = must(reader().log(id));

  ASSERT_EQ(log.size(), 3U);
  EXPECT_GT(static_cast<std::int64_t>(log[0].log_id), 0);
  EXPECT_LT(log[0].log_id, log[1].log_id);
  EXPECT_LT(log[1].log_id, log[2].log_id);
  EXPECT_EQ(entries[0].log_id, log[0].log_id);
  EXPECT_EQ(entries[1].log_id, log[1].log_id);
}

TEST_P(StoreConformance, ALogHoldsItsOwnEventsEntriesOldestFirst) {
  const EventId a = add("a");
  const EventId b = add("b");
  for (const Action action : {Action::picked, Action::abandoned, Action::picked, Action::completed}) {
    append(new_entry(a, action));
    append(new_entry(b, Action::picked));
  }

  EXPECT_EQ(actions_of(must(reader().log(a))), "PICKED,ABANDONED,PICKED,COMPLETED");
  EXPECT_EQ(actions_of(must(begin()->log(a))), "PICKED,ABANDONED,PICKED,COMPLETED");
  EXPECT_EQ(actions_of(must(reader().log(b))), "PICKED,PICKED,PICKED,PICKED");
}

TEST_P(StoreConformance, ALogEntryKeepsItsAuthor) {
  const EventId id = add("a");
  append(new_entry(id, Action::picked));
  LogEntry entry = new_entry(id, Action::reset);
  entry.by = "Zo\u00eb \"the admin\"";
  append(entry);
  append(new_entry(id, Action::picked));
  const auto authors = [](const std::vector<LogEntry>& log) {
    std::vector<std::string> all;
    for (const LogEntry& one : log) all.push_back(one.by);
    return all;
  };

  EXPECT_THAT(authors(must(reader().log(id))), ElementsAre("", "Zo\u00eb \"the admin\"", ""));
  EXPECT_THAT(authors(must(begin()->log(id))), ElementsAre("", "Zo\u00eb \"the admin\"", ""));
  EXPECT_THAT(authors(must(reader().details(id))->log), ElementsAre("", "Zo\u00eb \"the admin\"", ""));
}

TEST_P(StoreConformance, ATransactionSeesItsOwnEntries) {
  const EventId id = add("a");
  append(new_entry(id, Action::picked));
  LogEntry entry = new_entry(id, Action::started);
  const auto transaction = begin();
  must(transaction->append({&entry, 1}));

  EXPECT_EQ(actions_of(must(transaction->log(id))), "PICKED,STARTED");
}

TEST_P(StoreConformance, TheLogOfAnUnknownEventIsEmpty) {
  EXPECT_THAT(must(reader().log(EventId{404})), IsEmpty());
  EXPECT_THAT(must(begin()->log(EventId{404})), IsEmpty());
}

TEST_P(StoreConformance, AnEntryHasEveryFieldAsItWasAppended) {
  LogEntry full = new_entry(EventId{7}, Action::failed, "host-a:1");
  full.attempt = 4;
  full.status_code = 503;
  full.error_message = "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\n'x'";
  full.execution_time_ms = 31'536'000'000;
  full.errors = {"first, \"quoted\"", "\xF0\x9F\x98\x80", "back\\slash", "[]"};
  full.reason = "by hand";
  full.retry_count = 2;
  full.next_retry_at = TimePoint(1'700'000'300'000ms);
  full.created_at = TimePoint(1'700'000'000'123ms);
  append(full);

  const std::vector<LogEntry> log = must(reader().log(EventId{7}));

  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(describe(log[0]),
            "1 FAILED event_id=7 attempt=4 worker_id=host-a:1 status_code=503 "
            "error_message=gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\n'x' execution_time_ms=31536000000 "
            "errors=[<first, \"quoted\"><\xF0\x9F\x98\x80><back\\slash><[]>] reason=by hand retry_count=2 "
            "next_retry_at=1700000300000 created_at=1700000000123");
}

TEST_P(StoreConformance, FieldsThatAnEntryDoesNotHaveStayAbsent) {
  LogEntry bare;
  bare.id = EventId{7};
  bare.action = Action::reset;
  append(bare);

  const std::vector<LogEntry> log = must(reader().log(EventId{7}));

  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(describe(log[0]),
            "1 RESET event_id=7 attempt=0 worker_id= status_code=(none) error_message=(none) "
            "execution_time_ms=(none) errors=[] reason= retry_count=0 next_retry_at=(none) created_at=0");
}

TEST_P(StoreConformance, AZeroAndAnEmptyMessageAreNotAbsent) {
  LogEntry entry = new_entry(EventId{7}, Action::failed);
  entry.status_code = 0;
  entry.execution_time_ms = 0;
  entry.error_message = "";
  append(entry);

  const LogEntry stored = must(reader().log(EventId{7})).at(0);

  EXPECT_EQ(stored.status_code, 0);
  EXPECT_EQ(stored.execution_time_ms, 0);
  EXPECT_EQ(stored.error_message, "");
}

// Fingerprint, ids and creation time: "print 1,2 1700000000000".
std::string record_of(const std::optional<KeyRecord>& record) {
  if (!record) return "none";
  std::string text = record->fingerprint + " ";
  for (const EventId id : record->events) text += std::to_string(static_cast<std::int64_t>(id)) + ",";
  return text + " " + describe(record->created_at);
}

TEST_P(StoreConformance, AKeyIsFoundAsItWasPut) {
  auto transaction = begin();
  must(transaction->put_key(
      {"key", "print", {EventId{3}, EventId{1}, EventId{9'007'199'254'740'991}}, now()}));
  commit(transaction);

  const auto found = must(begin()->find_key("key"));

  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, "key");
  EXPECT_EQ(record_of(found), "print 3,1,9007199254740991, 1700000000000");
}

TEST_P(StoreConformance, AKeyCanHaveNoEvents) {
  const auto transaction = begin();
  must(transaction->put_key({"key", "print", {}, now()}));

  EXPECT_EQ(record_of(must(transaction->find_key("key"))), "print  1700000000000");
}

TEST_P(StoreConformance, AnUnknownKeyIsNotFound) {
  const auto transaction = begin();
  must(transaction->put_key({"key", "print", {EventId{1}}, now()}));

  EXPECT_FALSE(must(transaction->find_key("Key")));
  EXPECT_FALSE(must(transaction->find_key("")));
}

TEST_P(StoreConformance, PuttingAKeyAgainReplacesIt) {
  const auto transaction = begin();
  must(transaction->put_key({"key", "old", {EventId{1}}, now()}));
  must(transaction->put_key({"key", "new", {EventId{2}}, now() + 1s}));

  EXPECT_EQ(record_of(must(transaction->find_key("key"))), "new 2, 1700000001000");
}

TEST_P(StoreConformance, ARolledBackReplacementLeavesTheOldKey) {
  {
    const auto transaction = begin();
    must(transaction->put_key({"key", "old", {EventId{1}}, now()}));
    must(transaction->commit());
  }
  must(begin()->put_key({"key", "new", {EventId{2}}, now()}));
  must(begin()->purge_keys(now() + 1h, 10));

  EXPECT_EQ(record_of(must(begin()->find_key("key"))), "old 1, 1700000000000");
}

TEST_P(StoreConformance, PurgeDropsTheKeysMadeBeforeATimeAndNoOther) {
  const auto transaction = begin();
  must(transaction->put_key({"before", "p", {EventId{1}}, now() - 1ms}));
  must(transaction->put_key({"at", "p", {EventId{1}}, now()}));
  must(transaction->put_key({"after", "p", {EventId{1}}, now() + 1ms}));

  must(transaction->purge_keys(now(), 100));

  EXPECT_FALSE(must(transaction->find_key("before")));
  EXPECT_TRUE(must(transaction->find_key("at")));
  EXPECT_TRUE(must(transaction->find_key("after")));
}

TEST_P(StoreConformance, PurgeDropsUpToItsLimitOldestFirst) {
  const auto transaction = begin();
  must(transaction->put_key({"a", "p", {EventId{1}}, now() - 1s}));
  must(transaction->put_key({"b", "p", {EventId{1}}, now() - 3s}));
  must(transaction->put_key({"c", "p", {EventId{1}}, now() - 2s}));

  must(transaction->purge_keys(now(), 2));

  EXPECT_TRUE(must(transaction->find_key("a")));
  EXPECT_FALSE(must(transaction->find_key("b")));
  EXPECT_FALSE(must(transaction->find_key("c")));
}

}  // namespace
}  // namespace eventq
