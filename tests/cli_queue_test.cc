// cli_queue_test.cc: the commands for queues and workers, run as a script runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "cli/framework/command_line.h"
#include "cli/framework/command_table.h"
#include "cli_support.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""s;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::StartsWith;

using CliQueueTest = CliTest;

TEST_F(CliQueueTest, ListsQueuesWithTheirCounts) {
  publish("a", {"--queue", "mail"});
  publish("a", {"--queue", "mail"});

  EXPECT_THAT(eventq({"queue", "ls", "-o", "csv", "--fields", "id,status,counts.PENDING"}).out,
              HasSubstr("\nmail,active,2\n"));
  EXPECT_THAT(eventq({"queue", "ls", "-o", "table"}).out,
              StartsWith("QUEUE  STATE   PENDING  RUNNING  FAILED  DONE  REASON\n"));
}

TEST_F(CliQueueTest, ShowsAQueueWithASlashInItsName) {
  publish("a", {"--queue", "billing/eu"});

  EXPECT_EQ(member(eventq({"queue", "show", "billing/eu"}).out, "id"), "billing/eu");
  EXPECT_THAT(eventq({"queue", "show", "main", "-o", "table"}).out, HasSubstr("\nconfig.retry.kind "));
  EXPECT_EQ(eventq({"queue", "show", "none"}).exit_code, 1);
}

TEST_F(CliQueueTest, TheLogOfAQueueShowsItsChangesWithTheirAuthors) {
  EXPECT_EQ(eventq({"queue", "set", "mail", "batchSize=5", "--by", "ann", "--reason", "slow mail"}).exit_code,
            0);
  EXPECT_EQ(eventq({"queue", "pause", "mail", "--by", "bob"}).exit_code, 0);
  EXPECT_EQ(eventq({"queue", "checkpoint", "mail", "--by", "eve"}).exit_code, 0);

  const Finished log = eventq({"queue", "log", "mail", "-o", "csv", "--fields", "action,by,reason"});
  EXPECT_EQ(log.out, "action,by,reason\ncheckpoint_made,eve,\npaused,bob,\ncreated,ann,slow mail\n");
  EXPECT_EQ(eventq({"queue", "log", "mail", "--limit", "1", "--fields", "action", "-o", "csv"}).out,
            "action\ncheckpoint_made\n");
  EXPECT_EQ(eventq({"queue", "log", "mail", "--limit", "0"}).exit_code, 2);
  EXPECT_EQ(eventq({"queue", "log", "none"}).exit_code, 1);
}

TEST_F(CliQueueTest, PausesDrainsAndResumes) {
  publish("a", {"--queue", "mail"});
  const auto status = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "queue");
    const Finished done = eventq(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return member(done.out, "status");
  };

  EXPECT_EQ(status({"pause", "mail", "--reason", "move", "--by", "alice"}), "paused");
  const std::string paused = eventq({"queue", "show", "mail"}).out;
  EXPECT_EQ(member(paused, "statusReason"), "move");
  EXPECT_EQ(member(paused, "statusBy"), "alice");
  EXPECT_EQ(status({"resume", "mail"}), "active");
  EXPECT_EQ(status({"drain", "mail"}), "draining");
  EXPECT_EQ(eventq({"publish", "a", "--queue", "mail"}).exit_code, 1);
}

TEST_F(CliQueueTest, WaitsUntilADrainedQueueIsEmpty) {
  const std::string id = publish("a", {"--queue", "mail"});

  const Finished full = eventq({"queue", "drain", "mail", "--wait=1s"});
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_THAT(full.err, HasSubstr("is draining, but not empty"));
  EXPECT_EQ(eventq({"queue", "drain", "mail", "--wait=long"}).exit_code, 2);

  Process waiting(setup({"queue", "drain", "mail", "--wait"}));
  EXPECT_EQ(eventq({"cancel", id}).exit_code, 0);
  EXPECT_THAT(waiting.wait(60s), Optional(0));
  EXPECT_EQ(member(waiting.out(), "depth"), "0");
}

TEST_F(CliQueueTest, ChangesOnlyTheGivenSettings) {
  EXPECT_EQ(eventq({"queue", "set", "mail", "batchSize=7", "retry.kind=exponential"}).exit_code, 0);
  const Finished done = eventq({"queue", "set", "mail", "maxQueueDepth=5000", "retry.jitter=0.5"});

  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(member(done.out, "config.batchSize"), "7");
  EXPECT_EQ(member(done.out, "config.retry.kind"), "exponential");
  EXPECT_EQ(member(done.out, "config.retry.jitter"), "0.5");
  EXPECT_EQ(member(done.out, "config.maxQueueDepth"), "5000");
  EXPECT_EQ(member(done.out, "config.highWatermark"), "4000");
  EXPECT_EQ(member(eventq({"queue", "set", "mail", "batchSize="}).out, "config.batchSize"), "100");
  EXPECT_EQ(member(eventq({"queue", "set", "mail", "retry="}).out, "config.retry.kind"), "fixed");
}

