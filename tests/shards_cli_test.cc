// shards_cli_test.cc: the command line while a shard is down must report incomplete results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/postgres_cluster.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ShardsOnTheCommandLine, AListWithAMissingShardSaysSoAndFails) {
  OwnCluster other;
  const TestDatabase first(TestDatabase::Empty{});
  ServerProcess server({"--store", first.url(), "--store", other.add_database("second"), "--migrate"});
  ASSERT_TRUE(server.start()) << server.log();
  HttpClient client(server.port());
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(client.post("/events", R"({"title":"t","tags":"x"})")->status, 201);
  }
  const TemporaryDirectory folder;
  const auto eventq = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--url", "http://127.0.0.1:" + std::to_string(server.port())});
    return run(eventq_program(folder.file(""), arguments));
  };
  const std::vector<std::vector<std::string>> lists = {
      {"ls"}, {"export"}, {"queue", "ls"}, {"worker", "ls"}, {"top", "--once"}};
  for (const auto& list : lists) EXPECT_EQ(eventq(list).exit_code, 0) << list.front();

  other.stop(OwnCluster::Stop::immediate);
  // Waits until the server has noticed.
  while (client.get("/readyz")->body.find("missing_shards") == std::string::npos) {
  }
  for (const auto& list : lists) {
    const auto listed = eventq(list);
    EXPECT_EQ(listed.exit_code, 1) << list.front();
    EXPECT_THAT(listed.err, HasSubstr("shard 1 is unreachable: the data there is missing here"))
        << list.front();
  }
  EXPECT_THAT(eventq({"ls"}).out, HasSubstr(R"("title":"t")"));
  const auto cancelled = eventq({"cancel", "--filter", "tag:x", "--yes"});
  EXPECT_EQ(cancelled.exit_code, 1);
  EXPECT_THAT(cancelled.err, HasSubstr("Nothing changed."));
  EXPECT_THAT(client.get("/events")->body, Not(HasSubstr("CANCELLED")));
  EXPECT_THAT(eventq({"doctor"}).out, HasSubstr(R"("check":"shards","text":"unreachable: 1")"));
}

}  // namespace
}  // namespace eventq
