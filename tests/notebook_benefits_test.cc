// notebook_benefits_test.cc: tests the guarantees that a notebook gives over direct file changes, one test
// per row of the table in its specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "notebook_server.h"

namespace eventq {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// All events that the queue has published so far.
std::int64_t published(NotebookServer& server) {
  const auto queue = server.expect("200", "GET", "/queues/notebook:n");
  std::int64_t sum = 0;
  for (const auto& [name, value] : queue) sum += name.starts_with("counts.") ? std::stoll(value) : 0;
  return sum;
}

TEST(NotebookBenefits, TheApiAndTheWatcherNeverMakeTwoRecordsOfOneFile) {
  constexpr int kRounds = 400;
  const auto path_of = [](int round) { return "f" + std::to_string(round % 20); };
  NotebookServer server;
  server.start();
  // Another thread changes each file while the API request for it runs.
  std::atomic<int> sent_round = -1;
  std::thread editor([&] {
    for (int round = 0; round < kRounds; ++round) {
      while (sent_round < round) sent_round.wait(round - 1);
      if (round % 7 == 0) {
        fs::remove(server.root() + "/" + path_of(round));
      } else {
        server.put(path_of(round), "outside " + std::to_string(round));
      }
    }
  });
  std::map<std::string, int> answers;
  for (int round = 0; round < kRounds; ++round) {
    const std::string id = server.id_of(path_of(round));
    sent_round = round;
    sent_round.notify_one();
    const auto answer =
        id.empty() ? server.call("POST", "/notebooks/n/files?sync=true",
                                 R"({"path":")" + path_of(round) + R"(","content":"api"})")
                   : server.call("PUT", "/notebooks/n/files/" + id + "?sync=true", R"({"content":"api"})");
    ++answers[answer.at("http status")];
  }
  editor.join();
  for (int round = 0; round < 20; ++round) server.put(path_of(round), "the last word");
  server.expect("200", "POST", "/notebooks/n/rescan");
  server.commit();

  // Each request is done, or refused because the file appeared or vanished meanwhile.
  const int refused = answers["404"] + answers["409"];
  EXPECT_EQ(answers["200"] + answers["201"] + refused, kRounds) << testing::PrintToString(answers);
  EXPECT_GT(answers["200"], 0);
  const auto queue = server.expect("200", "GET", "/queues/notebook:n");
  EXPECT_LE(std::stoi(queue.at("counts.FAILED")), refused);
  std::size_t on_disk = 0;
  for (const auto& entry : fs::directory_iterator(server.root()))
    on_disk += entry.is_regular_file() ? 1U : 0U;
  EXPECT_EQ(server.files().size(), on_disk);
  EXPECT_EQ(server.git("status --porcelain"), "");
}

TEST(NotebookBenefits, AMoveOfAHundredFilesIsOneCommit) {
  NotebookServer server(R"({"git_commit_interval":3600,"git_commit_max_files":1000})");
  server.start();
  for (int i = 0; i < 100; ++i) server.put("a/" + std::to_string(i), std::to_string(i));
  server.wait_until([&] { return server.files().size() == 100; }, "the files are recorded");
  server.commit();
  const auto moved = server.expect(
      "200", "PATCH", "/notebooks/n/files/" + server.id_of("a") + "/move?sync=true", R"({"dest_path":"b"})");
  server.commit();
  EXPECT_EQ(server.git("rev-list --count HEAD"), "2\n");
  EXPECT_THAT(server.git("show --stat -M --format= HEAD"), HasSubstr("100 files changed, 0 insertions"));
}

TEST(NotebookBenefits, AFailureInTheMiddleOfAMoveUndoesTheWholeMove) {
  NotebookServer server;
  server.start();
  for (int i = 0; i < 100; ++i) server.put("a/" + std::to_string(i), std::to_string(i));
  server.wait_until([&] { return server.files().size() == 100; }, "the files are recorded");
  const std::string id = server.id_of("a");
  server.expect("200", "POST", "/queues/notebook:n/pause", "{}");
  const auto moved =
      server.expect("202", "PATCH", "/notebooks/n/files/" + id + "/move", R"({"dest_path":"c"})");
  server.put("c/57", "obstacle");
  server.expect("200", "POST", "/queues/notebook:n/resume", "{}");
  const std::string correlation = moved.at("correlation_id").substr(1, moved.at("correlation_id").size() - 2);
  const auto ended = server.expect("200", "POST", "/events/correlation/" + correlation + "/wait");
  EXPECT_EQ(ended.at("failed"), "100");
  EXPECT_EQ(ended.at("completed"), "0");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(server.get("a/" + std::to_string(i)), std::to_string(i));
  const auto event = server.expect("200", "GET", "/events/" + moved.at("event.id"));
  EXPECT_THAT(event.at("error_message"), HasSubstr("c/57"));
}

TEST(NotebookBenefits, OperationsAreAppliedInTheOrderOfTheirRequests) {
  NotebookServer server;
  server.start();
  const std::string id = server.make("a", "0").at("id");
  server.expect("200", "POST", "/queues/notebook:n/pause", "{}");
  std::vector<std::string> events;
  for (int i = 1; i <= 20; ++i) {
    const std::string dest = "p" + std::to_string(i);
    events.push_back(server.expect("202", "PUT", "/notebooks/n/files/" + id,
                                   R"({"content":")" + std::to_string(i) + "\"}")["event.id"]);
    events.push_back(server.expect("202", "PATCH", "/notebooks/n/files/" + id + "/move",
                                   R"({"dest_path":")" + dest + "\"}")["event.id"]);
  }
  server.expect("200", "POST", "/queues/notebook:n/resume", "{}");
  for (const std::string& event : events) EXPECT_EQ(server.end_of(event), "\"COMPLETED\"");
  EXPECT_EQ(server.get("p20"), "20");
  EXPECT_EQ(server.files(), (std::map<std::string, std::string>{{"p20", id}}));
}

