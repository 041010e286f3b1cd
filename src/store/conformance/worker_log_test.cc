// worker_log_test.cc: what one worker did, over all events.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "eventq/limits.h"
#include "store/conformance/store_conformance.h"

namespace eventq {
namespace {

// "3-5 PICKED", where 3 is the event and 5 the entry.
std::string text_of(const LogEntry& entry) {
  return std::to_string(static_cast<std::int64_t>(entry.id)) + "-" +
         std::to_string(static_cast<std::int64_t>(entry.log_id)) + " " + std::string(name_of(entry.action));
}

std::string text_of(const WorkerLogPage& page) {
  std::string text;
  for (const LogEntry& entry : page.entries) text += (text.empty() ? "" : ", ") + text_of(entry);
  return text + (page.next ? " ..." : "");
}

TEST_P(StoreConformance, AWorkersLogIsListedNewestEventFirstWithACursor) {
  const EventId a = add("a");
  const EventId b = add("b");
  append(new_entry(a, Action::picked, "w:1"));
  append(new_entry(b, Action::picked, "w:2"));
  append(new_entry(a, Action::failed, "w:1"));
  append(new_entry(a, Action::picked, "w:2"));
  append(new_entry(b, Action::released, "w:2"));
  append(new_entry(b, Action::picked, "w:1"));
  append(new_entry(b, Action::reset, ""));

  EXPECT_EQ(text_of(must(reader().worker_log({.worker_id = "w:1"}))), "2-6 PICKED, 1-3 FAILED, 1-1 PICKED");
  EXPECT_EQ(text_of(must(reader().worker_log({.worker_id = "w:2"}))), "2-5 RELEASED, 2-2 PICKED, 1-4 PICKED");
  EXPECT_EQ(text_of(must(reader().worker_log({.worker_id = "w"}))), "");

  const WorkerLogPage first = must(reader().worker_log({.worker_id = "w:1", .limit = 2}));
  EXPECT_EQ(text_of(first), "2-6 PICKED, 1-3 FAILED ...");
  EXPECT_TRUE(first.complete);
  EXPECT_EQ(text_of(must(reader().worker_log({.worker_id = "w:1", .before = first.next, .limit = 2}))),
            "1-1 PICKED");
}

TEST_P(StoreConformance, AnEntryOfAWorkersLogIsWhole) {
  LogEntry entry = new_entry(add("a"), Action::failed);
  entry.attempt = 3;
  entry.status_code = 500;
  entry.error_message = "timeout";
  entry.execution_time_ms = 12;
  entry.retry_count = 2;
  entry.next_retry_at = now();
  entry.created_at = now();
  append(entry);

  const WorkerLogPage page = must(reader().worker_log({.worker_id = "w:1"}));

  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries[0].attempt, 3);
  EXPECT_EQ(page.entries[0].status_code, 500);
  EXPECT_EQ(page.entries[0].error_message, "timeout");
  EXPECT_EQ(page.entries[0].execution_time_ms, 12);
  EXPECT_EQ(page.entries[0].retry_count, 2);
  EXPECT_EQ(page.entries[0].next_retry_at, now());
  EXPECT_EQ(page.entries[0].created_at, now());
}

// A scan reads thousands of entries before it reads the clock again, so the log is longer than that.
TEST_P(StoreConformance, AWorkersLogIsCompleteOverPagesThatTheTimeLimitEnds) {
  std::vector<LogEntry> entries;
  const EventId rare = add("rare");
  entries.push_back(new_entry(rare, Action::picked, "rare:1"));
  for (int i = 0; i < 3; ++i) {
    const EventId id = add("busy" + std::to_string(i));
    entries.insert(entries.end(), 4000, new_entry(id, Action::started, "busy:1"));
  }
  commit_with([&](Transaction& transaction) { must(transaction.append(entries)); });
  advance_on_read(limits::kScan);

  std::string found;
  std::size_t pages = 0;
  WorkerLogFilter filter{.worker_id = "rare:1"};
  do {
    const WorkerLogPage page = must(reader().worker_log(filter));
    EXPECT_EQ(page.complete, !page.next);
    for (const LogEntry& entry : page.entries) found += text_of(entry);
    filter.before = page.next;
    ASSERT_LT(++pages, 10U);
  } while (filter.before);

  EXPECT_EQ(found, "1-1 PICKED");
  // The store in memory has no time limit.
  EXPECT_GT(pages, GetParam().name == "Memory" ? 0U : 1U);
}

TEST_P(StoreConformance, AListByWorkerFindsEveryEventItEverPicked) {
  const auto picked = [&](EventId id, const std::vector<std::string>& workers) {
    for (const std::string& worker : workers) {
      change(id, [&](Event& event) { hold(event, worker, now()); });
      append(new_entry(id, Action::picked, worker));
    }
  };
  const EventId failed = add("failed by w:1, then completed by w:2");
  picked(failed, {"w:1", "w:2"});
  end_as(failed, Status::completed);
  const EventId released = add("released by w:1");
  picked(released, {"w:1"});
  change(released, [&](Event& event) { requeue(event, now()); });
  const EventId completed = add("completed by w:1");
  picked(completed, {"w:1"});
  end_as(completed, Status::completed);
  const EventId other = add("held by w:2");
  picked(other, {"w:2"});
  add("never picked");
  const EventId again = add("held by w:1 for the second time");
  picked(again, {"w:2", "w:1"});

  EXPECT_EQ(
      listed({.worker_id = "w:1"}),
      "failed by w:1, then completed by w:2 released by w:1 completed by w:1 held by w:1 for the second "
      "time of 4");
  EXPECT_EQ(listed({.status = Status::completed, .worker_id = "w:1"}),
            "failed by w:1, then completed by w:2 completed by w:1 of 2");
  EXPECT_EQ(listed({.worker_id = "w:1", .offset = 1, .limit = 1}), "released by w:1 of 4");
  EXPECT_EQ(listed({.worker_id = "w:1", .after = completed}), "held by w:1 for the second time of 1 or more");
  EXPECT_EQ(listed({.worker_id = "w:3"}), " of 0");
}

TEST_P(StoreConformance, AListByWorkerIsCompleteOverPagesThatTheTimeLimitEnds) {
  std::vector<Stored> events;
  for (int i = 0; i < 6000; ++i) events.push_back(new_event("e" + std::to_string(i), now()));
  commit_with([&](Transaction& transaction) { must(transaction.insert(events)); });
  for (const std::size_t i : {2U, 5999U}) {
    change(events[i].event.id, [&](Event& event) { hold(event, "w:1", now()); });
  }
  advance_on_read(limits::kScan);

  std::string found;
  std::size_t pages = 0;
  ListFilter filter{.worker_id = "w:1"};
  for (bool more = true; more; ++pages) {
    ASSERT_LT(pages, 10U);
    const EventPage page = must(reader().list(filter));
    found += names(page.events) + ";";
    more = page.scanned_to.has_value();
    EXPECT_TRUE(!more || !page.total_exact);
    filter.after = page.scanned_to.value_or(EventId{});
  }

  // The store in memory has no time limit.
  EXPECT_EQ(found, GetParam().name == "Memory" ? "e2 e5999;" : "e2;e5999;");
}

}  // namespace
}  // namespace eventq