// The largest claim is 1000 unless the queue has its own batchSize.
TEST_F(CliQueueTest, SettingOneSettingPinsNoOther) {
  EXPECT_EQ(eventq({"queue", "set", "mail", "maxRetries=5"}).exit_code, 0);
  for (int i = 0; i < 101; ++i) publish("a", {"--queue", "mail"});

  HttpClient client(server_.port());
  const auto claimed =
      client.post("/events/subscribe", R"({"tags":"a","queue":"mail","worker_id":"w","limit":1000})");

  ASSERT_TRUE(claimed);
  EXPECT_THAT(claimed->body, HasSubstr(R"("id":101,)"));
}

TEST_F(CliQueueTest, DeletesAnEmptyQueueAndACheckpoint) {
  EXPECT_EQ(eventq({"queue", "set", "mail", "maxRetries=5"}).exit_code, 0);
  const Finished checkpoint = eventq({"queue", "checkpoint", "mail", "-o", "id"});
  const std::string id = checkpoint.out.substr(0, checkpoint.out.size() - 1);
  EXPECT_EQ(eventq({"queue", "checkpoints", "mail", "-o", "id"}).out, checkpoint.out);
  EXPECT_EQ(eventq({"queue", "checkpoint", "mail", "--delete", id}).exit_code, 0);
  EXPECT_EQ(eventq({"queue", "checkpoints", "mail", "-o", "id"}).out, "");

  EXPECT_EQ(eventq({"queue", "rm", "mail"}).exit_code, 0);
  EXPECT_EQ(eventq({"queue", "rm", "mail"}).exit_code, 1);
  EXPECT_THAT(eventq({"queue", "rm", "main"}).err, HasSubstr("cannot be deleted"));
}

TEST_F(CliQueueTest, AnErrorNamesTheInvalidSetting) {
  EXPECT_EQ(eventq({"queue", "set", "mail", "batchSize"}).exit_code, 2);
  EXPECT_EQ(eventq({"queue", "set", "mail", "batchSize=1", "batchSize=2"}).exit_code, 2);
  EXPECT_EQ(eventq({"queue", "set", "mail", "retry={}", "retry.kind=fixed"}).exit_code, 2);
  EXPECT_EQ(eventq({"queue", "set", "mail", "=1"}).exit_code, 2);
  const Finished unknown = eventq({"queue", "set", "mail", "batchsize=1"});
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("batchsize"));
}

TEST_F(CliQueueTest, ReplayNamesTheOptionThatIsWrong) {
  const auto error = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"queue", "replay", "main"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished done = eventq(arguments);
    EXPECT_EQ(done.exit_code, 2);
    return done.err;
  };
  const std::string instead =
      " must be a time in UTC such as 2027-01-31T08:00:00Z, or a duration such as 2h, not ";

  EXPECT_THAT(error({}), StartsWith("eventq: give --checkpoint, --from or --to\n"));
  EXPECT_THAT(error({"--from", "yesterday"}), StartsWith("eventq: --from" + instead + "\"yesterday\"\n"));
  EXPECT_THAT(error({"--to", "5"}), StartsWith("eventq: --to" + instead + "\"5\"\n"));
}

TEST_F(CliQueueTest, AQueueThatDoesNotExistIsNamedWithWhatCreatesIt) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Finished done = eventq(arguments);
    EXPECT_EQ(done.exit_code, 1);
    return done.err;
  };

  for (const auto& arguments : {std::vector<std::string>{"queue", "pause", "nope"},
                                std::vector<std::string>{"queue", "replay", "nope", "--from", "1h"}}) {
    EXPECT_EQ(
        error(arguments),
        "eventq: There is no queue \"nope\". Publish an event to it, or create it with `eventq queue set` or "
        "PUT /queues/{name}.\n");
  }
  EXPECT_EQ(error({"queue", "show", "nope"}),
            "eventq: There is no queue \"nope\"; `eventq queue ls` or GET /queues lists the queues.\n");
}

