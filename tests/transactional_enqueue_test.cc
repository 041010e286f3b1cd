// transactional_enqueue_test.cc: eventq.publish() and eventq.complete() in an application's own transaction,
// with a server on the same database. Runs the examples of docs/transactional.md word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/postgres/connection.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/postgres_cluster.h"
#include "support/server_process.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The SQL blocks of the document, in order.
std::vector<std::string> blocks_of_document() {
  std::vector<std::string> blocks;
  bool inside = false;
  for (const std::string& line : lines_of(content_of(EVENTQ_SOURCE_DIR "/docs/transactional.md"))) {
    if (line == "```sql") {
      inside = true;
      blocks.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

class TransactionalEnqueue : public testing::Test {
 protected:
  TransactionalEnqueue() : server_({"--store", database_.url()}) {
    auto opened = postgres::PgConnection::open(database_.url());
    EXPECT_TRUE(opened) << opened.error().message;
    application_ = std::move(*opened);
    EXPECT_TRUE(server_.start()) << server_.log();
    client_ = std::make_unique<HttpClient>(server_.port());
  }

  void run(const std::string& sql) {
    const auto done = application_->script(sql);
    ASSERT_TRUE(done) << sql << "\n" << done.error().message;
  }
  // Runs SQL that must fail and rolls back. Returns the error.
  std::string refused(const std::string& sql) {
    const auto done = application_->script(sql);
    EXPECT_FALSE(done) << sql;
    static_cast<void>(application_->script("ROLLBACK"));
    return done ? "" : done.error().message;
  }
  // The first column of each row.
  std::vector<std::string> query(const std::string& sql) {
    const std::string& kept = *statements_.emplace_back(std::make_unique<std::string>(sql));
    const auto rows = application_->run_one(kept);
    EXPECT_TRUE(rows) << sql << "\n" << rows.error().message;
    std::vector<std::string> texts;
    for (std::size_t i = 0; rows && i < rows->size(); ++i) texts.emplace_back(rows->text(i, 0));
    return texts;
  }

  // Claims events, waiting for them. Returns their ids and attempts.
  std::vector<std::pair<std::int64_t, std::int64_t>> claim(const std::string& body) {
    const auto answer = client_->post("/events/subscribe", body);
    EXPECT_TRUE(answer) << answer.error().message;
    std::vector<std::pair<std::int64_t, std::int64_t>> claimed;
    if (!answer) return claimed;
    EXPECT_EQ(answer->status, 200) << answer->body;
    const std::string& text = answer->body;
    for (std::size_t at = text.find("\"id\":"); at != std::string::npos; at = text.find("\"id\":", at + 1)) {
      const std::size_t attempts = text.find("\"attempts\":", at);
      claimed.emplace_back(std::stoll(text.substr(at + 5)), std::stoll(text.substr(attempts + 11)));
    }
    return claimed;
  }

  // Runs all checks of `eventq verify` on a copy in a file.
  std::string verified() {
    server_.terminate();
    application_.reset();
    const TemporaryDirectory folder;
    const auto moved =
        eventq::run(eventq_program(folder.file(""), {"move", database_.url(), "sqlite:copy.db"}));
    if (moved.exit_code != 0) return moved.err;
    return audit_queues(folder.file("copy.db"));
  }

  TestDatabase database_;
  ServerProcess server_;
  std::unique_ptr<postgres::PgConnection> application_;
  std::unique_ptr<HttpClient> client_;
  std::vector<std::unique_ptr<std::string>> statements_;  // a connection identifies them by address
};

TEST_F(TransactionalEnqueue, TheDocumentedExampleDoesWhatTheDocumentSays) {
  const auto blocks = blocks_of_document();
  ASSERT_EQ(blocks.size(), 4U);
  // A name per database, because all databases of a cluster share its roles.
  const std::string role = "shop_of_" + query("SELECT current_database()::text").at(0);
  run(replaced(blocks[0], "shop", role));
  run(blocks[1]);
  run("GRANT ALL ON orders TO " + role + "; SET ROLE " + role);
  run(replaced(blocks[2], "COMMIT", "ROLLBACK"));
  run(blocks[2]);

  const auto claimed = claim(R"({"worker_id":"cashier:1","tags":"order","limit":10,"wait":10})");
  ASSERT_EQ(claimed.size(), 1U);
  const auto [id, attempt] = claimed.front();
  const std::string report =
      replaced(replaced(blocks[3], ":id", std::to_string(id)), ":attempt", std::to_string(attempt));
  run(replaced(report, "COMMIT", "ROLLBACK"));
  EXPECT_THAT(query("SELECT 'unpaid' FROM orders WHERE paid_at IS NULL"), ElementsAre("unpaid"));
  run(report);
  EXPECT_THAT(query("SELECT 'paid' FROM orders WHERE paid_at IS NOT NULL"), ElementsAre("paid"));
  EXPECT_THAT(refused(report), HasSubstr("completed by cashier:1 as attempt 1 already"));
  const auto event = client_->get("/events/" + std::to_string(id));
  ASSERT_TRUE(event);
  EXPECT_THAT(event->body, HasSubstr("\"COMPLETED\""));
  run("RESET ROLE; DROP OWNED BY " + role + "; DROP ROLE " + role);
  EXPECT_EQ(verified(), "");
}

TEST_F(TransactionalEnqueue, ARolledBackPublicationLeavesNothing) {
  run("BEGIN; SELECT eventq.publish('a', '{x}', queue => 'q', correlation_id => 'c', ordering_key => 'k'); "
      "ROLLBACK");
  EXPECT_THAT(query("SELECT id FROM eventq.event_body"), IsEmpty());
  EXPECT_THAT(query("SELECT id FROM eventq.event_queue_state WHERE id = 'q'"), IsEmpty());
  EXPECT_THAT(query("SELECT id FROM eventq.correlation"), IsEmpty());
  EXPECT_EQ(verified(), "");
}

TEST_F(TransactionalEnqueue, FollowsTheRulesOfTheServerForLinesSupersedingAndCorrelations) {
  run("SELECT eventq.publish('1', '{x}', queue => 'q', correlation_id => 'c', ordering_key => 'k')");
  run("SELECT eventq.publish('2', '{x}', queue => 'q', supersede_key => 's', ordering_key => 'k')");
  const auto third = client_->post(
      "/events",
      R"({"title":"3","tags":"x","queue":"q","supersede_key":"s","ordering_key":"k","correlation_id":"c"})");
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 201) << third->body;
  run("SELECT eventq.publish('4', '{x}', queue => 'q', supersede_key => 's', event_id => 'e')");
  EXPECT_THAT(query("SELECT eventq.publish('again', '{x}', event_id => 'e')::text"),
              query("SELECT id::text FROM eventq.event_body WHERE title = '4'"));
  EXPECT_THAT(query("SELECT title || ' ' || status FROM eventq.event ORDER BY title"),
              ElementsAre("1 PENDING", "2 SUPERSEDED", "3 SUPERSEDED", "4 PENDING"));

  run("SELECT eventq.publish('5', '{x}', queue => 'q', ordering_key => 'k')");
  auto claimed = claim(R"({"worker_id":"w:1","tags":"x","queue":"q","limit":10,"wait":10})");
  ASSERT_EQ(claimed.size(), 2U);  // 1 and 4
  for (const auto& [id, attempt] : claimed) {
    run("SELECT eventq.complete(" + std::to_string(id) + ", 'w:1', " + std::to_string(attempt) + ")");
  }
  claimed = claim(R"({"worker_id":"w:1","tags":"x","queue":"q","limit":10,"wait":10})");
  ASSERT_EQ(claimed.size(), 1U);  // 5 became the head of its line
  EXPECT_THAT(refused("SELECT eventq.complete(" + std::to_string(claimed[0].first) + ", 'w:2', 1)"),
              HasSubstr("held by w:1 as attempt 1; w:2 with attempt 1 does not hold it"));
  const auto correlation = client_->get("/events/correlation/c");
  ASSERT_TRUE(correlation);
  EXPECT_THAT(correlation->body, HasSubstr("\"completed\":1"));
  EXPECT_EQ(verified(), "");
}

TEST_F(TransactionalEnqueue, PublishesTheOnCompleteEventOfABatch) {
  const auto batch = client_->post("/events/batch",
                                   R"({"correlation_id":"c","events":[{"title":"a","tags":"x"}],
          "on_complete":{"title":"all done","tags":"fin","payload":{"n":[1.0,  2]}}})");
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->status, 201) << batch->body;
  const auto claimed = claim(R"({"worker_id":"w:1","tags":"x","wait":10})");
  ASSERT_EQ(claimed.size(), 1U);
  run("SELECT eventq.complete(" + std::to_string(claimed[0].first) + ", 'w:1', 1)");
  EXPECT_EQ(claim(R"({"worker_id":"w:1","tags":"fin","wait":10})").size(), 1U);
  EXPECT_THAT(query("SELECT payload FROM eventq.event_body WHERE title = 'all done'"),
              ElementsAre(R"({"n":[1.0,  2]})"));
  EXPECT_EQ(verified(), "");
}

