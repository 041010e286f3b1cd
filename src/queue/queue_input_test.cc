// queue_input_test.cc: errors for bad arguments and for stores that cannot be opened, and the state of a file
// that is closed and opened again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "eventq/limits.h"
#include "eventq/queue.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"
#include "support/times.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class QueueInput : public testing::Test {
 protected:
  std::unique_ptr<Queue> queue = Queue::open("memory:").value();
};

TEST_F(QueueInput, PublishNamesTheFieldThatIsBad) {
  struct Row {
    NewEvent event;
    ErrorCode code;
    std::string field;
  };
  const std::vector<Row> rows = {
      {{.title = "", .tags = {"a"}}, ErrorCode::invalid_argument, "title"},
      {{.title = std::string(201, 'x'), .tags = {"a"}}, ErrorCode::invalid_argument, "title"},
      {{.title = "x", .description = std::string(16385, 'x'), .tags = {"a"}},
       ErrorCode::too_large,
       "description"},
      {{.title = "x", .tags = {}}, ErrorCode::invalid_argument, "tags"},
      {{.title = "x", .tags = {"two words"}}, ErrorCode::invalid_argument, "tags"},
      {{.title = "x", .tags = {"a"}, .payload = "{"}, ErrorCode::invalid_argument, "payload"},
      {{.title = "x", .tags = {"a"}, .payload = "{} {}"}, ErrorCode::invalid_argument, "payload"},
      {{.title = "x", .tags = {"a"}, .payload = "\"" + std::string(limits::kPayload, 'x') + "\""},
       ErrorCode::too_large,
       "payload"},
      {{.title = "x", .tags = {"a"}, .queue = ""}, ErrorCode::invalid_argument, "queue"},
      {{.title = "x", .tags = {"a"}, .queue = "two words"}, ErrorCode::invalid_argument, "queue"},
      {{.title = "x", .tags = {"a"}, .priority = 1'000'001}, ErrorCode::invalid_argument, "priority"},
      {{.title = "x", .tags = {"a"}, .max_retries = -1}, ErrorCode::invalid_argument, "max_retries"},
      {{.title = "x", .tags = {"a"}, .event_id = "two words"}, ErrorCode::invalid_argument, "event_id"},
      {{.title = "x", .tags = {"a"}, .correlation_id = "\n"}, ErrorCode::invalid_argument, "correlation_id"},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.field);
    const auto published = queue->publish(row.event);
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, row.code);
    EXPECT_EQ(published.error().field, row.field);
    EXPECT_NE(published.error().message, "");
  }
  EXPECT_EQ(queue->poll().value(), std::nullopt);
}

