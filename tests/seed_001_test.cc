// seed_001_test.cc: what a caller who knows only seed 001 sends: its spellings, bodies, patterns and paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "notebook_server.h"
#include "support/local_api.h"

namespace eventq {
namespace {

using testing::HasSubstr;

using namespace std::chrono_literals;

// Calls of a queue, at a clock that only the test moves. The tests of notebooks start the complete program
// with the notebook `n`, which makes no commit by itself.
class Seed001 : public LocalApiTest {
 protected:
  // Publishes an event as the seed's publisher does, and returns it when it has ended.
  JsonLines publish_raw(const std::string& pattern, const std::string& operation) {
    const auto event = notes_.expect("201", "POST", "/events",
                                     R"({"title":"event","tags":"file","queue":"notebook:n","pattern":")" +
                                         pattern + R"(","payload":)" + operation + "}");
    return notes_.expect("200", "POST", "/events/" + event.at("id") + "/wait?timeout=300.0");
  }
  void pause_notebook() { notes_.expect("200", "POST", "/queues/notebook%3An/pause"); }
  void add_other_notebook() {
    std::filesystem::create_directory(notes_.server().file("other"));
    notes_.expect("201", "POST", "/notebooks",
                  R"({"name":"other","path":")" + notes_.server().file("other") + R"("})");
  }

  NotebookServer notes_{R"({"git_commit_interval":3600})"};
};

TEST_F(Seed001, AStatusMayBeLowerCaseInAQuery) {
  publish("mail");
  complete(claim("mail"));
  publish("mail");

  EXPECT_EQ(at(get("/events?status=pending"), "events[0].id"), "2");
  EXPECT_EQ(at(get("/events?status=pending"), "total"), "1");
  EXPECT_EQ(at(get("/events?status=Completed"), "events[0].id"), "1");
  EXPECT_EQ(get("/events?status=done").status, 400);
  const HttpResponse replayed =
      post("/queues/mail/replay", R"({"from":"2024-01-01T00:00:00Z","statuses":["completed"]})");
  EXPECT_EQ(replayed.status, 200) << replayed.body;
}

TEST_F(Seed001, IncludeLogsMayBeTrueOneOrYes) {
  publish("mail");
  claim("mail");

  for (const std::string yes : {"true", "True", "1", "yes", "YES"}) {
    EXPECT_EQ(at(get("/events/1?include_logs=" + yes), "logs[0].action"), R"("PICKED")") << yes;
  }
  for (const std::string no : {"false", "False", "0", "no"}) {
    EXPECT_EQ(at(get("/events/1?include_logs=" + no), "logs[0].action"), "") << no;
  }
  EXPECT_EQ(get("/events/1?include_logs=2").status, 400);
  EXPECT_EQ(get("/events/1?include_logs=").status, 400);
}

TEST_F(Seed001, AWaitTakesATimeoutWithAFraction) {
  publish("mail");
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=30.0");

  advance(30s - 1ms);
  EXPECT_FALSE(waiter.readable_within(0ms));
  advance(1ms);

  EXPECT_EQ(waiter.receive().value().status, 408);
  EXPECT_EQ(post("/events/1/wait?timeout=0.0").status, 408);
}

TEST_F(Seed001, AWaitMayLastAnHourInOneCall) {
  publish("mail");
  HttpClient waiter = waiting("POST", "/events/1/wait?timeout=3600");
  HttpClient worker = waiting("GET", "/events/subscribe?tags=other&worker_id=w:2&queue=mail&wait=3600");

  advance(1h - 1ms);
  EXPECT_FALSE(waiter.readable_within(0ms));
  EXPECT_FALSE(worker.readable_within(0ms));
  complete(claim("mail"));

  EXPECT_EQ(at(waiter.receive().value(), "status"), R"("COMPLETED")");
  advance(1ms);
  EXPECT_EQ(worker.receive().value().status, 204);
}

TEST_F(Seed001, ATrailingSlashIsTheSameRoute) {
  EXPECT_EQ(post("/events/", R"({"title":"event","tags":"t"})").status, 201);
  EXPECT_EQ(at(get("/events/1/"), "status"), R"("PENDING")");
  EXPECT_EQ(at(get("/events/?status=PENDING"), "total"), "1");
  EXPECT_EQ(post("/queues/main/pause/").status, 200);
  EXPECT_EQ(request("DELETE", "/events/").status, 405);
  EXPECT_EQ(get("/events//").status, 404);
  EXPECT_EQ(get("//").status, 404);
}