TEST(NotebookBenefits, AnOperationThatFailsForAWhileIsRetriedAndDoneInTheEnd) {
  NotebookServer server(R"({"retry_backoff":0.05,"max_retries":1000})");
  server.start();
  const std::string id = server.make("a", "0").at("id");
  // A file with the name of kOwnFolder makes every write fail.
  fs::remove_all(server.root() + "/.eventq");
  std::ofstream(server.root() + "/.eventq") << "obstacle";
  const auto update = server.expect("202", "PUT", "/notebooks/n/files/" + id, R"({"content":"1"})");
  const auto behind = server.expect("202", "POST", "/notebooks/n/files", R"({"path":"b","content":"b"})");
  const auto retries = [&] {
    return server.expect("200", "GET", "/events/" + update.at("event.id"))["retry_count"];
  };
  server.wait_until([&] { return retries() != "0"; }, "the first try fails");
  fs::remove(server.root() + "/.eventq");
  EXPECT_EQ(server.end_of(update.at("event.id")), "\"COMPLETED\"");
  EXPECT_EQ(server.end_of(behind.at("event.id")), "\"COMPLETED\"");
  EXPECT_EQ(server.get("a"), "1");
  EXPECT_EQ(server.get("b"), "b");
}

TEST(NotebookBenefits, EveryOperationCanBeFollowedFromPublicationToItsEnd) {
  NotebookServer server;
  server.start();
  server.expect("200", "POST", "/queues/notebook:n/pause", "{}");
  const auto made = server.expect("202", "POST", "/notebooks/n/files", R"({"path":"a","content":"1"})");
  EXPECT_EQ(made.at("status"), "\"PENDING\"");
  EXPECT_EQ(server.expect("200", "GET", "/events/" + made.at("event.id"))["status"], "\"PENDING\"");
  server.expect("200", "POST", "/queues/notebook:n/resume", "{}");
  EXPECT_EQ(server.end_of(made.at("event.id")), "\"COMPLETED\"");
  const auto event = server.expect("200", "GET", "/events/" + made.at("event.id") + "?include_logs=true");
  EXPECT_EQ(event.at("logs[0].action"), "\"PICKED\"");
  EXPECT_EQ(event.at("logs[1].action"), "\"COMPLETED\"");
  server.commit();
  const auto commits = server.expect("200", "GET", "/notebooks/n/commits");
  EXPECT_EQ(commits.at("commits[0].event_ids[0]"), made.at("event_id"));
}

TEST(NotebookBenefits, ManyEditsOfOneFileBecomeOneEventWhileItIsPending) {
  NotebookServer server;
  server.start();
  server.make("a", "0");
  server.expect("200", "POST", "/queues/notebook:n/pause", "{}");
  const std::int64_t before = published(server);
  for (int i = 1; i <= 50; ++i) {
    server.put("a", "edit " + std::to_string(i));
    server.expect("200", "POST", "/notebooks/n/rescan");
  }
  server.wait_until([&] { return published(server) > before; }, "the edits are published");
  const auto queue = server.expect("200", "GET", "/queues/notebook:n");
  EXPECT_EQ(queue.at("depth"), "1") << "all but the last are superseded";
  server.expect("200", "POST", "/queues/notebook:n/resume", "{}");
  server.commit();
  EXPECT_EQ(server.git("show HEAD:a"), "edit 50");
  EXPECT_EQ(server.files().size(), 1U);
}

}  // namespace
}  // namespace eventq
