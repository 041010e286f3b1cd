// retention_test.cc: the steps of retention.h, on a store in memory and an engine that only removes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/names.h"
#include "retention/retention.h"
#include "store/memory/memory_store.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kNow = std::chrono::sys_days(std::chrono::year(2026) / 1 / 31) + 12h;
constexpr const char* kArchive = "events-2026-01-31.ndjson.gz";
// One minute for completed events, two for failed ones.
const QueueConfig kShort{.completed_retention = 60s, .failed_retention = 120s};

class RetentionTest : public testing::Test {
 protected:
  void put_queue(const std::string& name, const QueueConfig& config = kShort, const std::string& fault = "") {
    auto transaction = store->begin().value();
    EXPECT_TRUE(transaction->put_queue({.id = name, .config = config, .config_fault = fault}));
    EXPECT_TRUE(transaction->commit());
  }

  // Stores an event that ended at `at`.
  EventId ended(const std::string& queue, Status status, TimePoint at, const std::string& payload = "null") {
    auto transaction = store->begin(at).value();
    Stored stored;
    stored.event.event_id = "evt_" + std::to_string(++events);
    stored.event.queue = queue;
    stored.event.payload = payload;
    stored.event.created_at = stored.event.updated_at = at;
    EXPECT_TRUE(transaction->insert({&stored, 1}));
    stored.event.status = status;
    EXPECT_TRUE(transaction->save({&stored, 1}));
    EXPECT_TRUE(transaction->commit());
    return stored.event.id;
  }

  // Stands in for the engine: executes a removal.
  Answer call(Command command) {
    if (refusal) return {.error = refusal};
    commands.push_back(command);
    auto transaction = store->begin().value();
    Answer answer;
    if (const auto* const removal = std::get_if<Removal>(&command.admin)) {
      const auto loaded = transaction->load(removal->events, Transaction::EventFields::state);
      std::vector<Stored> leaving;
      for (const auto& stored : *loaded) {
        if (stored && has_ended(stored->event.status) && !stubborn) leaving.push_back(*stored);
      }
      EXPECT_TRUE(transaction->remove(leaving));
      EXPECT_TRUE(!removal->file || transaction->put_archive_file(*removal->file));
      answer.admin = Removed{leaving.size()};
    }
    EXPECT_TRUE(transaction->commit());
    if (lost) answer = {.error = lost};
    return answer;
  }

  Retention retention(ArchiveFiles* files = nullptr) {
    return {*reader, [this](Command command) { return call(std::move(command)); }, files, Policy()};
  }

  std::vector<EventId> kept() {
    std::vector<EventId> ids;
    const auto page = reader->list({.limit = 1000});
    for (const Event& event : page->events) ids.push_back(event.id);
    return ids;
  }

  // The ids in each removal.
  std::vector<std::vector<EventId>> removals() const {
    std::vector<std::vector<EventId>> ids;
    for (const Command& command : commands) ids.push_back(std::get<Removal>(command.admin).events);
    return ids;
  }

  std::uintmax_t archived_bytes() const { return std::filesystem::file_size(directory.file(kArchive)); }

  const TemporaryDirectory directory;
  ManualClock clock{kNow};
  const std::unique_ptr<Store> store = memory::open_store(clock);
  const std::unique_ptr<Reader> reader = store->reader().value();
  ArchiveFiles archive{directory.file(""), {}};
  int events = 0;
  std::vector<Command> commands;
  std::optional<Error> refusal;  // the engine refuses the command with this
  std::optional<Error> lost;     // the engine executes the command and answers this error
  bool stubborn = false;         // the engine removes nothing
};

TEST_F(RetentionTest, RemovesEachEventWhenItsRetentionTimeIsOver) {
  struct Case {
    Status status;
    Millis stays;
  };
  put_queue("mail");
  for (const Case& row : {
           Case{Status::completed, 1min},
           Case{Status::completed_with_errors, 1min},
           Case{Status::failed, 2min},
           Case{Status::superseded, 1min},
           Case{Status::cancelled, 1min},
       }) {
    const EventId id = ended("mail", row.status, kNow);
    Retention steps = retention();

    EXPECT_EQ(steps.step(kNow + row.stays).value(), 0U) << name_of(row.status);
    EXPECT_THAT(kept(), ElementsAre(id)) << name_of(row.status);
    EXPECT_EQ(steps.step(kNow + row.stays + 1ms).value(), 1U) << name_of(row.status);
    EXPECT_THAT(kept(), IsEmpty()) << name_of(row.status);
  }
}

TEST_F(RetentionTest, SendsNoCommandWhenNoEventHasExpired) {
  put_queue("mail");
  ended("mail", Status::completed, kNow);

  EXPECT_EQ(retention().step(kNow).value(), 0U);

  EXPECT_THAT(commands, IsEmpty());
}

TEST_F(RetentionTest, LeavesLiveEventsAlone) {
  put_queue("mail");
  ended("mail", Status::pending, kNow - 24h);
  ended("mail", Status::processing, kNow - 24h);

  EXPECT_EQ(retention().step(kNow).value(), 0U);

  EXPECT_THAT(kept(), SizeIs(2));
}

TEST_F(RetentionTest, UsesTheDefaultsForAQueueWithoutSettings) {
  put_queue("mail", {});
  const EventId failed = ended("mail", Status::failed, kNow - 25h);
  ended("mail", Status::completed, kNow - 25h);

  EXPECT_EQ(retention().step(kNow).value(), 1U);

  EXPECT_THAT(kept(), ElementsAre(failed));
}