TEST_F(Seed001, ATrailingSlashKeepsAnIdempotencyKey) {
  const std::string event = R"({"title":"event","tags":"t"})";
  const HttpHeaders key = {{"Idempotency-Key", "order-1"}};

  const HttpResponse first = post("/events", event, key);
  const HttpResponse second = post("/events/", event, key);

  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(second.header("Idempotency-Replayed"), "true");
}

TEST_F(Seed001, SyncMayBeTrueOneOrYes) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  int folders = 0;
  // A folder for each, because true.md and True.md cannot be beside each other.
  for (const std::string yes : {"true", "True", "1", "yes"}) {
    const std::string path = std::to_string(++folders) + "/" + yes + ".md";
    const auto made = notes_.expect("201", "POST", "/notebooks/n/files/?sync=" + yes + "&timeout=300.0",
                                    R"({"path":"/)" + path + R"(","content":"x"})");
    EXPECT_EQ(made.at("path"), '"' + path + '"');
  }
  for (const std::string no : {"false", "False", "0", "no"}) {
    const std::string path = std::to_string(++folders) + "/" + no + ".md";
    notes_.expect("202", "POST", "/notebooks/n/files?sync=" + no, R"({"path":"/)" + path + R"("})");
  }
}

TEST_F(Seed001, ACreateTakesTitleAndDescriptionBesidePath) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const std::string body =
      R"({"path":"/notes/foo.md","content":"hello","title":"Foo","description":"A note"})";

  const auto made = notes_.expect("201", "POST", "/notebooks/n/files/?sync=true", body);

  EXPECT_EQ(made.at("title"), R"("Foo")");
  EXPECT_EQ(made.at("description"), R"("A note")");
  EXPECT_EQ(made.at("path"), R"("notes/foo.md")");
  const auto updated = notes_.expect("200", "PUT", "/notebooks/n/files/" + made.at("id") + "?sync=true",
                                     R"({"title":"Bar","metadata":{"title":"Bar","mood":"calm"}})");
  EXPECT_EQ(updated.at("title"), R"("Bar")");
  EXPECT_EQ(updated.at("description"), R"("A note")");
  EXPECT_EQ(updated.at("extra.mood"), R"("calm")");
  EXPECT_EQ(notes_.get("notes/foo.md"), "hello");
}

TEST_F(Seed001, TwoDifferentTitlesAreRefused) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  auto refused = notes_.expect("400", "POST", "/notebooks/n/files",
                               R"({"path":"a.md","title":"One","metadata":{"title":"Two"}})");
  EXPECT_EQ(refused["field"], R"("title")");
  EXPECT_EQ(refused["error"], R"("title and metadata.title have different texts; send one of them.")");
  refused = notes_.expect("400", "POST", "/notebooks/n/files",
                          R"({"path":"a.md","description":"","metadata":{"description":"Two"}})");
  EXPECT_EQ(refused["field"], R"("description")");
  EXPECT_EQ(notes_.id_of("a.md"), "");
}

TEST_F(Seed001, AMoveTakesASourcePathThatAgrees) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const std::string id = notes_.make("notes/foo.md", "x").at("id");

  auto moved = notes_.expect("200", "PATCH", "/notebooks/n/files/" + id + "/move?sync=true",
                             R"({"source_path":"/notes/foo.md","dest_path":"/archive/foo.md"})");

  EXPECT_EQ(moved["path"], R"("archive/foo.md")");
  EXPECT_EQ(notes_.get("archive/foo.md"), "x");
  EXPECT_EQ(notes_.get("notes/foo.md"), "(absent)");
}

TEST_F(Seed001, AMoveAgreesWithWhereEarlierMovesWillPutTheFile) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const std::string move = "/notebooks/n/files/" + notes_.make("a.md", "x").at("id") + "/move";
  pause_notebook();
  notes_.expect("202", "PATCH", move, R"({"source_path":"a.md","dest_path":"b.md"})");

  notes_.expect("409", "PATCH", move, R"({"source_path":"a.md","dest_path":"c.md"})");
  notes_.expect("202", "PATCH", move, R"({"source_path":"b.md","dest_path":"c.md"})");
}

