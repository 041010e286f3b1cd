// cli_examples_test.cc: runs every example of the command table unchanged against a live server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command_table.h"
#include "support/http_client.h"
#include "support/postgres_cluster.h"
#include "support/process.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::AnyOf;

struct Line {
  std::string command;
  std::string text;
};

void PrintTo(const Line& line, std::ostream* out) { *out << line.text; }

std::vector<Line> all_lines() {
  std::vector<Line> lines;
  for (const cli::CommandSpec& command : cli::all_commands()) {
    for (const cli::Example& example : command.examples) {
      lines.push_back({std::string(command.name), std::string(example.line)});
    }
  }
  return lines;
}

bool is_a_server(const Line& line) {
  return line.text.starts_with("eventq dev") ||
         (line.text.starts_with("eventq serve") && line.text.find("--print-config") == std::string::npos);
}

// These commands run until a signal ends them, so the test sends one.
bool has_no_end(const Line& line) {
  const bool works = line.command == "work" && line.text.find("--until-empty") == std::string::npos;
  return is_a_server(line) || works || line.command == "tail";
}

// Replaces the users and hosts of the examples by a database of this test.
class ExampleDatabase {
 public:
  explicit ExampleDatabase(const Line& line) {
    if (line.text.find("postgres://") == std::string::npos) return;
    if (line.command == "migrate status") {
      database_.emplace();
    } else {
      database_.emplace(TestDatabase::Empty());
    }
  }

  [[nodiscard]] std::string put_into(const std::string& line) const {
    if (!database_) return line;
    return std::regex_replace(line, std::regex("postgres://[a-z]+@db/eventq"), "'" + database_->url() + "'");
  }

 private:
  std::optional<TestDatabase> database_;
};

class CliExamplesTest : public testing::TestWithParam<Line> {
 protected:
  // Events 1 to 3 are completed, 4 to 17 have failed, 18 to 20 wait in another queue.
  void prepare(HttpClient& client) {
    for (int id = 1; id <= 20; ++id) {
      const auto answer = client.post(
          "/events",
          std::string(R"({"title":"t","tags":["prepared"],"payload":{"to":"a@example.com"},"queue":")") +
              (id <= 17 ? "mail" : "main") + "\"}");
      ASSERT_EQ(answer->status, 201) << answer->body;
    }
    for (int id = 1; id <= 17; ++id) {
      ASSERT_EQ(client.get("/events/subscribe?tags=prepared&worker_id=host-a:8742&queue=mail")->status, 200);
      const auto answer =
          client.post("/events/" + std::to_string(id) + (id <= 3 ? "/complete" : "/fail"),
                      id <= 3 ? R"({"worker_id":"host-a:8742"})"
                              : R"({"worker_id":"host-a:8742","error_message":"it rains","permanent":true})");
      ASSERT_THAT(answer->status, AnyOf(200, 400)) << answer->body;
    }
    ASSERT_EQ(client.request("PUT", "/queues/old", R"({"config":{}})")->status / 100, 2);
  }

  static void add_notebook(HttpClient& client, const std::string& folder) {
    std::filesystem::create_directory(folder);
    const auto added = client.post("/notebooks", R"({"name":"notes","path":")" + folder + R"("})");
    ASSERT_EQ(added->status, 201) << added->body;
  }

  static void write_files(const std::string& folder) {
    std::filesystem::create_directory(folder + "journal");
    std::ofstream(folder + "orders.ndjson") << R"({"title":"Order","tags":["order"],"payload":{"n":1}})"
                                               "\n";
    std::ofstream(folder + "mail.json") << R"({"to":"a@example.com"})"
                                           "\n";
    std::ofstream(folder + "send.sh") << "#!/bin/sh\ncat >/dev/null\n";
    std::filesystem::permissions(folder + "send.sh", std::filesystem::perms::owner_all);
  }
};

TEST_P(CliExamplesTest, TheExampleExitsAsExpected) {
  ServerProcess server({"--notebooks-allow", "."});
  ASSERT_TRUE(server.start()) << server.log();
  HttpClient client(server.port());
  prepare(client);
  if (GetParam().command.starts_with("notebook")) add_notebook(client, server.file("notes"));
  const TemporaryDirectory other;
  const std::string folder = is_a_server(GetParam()) ? other.file("") : server.file("");
  write_files(folder);

  const std::string program = eventq_program("", {}).command.front();
  const std::vector<std::string> environment = {
      "PATH=" + program.substr(0, program.rfind('/')) + ":/usr/bin:/bin", "EVENTQ_LISTEN=127.0.0.1:0",
      "EVENTQ_URL=http://127.0.0.1:" + std::to_string(server.port())};
  // A worker completes events, so that examples that wait for an event end.
  const Process worker({.command = {program, "work", "report", "--exec", "true"},
                        .environment = environment,
                        .directory = folder});

  // `eventq move` needs a store that no server uses.
  if (GetParam().command == "move") server.terminate();
  const ExampleDatabase database(GetParam());
  // Absolute paths of other machines become paths in this folder.
  const std::string line =
      std::regex_replace(database.put_into(GetParam().text), std::regex("/(mnt|var)/[a-z/]+/"), "./") +
      " </dev/null";
  const std::vector<std::string> command = {"/usr/bin/timeout",
                                            "--signal=INT",
                                            "--preserve-status",
                                            has_no_end(GetParam()) ? "2" : "20",
                                            "/bin/bash",
                                            "-c",
                                            line};
  const Finished finished = run({.command = command, .environment = environment, .directory = folder});
  if (GetParam().text.find("--expect") != std::string::npos) {
    EXPECT_EQ(finished.exit_code, 6) << "the queue of this test has another number of events\n"
                                     << finished.out << finished.err;
  } else if (has_no_end(GetParam())) {
    EXPECT_THAT(finished.exit_code, AnyOf(0, 130)) << finished.out << finished.err;
  } else {
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  }
}

INSTANTIATE_TEST_SUITE_P(All, CliExamplesTest, testing::ValuesIn(all_lines()), [](const auto& test) {
  std::string name = test.param.command + "_" + std::to_string(test.index);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace eventq