TEST_F(RetentionTest, RemovesNoMoreThanKStepEventsAtATime) {
  put_queue("mail");
  for (int i = 0; i < 150; ++i) ended("mail", Status::completed, kNow);
  for (int i = 0; i < 150; ++i) ended("mail", Status::failed, kNow);
  Retention steps = retention();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 200U);
  EXPECT_EQ(steps.step(kNow + 1h).value(), 100U);
  EXPECT_EQ(steps.step(kNow + 1h).value(), 0U);

  EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(RetentionTest, AQueueThatFillsAStepDoesNotStarveTheNext) {
  put_queue("a");
  put_queue("b");
  const EventId waiting = ended("b", Status::completed, kNow);
  for (int i = 0; i < 400; ++i) ended("a", Status::completed, kNow);
  Retention steps = retention();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 200U);
  EXPECT_EQ(steps.step(kNow + 1h).value(), 200U);

  ASSERT_THAT(removals(), SizeIs(2));
  EXPECT_EQ(removals()[1].front(), waiting);
}

TEST_F(RetentionTest, SkipsAQueueWithUnreadableSettingsAndReturnsItsErrorLast) {
  put_queue("broken", {}, "The stored settings of a queue cannot be read: they are not a JSON object");
  put_queue("mail");
  ended("broken", Status::completed, kNow);
  ended("mail", Status::completed, kNow);
  Retention steps = retention();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 1U);
  const auto last = steps.step(kNow + 1h);

  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, HasSubstr("Queue broken: "));
}

TEST_F(RetentionTest, ReturnsTheErrorOfTheEngineAndTriesAgain) {
  put_queue("mail");
  ended("mail", Status::completed, kNow);
  Retention steps = retention();
  refusal = Error{ErrorCode::unavailable, "Not now.", ""};

  EXPECT_EQ(steps.step(kNow + 1h).error().message, "Not now.");
  refusal.reset();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 1U);
}

TEST_F(RetentionTest, ArchivesTheEventsThatItRemoves) {
  put_queue("mail");
  const EventId first = ended("mail", Status::completed, kNow);
  const EventId second = ended("mail", Status::failed, kNow);

  EXPECT_EQ(retention(&archive).step(kNow + 1h).value(), 2U);

  EXPECT_THAT(removals(), ElementsAre(ElementsAre(first, second)));
  const auto known = reader->archive_files().value();
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known[0].name, kArchive);
  EXPECT_EQ(static_cast<std::uintmax_t>(known[0].bytes), archived_bytes());
}

TEST_F(RetentionTest, ArchivesNothingWhenNoEventHasExpired) {
  put_queue("mail");

  EXPECT_EQ(retention(&archive).step(kNow).value(), 0U);

  EXPECT_FALSE(std::filesystem::exists(directory.file(kArchive)));
}

TEST_F(RetentionTest, RemovesNoEventThatItCannotArchive) {
  ArchiveFiles none("/proc", {});
  put_queue("mail");
  ended("mail", Status::completed, kNow);

  EXPECT_FALSE(retention(&none).step(kNow + 1h));

  EXPECT_THAT(commands, IsEmpty());
}

TEST_F(RetentionTest, ReadsNoMoreIntoMemoryThanAClaimDoes) {
  put_queue("mail");
  const std::string payload = "\"" + std::string(limits::kPayload - 2, 'x') + "\"";
  for (int i = 0; i < 40; ++i) ended("mail", Status::completed, kNow, payload);
  Retention steps = retention(&archive);

  EXPECT_EQ(steps.step(kNow + 1h).value(), 32U);
  EXPECT_EQ(steps.step(kNow + 1h).value(), 8U);
}

TEST_F(RetentionTest, ArchivesAnEventOnceWhenItsFirstRemovalFailed) {
  put_queue("mail");
  ended("mail", Status::completed, kNow);
  Retention steps = retention(&archive);
  refusal = Error{ErrorCode::unavailable, "Not now.", ""};
  EXPECT_FALSE(steps.step(kNow + 1h));
  const std::uintmax_t once = archived_bytes();
  refusal.reset();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 1U);

  EXPECT_EQ(archived_bytes(), once);
}

TEST_F(RetentionTest, ArchivesAnEventOnceWhenTheEngineKeptItAtFirst) {
  put_queue("mail");
  ended("mail", Status::completed, kNow);
  Retention steps = retention(&archive);
  stubborn = true;
  EXPECT_EQ(steps.step(kNow + 1h).value(), 0U);
  const std::uintmax_t once = archived_bytes();

  EXPECT_EQ(steps.step(kNow + 1h).value(), 0U);

  EXPECT_EQ(archived_bytes(), once);
}

TEST_F(RetentionTest, CutsNoFileWhileTheOutcomeOfARemovalIsUnknown) {
  put_queue("mail");
  ended("mail", Status::completed, kNow);
  Retention steps = retention(&archive);
  lost = Error{ErrorCode::unknown_outcome, "Nobody knows.", ""};
  EXPECT_FALSE(steps.step(kNow + 1h));
  const std::uintmax_t first = archived_bytes();
  ended("mail", Status::completed, kNow);

  // The store still cannot write.
  refusal = Error{ErrorCode::unavailable, "Not now.", ""};
  EXPECT_FALSE(steps.step(kNow + 1h));
  EXPECT_EQ(archived_bytes(), first);

  refusal.reset();
  lost.reset();
  EXPECT_EQ(steps.step(kNow + 1h).value(), 1U);
  EXPECT_GT(archived_bytes(), first);
  EXPECT_TRUE(commands.at(1).probe);
}

}  // namespace
}  // namespace eventq