TEST_F(Seed001, AMoveWithAnotherSourcePathIsRefusedAndChangesNothing) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const std::string move = "/notebooks/n/files/" + notes_.make("a.md", "x").at("id") + "/move";

  auto refused = notes_.expect("409", "PATCH", move, R"({"source_path":"/b.md","dest_path":"/c.md"})");

  EXPECT_EQ(refused["field"], R"("source_path")");
  EXPECT_THAT(refused["error"], HasSubstr(R"(is at "a.md", not at "b.md".)"));
  EXPECT_EQ(notes_.expect("400", "PATCH", move, R"({"source_path":"/../a.md","dest_path":"c"})")["field"],
            R"("source_path")");
  EXPECT_EQ(notes_.expect("200", "GET", "/events?queue=notebook%3An")["total"], "1");
  EXPECT_EQ(notes_.get("a.md"), "x");
}

TEST_F(Seed001, ACommitWithoutANotebookCommitsAll) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  add_other_notebook();
  notes_.make("a.md", "x");
  notes_.expect("201", "POST", "/notebooks/other/files?sync=true", R"({"path":"b.md","content":"y"})");

  auto done = notes_.expect("200", "POST", "/events/commit?sync=true&timeout=300.0");

  EXPECT_EQ(done["commits[0].notebook"], R"("n")");
  EXPECT_EQ(done["commits[0].status"], R"("COMPLETED")");
  EXPECT_THAT(done["commits[0].event_id"], HasSubstr("evt_"));
  EXPECT_EQ(done["commits[1].notebook"], R"("other")");
  EXPECT_EQ(done["commits[1].status"], R"("COMPLETED")");
  EXPECT_EQ(done["commits[2].notebook"], "");
  for (const std::string name : {"n", "other"}) {
    EXPECT_EQ(notes_.expect("200", "GET", "/notebooks/" + name)["uncommitted"], "0") << name;
    EXPECT_EQ(notes_.expect("200", "GET", "/notebooks/" + name + "/commits")["commits[0].files"], "1")
        << name;
  }
}

TEST_F(Seed001, ACommitOfAllAnswersAtOnceWithoutSyncAndWhenTheTimeIsOver) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  pause_notebook();

  auto accepted = notes_.expect("202", "POST", "/events/commit/");
  auto late = notes_.expect("202", "POST", "/events/commit?sync=1&timeout=0.0");

  EXPECT_EQ(accepted["commits[0].status"], R"("PENDING")");
  EXPECT_EQ(late["commits[0].status"], R"("PENDING")");
  EXPECT_NE(late["commits[0].event.id"], accepted["commits[0].event.id"]);
  notes_.expect("400", "POST", "/events/commit?timeout=1");
  notes_.expect("404", "POST", "/events/commit?notebook=");
}

TEST_F(Seed001, ACommitOfAllSaysWhichNotebookRefused) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  add_other_notebook();
  notes_.expect("200", "POST", "/queues/notebook%3Aother/drain");

  auto some = notes_.expect("200", "POST", "/events/commit?sync=true&timeout=300");
  EXPECT_EQ(some["commits[0].status"], R"("COMPLETED")");
  EXPECT_EQ(some["commits[1].notebook"], R"("other")");
  EXPECT_EQ(some["commits[1].event.id"], "");
  EXPECT_THAT(some["commits[1].error"], HasSubstr("notebook:other"));

  notes_.expect("200", "POST", "/queues/notebook%3An/drain");
  notes_.expect("409", "POST", "/events/commit");
}