TEST_F(CliQueueTest, ReplaysEventsThatEndedSinceACheckpointOrATime) {
  publish("a", {"--queue", "mail"});
  const Finished checkpoint = eventq({"queue", "checkpoint", "mail", "-o", "id"});
  ASSERT_EQ(checkpoint.exit_code, 0) << checkpoint.err;
  EXPECT_EQ(eventq({"cancel", "1"}).exit_code, 0);
  const std::string id = checkpoint.out.substr(0, checkpoint.out.size() - 1);

  const Finished dry =
      eventq({"queue", "replay", "mail", "--from", "1h", "--status", "CANCELLED", "--dry-run", "-o", "id"});
  EXPECT_EQ(dry.out, "1\n");
  EXPECT_EQ(dry.err, "Would replay 1 event.\n");
  const Finished none = eventq({"queue", "replay", "mail", "--from", "1h"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.out, IsEmpty());
  EXPECT_EQ(none.err, "Replayed 0 events.\n");
  const Finished done =
      eventq({"queue", "replay", "mail", "--checkpoint", id, "--status", "CANCELLED", "--status", "FAILED"});
  EXPECT_EQ(done.out, "{\"id\":1,\"replayed_as\":2}\n");
  EXPECT_EQ(eventq({"queue", "replay", "mail", "--from", "1h", "--limit", "x"}).exit_code, 2);
  EXPECT_THAT(eventq({"queue", "replay", "mail", "--from", "1h", "--tag", "\xff"}).err,
              HasSubstr("--tag is not UTF-8"));
}

TEST_F(CliQueueTest, ReplaysPageByPage) {
  std::string batch = R"({"events":[)";
  for (int i = 0; i < 1001; ++i) batch += std::string(i == 0 ? "" : ",") + R"({"title":"t","tags":"a"})";
  HttpClient client(server_.port());
  ASSERT_EQ(client.post("/events/batch", batch + "]}")->status, 201);
  ASSERT_EQ(eventq({"cancel", "--filter", "tag:a", "--yes", "--expect", "1001"}).exit_code, 0);

  EXPECT_EQ(eventq({"queue", "replay", "main", "--from", "1h", "--status", "CANCELLED", "--dry-run"}).err,
            "Would replay 1001 events.\n");
  EXPECT_EQ(eventq({"queue", "replay", "main", "--from", "1h", "--status", "CANCELLED", "--limit", "10"}).err,
            "Replayed 10 events.\n");
}

TEST_F(CliQueueTest, EveryCommandInTheOutputOfTheDoctorExists) {
  publish("a");
  publish("a", {"--queue", "unattended"});
  EXPECT_EQ(eventq({"queue", "set", "main", "maxQueueDepth=1", "highWatermark=1"}).exit_code, 0);
  EXPECT_EQ(eventq({"queue", "pause", "main"}).exit_code, 0);

  const std::string call_result = eventq({"doctor", "-o", "table"}).out +
                                  eventq({"doctor", "-o", "table", "--url", "http://127.0.0.1:1"}).out;

  EXPECT_THAT(call_result, HasSubstr("eventq queue set main maxQueueDepth=2"));
  std::set<std::string> commands;
  const std::regex named("fix: .*?(eventq [^,`\n]+)");
  for (std::sregex_iterator it(call_result.begin(), call_result.end(), named), end; it != end; ++it) {
    const std::string line = (*it)[1];
    const auto words = cli::split_list(line, ' ');
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    const auto parsed =
        cli::parse_command_line(cli::all_commands(), static_cast<int>(argv.size()), argv.data());
    EXPECT_TRUE(std::holds_alternative<cli::ChosenCommand>(parsed)) << line;
    if (const auto* chosen = std::get_if<cli::ChosenCommand>(&parsed))
      commands.emplace(chosen->command->name);
  }
  EXPECT_THAT(commands, testing::ElementsAre("queue resume", "queue set", "serve", "work"));
}

TEST_F(CliQueueTest, ListsWorkersWithTheEventsThatTheyHold) {
  publish("a");
  EXPECT_EQ(claim("a"), "1");

  EXPECT_EQ(eventq({"worker", "ls", "-o", "csv", "--fields", "worker_id,completed,stale"}).out,
            "worker_id,completed,stale\nw1,0,false\n");
  EXPECT_EQ(eventq({"worker", "ls", "-o", "id"}).out, "w1\n");
}

TEST_F(CliQueueTest, WorkerShowShowsOneWorker) {
  publish("a");
  claim("a");

  EXPECT_EQ(eventq({"worker", "show", "w1", "-o", "json", "--fields", "worker_id,holding"}).out,
            "{\"worker_id\":\"w1\",\"holding\":[1]}\n");
  EXPECT_EQ(eventq({"worker", "show", "unknown"}).exit_code, 1);
}

TEST_F(CliQueueTest, WorkerLogShowsWhatAWorkerDid) {
  failed_event("a", "disk full");
  publish("b");
  claim("b");

  EXPECT_EQ(eventq({"worker", "log", "w1", "-o", "csv", "--fields", "event_id,action,error_message"}).out,
            "event_id,action,error_message\n2,PICKED,\n1,FAILED,disk full\n1,PICKED,\n");
  EXPECT_EQ(eventq({"worker", "log", "w1", "--limit", "1", "--fields", "event_id", "-o", "csv"}).out,
            "event_id\n2\n");
  const Finished none = eventq({"worker", "log", "unknown"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
}

}  // namespace
}  // namespace eventq