TEST_F(QueueInput, PublishBatchTakesTenThousandEventsAndNoMore) {
  std::vector<NewEvent> batch(10'001, NewEvent{.title = "x", .tags = {"a"}});

  EXPECT_EQ(queue->publish_batch(batch).error().code, ErrorCode::too_large);
  EXPECT_EQ(queue->publish_batch(batch).error().field, "events");
  batch.pop_back();

  EXPECT_EQ(queue->publish_batch(batch).value().size(), 10'000U);
}

TEST_F(QueueInput, PollNamesTheFieldThatIsBad) {
  EXPECT_EQ(queue->poll({.tags = {"two words"}}).error().field, "tags");
  EXPECT_EQ(queue->poll({.queue = ""}).error().field, "queue");
  EXPECT_EQ(queue->poll({.queue = ""}).error().code, ErrorCode::invalid_argument);
}

TEST_F(QueueInput, TheQueueOfANotebookCannotBePolled) {
  for (const auto& claimed : {queue->poll({.tags = {"a"}, .queue = "notebook:n"}).has_value(),
                              queue->next({.limit = 1, .queue = "notebook:n"}).has_value()}) {
    EXPECT_FALSE(claimed);
  }
  const auto polled = queue->poll({.tags = {"a"}, .queue = "notebook:n"});
  EXPECT_EQ(polled.error().code, ErrorCode::conflict);
  EXPECT_THAT(polled.error().message, HasSubstr("notebook:n"));
  EXPECT_TRUE(queue->poll({.tags = {"a"}, .queue = "notebooks:n"}));
}

TEST_F(QueueInput, CompleteNamesTheFieldThatIsBad) {
  const Lease lease{EventId{1}, "host:1", 1};

  EXPECT_EQ(queue->complete({EventId{1}, "", 1}).error().field, "worker_id");
  EXPECT_EQ(queue->complete({EventId{1}, "host:1", 0}).error().field, "attempt");
  EXPECT_EQ(queue->complete(lease, {.status_code = 1000}).error().field, "status_code");
  EXPECT_EQ(queue->complete(lease, {.execution_time_ms = -1}).error().field, "execution_time_ms");
  EXPECT_EQ(queue->complete(lease, {.errors = {""}}).error().field, "errors");
  EXPECT_EQ(queue->complete(lease, {.errors = std::vector<std::string>(101, "x")}).error().field, "errors");
}

TEST_F(QueueInput, FailNamesTheFieldThatIsBad) {
  const Lease lease{EventId{1}, "host:1", 1};

  EXPECT_EQ(queue->fail({EventId{1}, "two words", 1}, {}).error().field, "worker_id");
  EXPECT_EQ(queue->fail({EventId{1}, "host:1", -1}, {}).error().field, "attempt");
  EXPECT_EQ(queue->fail(lease, {.status_code = -1}).error().field, "status_code");
  EXPECT_EQ(queue->fail(lease, {.execution_time_ms = -1}).error().field, "execution_time_ms");
  EXPECT_EQ(queue->fail(lease, {.message = std::string(16385, 'x')}).error().field, "error_message");
  EXPECT_EQ(queue->fail(lease, {.message = "\xff"}).error().field, "error_message");
}

TEST_F(QueueInput, HeartbeatNamesTheFieldThatIsBad) {
  EXPECT_EQ(queue->heartbeat({EventId{1}, "", 1}).error().field, "worker_id");
  EXPECT_EQ(queue->heartbeat({EventId{1}, "host:1", 0}).error().field, "attempt");
}

TEST(QueueOptions, OpenNamesTheOptionThatIsBad) {
  struct Row {
    std::string field;
    Options options;
  };
  std::vector<Row> rows = {
      {"lease", {}}, {"retry_delay", {}}, {"max_retries", {}}, {"max_attempts", {}}, {"worker_id", {}}};
  rows[0].options.lease = 0ms;
  rows[1].options.retry.base = -1ms;
  rows[2].options.max_retries = -1;
  rows[3].options.max_attempts = 0;
  rows[4].options.worker_id = "two words";

  for (const Row& row : rows) {
    SCOPED_TRACE(row.field);
    const auto opened = Queue::open("memory:", row.options);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(opened.error().field, row.field);
  }
}

TEST(QueueUrl, AUrlOfAnotherKindIsRefused) {
  for (const std::string url :
       {"", "events.db", "sqlite:", "sqlite", "memory", "memory:x", "SQLITE:events.db", "file:events.db"}) {
    SCOPED_TRACE(url);
    const auto opened = Queue::open(url);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(opened.error().field, "store");
    EXPECT_THAT(opened.error().message, HasSubstr("sqlite:PATH"));
  }
}

TEST(QueueUrl, TheErrorOfAMisspeltUrlDoesNotShowItsPassword) {
  const auto opened = Queue::open("postgrs://me:secret@host/db");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("postgrs://me@host/db"));
  EXPECT_THAT(opened.error().message, Not(HasSubstr("secret")));
}

TEST(QueueUrl, TwoQueuesInMemoryAreTwoQueues) {
  const auto one = Queue::open("memory:").value();
  const auto two = Queue::open("memory:").value();

  ASSERT_TRUE(one->publish({.title = "mail", .tags = {"email"}}));

  EXPECT_EQ(two->poll().value(), std::nullopt);
}

class QueueFile : public testing::Test {
 protected:
  Result<std::unique_ptr<Queue>> open(const std::string& worker_id = "host:1") {
    Options options;
    options.clock = &clock;
    options.worker_id = worker_id;
    return Queue::open("sqlite:" + path, options);
  }

  const TemporaryDirectory directory;
  const std::string path = directory.file("events.db");
  ManualClock clock{kStart};
};

TEST_F(QueueFile, ASecondOpenIsRefusedWhileTheFirstIsOpen) {
  const auto first = open().value();

  const auto second = open();

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().message, HasSubstr("is in use by process " + std::to_string(getpid())));
}