TEST_F(Seed001, ARawEventMayBeCalledCreateUpdateMoveDeleteSyncOrBatchCommit) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  EXPECT_EQ(publish_raw("create",
                        R"({"path":"/notes/foo.md","content":"one","metadata":{"title":"Foo"}})")["status"],
            R"("COMPLETED")");
  EXPECT_EQ(notes_.get("notes/foo.md"), "one");
  EXPECT_EQ(publish_raw("update", R"({"path":"/notes/foo.md","content":"two","metadata":{}})")["status"],
            R"("COMPLETED")");
  EXPECT_EQ(notes_.get("notes/foo.md"), "two");
  EXPECT_EQ(publish_raw("move", R"({"source_path":"/notes/foo.md","dest_path":"/archive/foo.md"})")["status"],
            R"("COMPLETED")");
  EXPECT_EQ(notes_.get("archive/foo.md"), "two");
  EXPECT_EQ(publish_raw("sync", R"({"path":"/archive/foo.md","event":"modified"})")["status"],
            R"("COMPLETED")");
  EXPECT_EQ(publish_raw("batch_commit", "{}")["status"], R"("COMPLETED")");
  EXPECT_THAT(notes_.git("ls-files"), HasSubstr("archive/foo.md"));
  EXPECT_EQ(publish_raw("delete", R"({"path":"/archive/foo.md"})")["status"], R"("COMPLETED")");
  EXPECT_EQ(notes_.get("archive/foo.md"), "(absent)");
  // The event keeps the pattern and the payload that its publisher sent.
  auto first = notes_.expect("200", "GET", "/events/1");
  EXPECT_EQ(first["pattern"], R"("create")");
  EXPECT_THAT(first["payload"], HasSubstr(R"("/notes/foo.md")"));
}

TEST_F(Seed001, ARawEventOfAnotherPatternFailsWithTheList) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  pause_notebook();
  const auto event = notes_.expect("201", "POST", "/events",
                                   R"({"title":"event","tags":"file","queue":"notebook:n","max_retries":1,)"
                                   R"("pattern":"rename","payload":{"path":"a"}})");
  notes_.expect("200", "POST", "/queues/notebook%3An/resume");

  auto ended = notes_.expect("200", "POST", "/events/" + event.at("id") + "/wait?timeout=300");

  EXPECT_EQ(ended["status"], R"("FAILED")");
  EXPECT_THAT(ended["error_message"], HasSubstr("file.create"));
}

TEST_F(Seed001, APathWithALeadingSlashIsInTheNotebook) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const auto made = notes_.make("/notes/foo.md", "x");
  EXPECT_EQ(made.at("path"), R"("notes/foo.md")");
  EXPECT_EQ(notes_.get("notes/foo.md"), "x");
  // Both spellings are one path.
  notes_.expect("409", "POST", "/notebooks/n/files?sync=true", R"({"path":"notes/foo.md"})");
  notes_.expect("409", "POST", "/notebooks/n/files?sync=true", R"({"path":"/notes/foo.md"})");
}

TEST_F(Seed001, AnAbsolutePathNeverLeavesTheNotebook) {
  ASSERT_NO_FATAL_FAILURE(notes_.start());
  const std::string outside = notes_.server().file("outside");
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, notes_.root() + "/link");

  EXPECT_EQ(notes_.make("/etc/x.md", "x").at("path"), R"("etc/x.md")");
  EXPECT_EQ(notes_.get("etc/x.md"), "x");
  EXPECT_FALSE(std::filesystem::exists("/etc/x.md"));
  // The path of a folder beside the notebook becomes folders inside it.
  const std::string raw = outside + "/raw.md";
  EXPECT_EQ(publish_raw("create", R"({"path":")" + raw + R"(","content":"y"})")["status"], R"("COMPLETED")");
  EXPECT_EQ(notes_.get(raw.substr(1)), "y");

  for (const char* path : {"/", "//", "//etc/x.md", "/..", "/../x.md", "/../../etc/x.md", "/a/../../x.md",
                           "/./x.md", "/.git/config", "/.eventq/x", "/etc//x.md"}) {
    const std::string body = R"({"path":")" + std::string(path) + R"("})";
    EXPECT_EQ(notes_.expect("400", "POST", "/notebooks/n/files?sync=true", body)["field"], R"("path")")
        << path;
  }
  const std::string move = "/notebooks/n/files/" + notes_.id_of("etc/x.md") + "/move?sync=true";
  for (const char* path : {"/../x.md", "//x.md", "/"}) {
    const std::string body = R"({"dest_path":")" + std::string(path) + R"("})";
    EXPECT_EQ(notes_.expect("400", "PATCH", move, body)["field"], R"("dest_path")") << path;
  }
  // A link that leads out of the notebook is refused as before.
  notes_.expect("409", "POST", "/notebooks/n/files?sync=true", R"({"path":"/link/x.md","content":"z"})");
  notes_.expect("409", "PATCH", move, R"({"dest_path":"/link/x.md"})");
  EXPECT_TRUE(std::filesystem::is_empty(outside));
  EXPECT_FALSE(std::filesystem::exists(notes_.root() + "/../x.md"));
}

}  // namespace
}  // namespace eventq