TEST_F(TransactionalEnqueue, AnOnCompleteEventWithoutAPayloadHasTheResults) {
  const auto batch =
      client_->post("/events/batch",
                    R"({"correlation_id":"c","events":[{"title":"a","tags":"x","event_id":"e1"},
          {"title":"b","tags":"x","event_id":"e2"}],"on_complete":{"title":"all done","tags":"fin","max_attempts":7}})");
  ASSERT_TRUE(batch);
  const auto claimed = claim(R"({"worker_id":"w:1","tags":"x","limit":2,"wait":10})");
  ASSERT_EQ(claimed.size(), 2U);
  const std::string first = std::to_string(claimed[0].first);
  const std::string last = std::to_string(claimed[1].first);
  ASSERT_TRUE(client_->post("/events/" + first + "/complete", R"({"worker_id":"w:1","result":{"n": 1.0}})"));
  run("SELECT eventq.complete(" + last + ", 'w:1', 1)");

  EXPECT_THAT(
      query("SELECT payload FROM eventq.event_body WHERE title = 'all done'"),
      ElementsAre(R"({"correlation_id":"c","total":2,"completed":2,"failed":0,"results":[{"id":)" + first +
                  R"(,"event_id":"e1","status":"COMPLETED","result":{"n": 1.0}},{"id":)" + last +
                  R"(,"event_id":"e2","status":"COMPLETED","result":null}],"results_complete":true})"));
  EXPECT_THAT(query("SELECT retry FROM eventq.event_body WHERE title = 'all done'"),
              ElementsAre("fixed 300000 3600000 0 7 queue"));
  EXPECT_EQ(verified(), "");
}