TEST_F(QueueFile, AClosedFileCanBeOpenedAgain) {
  open().value().reset();

  EXPECT_TRUE(open());
}

TEST_F(QueueFile, APublishedEventIsThereAfterTheFileIsOpenedAgain) {
  auto queue = open().value();
  const EventId id = queue->publish({.title = "mail", .tags = {"email"}, .payload = "[1]"}).value().id;
  queue.reset();

  queue = open().value();

  EXPECT_EQ(queue->get(id).value().payload, "[1]");
  EXPECT_EQ(queue->poll().value()->event.id, id);
}

TEST_F(QueueFile, AnEventPolledBeforeTheFileWasReopenedCannotBeFinalized) {
  auto queue = open().value();
  const EventId id = queue->publish({.title = "mail", .tags = {"email"}}).value().id;
  ASSERT_TRUE(queue->poll().value());
  queue.reset();

  queue = open().value();

  EXPECT_EQ(queue->finalize(id).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
}

TEST_F(QueueFile, ALeaseIsValidAfterTheFileIsOpenedAgain) {
  auto queue = open().value();
  const EventId id = queue->publish({.title = "mail", .tags = {"email"}}).value().id;
  ASSERT_TRUE(queue->poll().value());
  queue.reset();

  queue = open().value();

  EXPECT_TRUE(queue->complete({id, "host:1", 1}));
}

TEST_F(QueueFile, AReportFromBeforeAReopenDoesNotOverwriteANewerAttempt) {
  auto queue = open("early:1").value();
  const EventId id = queue->publish({.title = "mail", .tags = {"email"}}).value().id;
  ASSERT_TRUE(queue->poll().value());
  queue.reset();
  clock.advance(60s);
  queue = open("late:2").value();
  ASSERT_EQ(queue->poll().value()->event.attempts, 2);

  EXPECT_EQ(queue->complete({id, "early:1", 1}).error().code, ErrorCode::lease_lost);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
  EXPECT_EQ(queue->get(id).value().worker_id, "late:2");
  EXPECT_TRUE(queue->complete({id, "late:2", 2}));
}

// The machine's time was corrected between two starts.
TEST_F(QueueFile, AnEventPublishedBeforeTheTimeWasSetBackIsPolledAtOnce) {
  auto queue = open().value();
  ASSERT_TRUE(queue->publish({.title = "mail", .tags = {"email"}}));
  queue.reset();
  clock.set(kStart - 1h);

  queue = open().value();

  const Claim claim = queue->poll().value().value();
  EXPECT_EQ(claim.event.title, "mail");
  EXPECT_EQ(claim.lease_until, kStart - 1h + 60s);
}

TEST_F(QueueFile, AnEventAbandonedBeforeTheTimeWasSetBackWaitsForItsLeaseAgain) {
  auto queue = open().value();
  const EventId id = queue->publish({.title = "mail", .tags = {"email"}}).value().id;
  ASSERT_TRUE(queue->poll().value());
  clock.advance(1h);
  ASSERT_EQ(queue->poll({.tags = {"other"}}).value(), std::nullopt);
  queue.reset();
  clock.set(kStart);

  queue = open().value();

  EXPECT_EQ(queue->poll().value(), std::nullopt);
  EXPECT_EQ(queue->get(id).value().status, Status::processing);
  clock.advance(60s);
  EXPECT_EQ(queue->poll().value()->event.attempts, 2);
}

TEST_F(QueueFile, AFileThatCannotBeCreatedIsUnavailable) {
  const auto opened = Queue::open("sqlite:" + directory.file("no/such/folder/events.db"));

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
}

TEST_F(QueueFile, AFolderIsNotAStore) {
  std::filesystem::create_directory(path);

  EXPECT_EQ(open().error().code, ErrorCode::unavailable);
}

TEST_F(QueueFile, AFileThatIsNoDatabaseIsCorrupt) {
  std::ofstream(path) << "These are the voyages of something that is no database at all.\n";

  EXPECT_EQ(open().error().code, ErrorCode::corrupt);
}

TEST_F(QueueFile, AFileThatANewerEventqWroteIsRefused) {
  open().value().reset();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(60);  // SQLite keeps user_version there, big-endian
  file.write("\x00\x00\x00\x63", 4);
  file.close();

  const auto opened = open();

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("schema 99"));
}

}  // namespace
}  // namespace eventq
