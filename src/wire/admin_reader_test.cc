// admin_reader_test.cc: answers of servers that are incomplete, or newer than the client.
#include "wire/admin_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace eventq::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AdminReader : public testing::Test {
 protected:
  JsonValue json(const std::string& text) { return parser.parse(text).value(); }

  JsonParser parser;
};

TEST_F(AdminReader, APageThatEndedEarlyContinuesWhereTheSearchStopped) {
  const auto list = read_event_list(json(
      R"({"events":[],"total":0,"total_exact":false,"scanned_to":12,"next":"after-12","missing_shards":[1,3],"new":1})"));

  EXPECT_EQ(list.value().next, EventId{12});
  EXPECT_FALSE(list.value().total_exact);
  EXPECT_THAT(list.value().missing_shards, ElementsAre(1, 3));
}

TEST_F(AdminReader, APartialAnswerNamesTheShardsThatAreMissing) {
  EXPECT_THAT(
      read_failures(json(R"({"failures":[],"partial":true,"missing_shards":[1]})")).value().missing_shards,
      ElementsAre(1));
  EXPECT_THAT(
      read_workers(json(R"({"workers":[],"partial":true,"missing_shards":[0,2]})")).value().missing_shards,
      ElementsAre(0, 2));
  EXPECT_THAT(
      read_figures(json(R"({"queues":[],"failed_24h":0,"waiting_claims":0,"waiting_ends":0,"workers":0,)"
                        R"("stale_workers":0,"partial":true,"missing_shards":[3]})"))
          .value()
          .missing_shards,
      ElementsAre(3));
  EXPECT_EQ(read_workers(json(R"({"workers":[],"missing_shards":["x"]})")).error().field, "missing_shards");
}

TEST_F(AdminReader, AnAnswerWithoutARequiredMemberIsRefused) {
  const auto list = read_event_list(json(R"({"events":[{"id":1}],"total":1,"total_exact":true})"));
  EXPECT_EQ(list.error().code, ErrorCode::internal);
  EXPECT_EQ(list.error().field, "events[0].event_id");

  EXPECT_EQ(read_failures(json("{}")).error().field, "failures");
  EXPECT_EQ(read_workers(json(R"({"workers":[{}]})")).error().field, "workers[0].worker_id");
  EXPECT_THAT(read_figures(json(R"({"queues":[{"queue":"main"}]})")).error().message,
              HasSubstr("counts is missing"));
}

}  // namespace
}  // namespace eventq::wire