TEST_F(TransactionalEnqueue, RefusesWhatTheApiRefuses) {
  const auto publish = [&](const std::string& rest) {
    return refused("SELECT eventq.publish('t', '{x}'" + rest + ")");
  };
  EXPECT_THAT(refused("SELECT eventq.publish('', '{x}')"), HasSubstr("title is missing or empty"));
  EXPECT_THAT(refused("SELECT eventq.publish(repeat('\u00e9', 201), '{x}')"),
              HasSubstr("title has 201 characters"));
  run("SELECT eventq.publish(repeat('\u00e9', 200), '{x}')");
  EXPECT_THAT(refused("SELECT eventq.publish('t', '{}')"), HasSubstr("There are no tags"));
  EXPECT_THAT(refused("SELECT eventq.publish('t', ARRAY[repeat('x', 65)])"),
              HasSubstr("65 characters; a tag may have 64"));
  EXPECT_THAT(publish(", queue => 'a b'"), HasSubstr("queue has a character outside"));
  EXPECT_THAT(publish(", priority => 1000001"), HasSubstr("priority is 1000001"));
  EXPECT_THAT(publish(", max_retries => 1001"), HasSubstr("max_retries is 1001"));
  EXPECT_THAT(publish(", event_id => 'a b'"), HasSubstr("event_id must be visible ASCII"));
  EXPECT_THAT(publish(", ordering_key => repeat('k', 513)"), HasSubstr("ordering_key has 513 bytes"));
  run("SELECT eventq.publish('t', '{x}', ordering_key => repeat('k', 512))");
  EXPECT_THAT(publish(", delay => '366 days'"), HasSubstr("delay is 31622400000 ms"));
  EXPECT_THAT(publish(", delay => '1 s', run_at => now()"), HasSubstr("delay and run_at both"));
  EXPECT_THAT(publish(", run_at => '10000-01-01 00:00Z'"),
              HasSubstr("run_at is not a time up to the year 9999"));
  EXPECT_THAT(publish(", run_at => 'infinity'"), HasSubstr("run_at is not a time"));
  run("SELECT eventq.publish('t', '{x}', run_at => '9999-12-31 23:59:59.999Z')");
  EXPECT_THAT(publish(", payload => to_jsonb(repeat('x', 1048575))"), HasSubstr("payload has 1048577 bytes"));
  run("SELECT eventq.publish('t', '{x}', payload => to_jsonb(repeat('x', 1048574)))");
  EXPECT_THAT(publish(", payload => (repeat('[', 64) || repeat(']', 64))::jsonb"),
              HasSubstr("more than 63 deep"));
  run("SELECT eventq.publish('t', '{x}', payload => (repeat('[', 63) || repeat(']', 63))::jsonb)");
  EXPECT_THAT(refused("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT eventq.publish('t', '{x}')"),
              HasSubstr("need READ COMMITTED"));
  EXPECT_THAT(refused("SELECT eventq.complete(999999, 'w:1', 1)"), HasSubstr("There is no event 999999"));
  EXPECT_THAT(refused("SELECT eventq.complete(NULL, 'w:1', 1)"), HasSubstr("id is missing"));

  ASSERT_TRUE(client_->request("PUT", "/queues/small", R"({"maxQueueDepth":1})"));
  run("SELECT eventq.publish('t', '{x}', queue => 'small')");
  EXPECT_THAT(publish(", queue => 'small'"), HasSubstr("is full: it holds 1 live events of at most 1"));
  ASSERT_TRUE(client_->post("/queues/small/drain"));
  EXPECT_THAT(publish(", queue => 'small'"), HasSubstr("is draining"));
  EXPECT_EQ(verified(), "");
}

}  // namespace
}  // namespace eventq
