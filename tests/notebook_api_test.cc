// notebook_api_test.cc: notebooks over HTTP, with the complete program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/limits.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/local_api.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class NotebookApiTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(server_.file("allowed/notes"));
    start();
    const HttpResponse added = post("/notebooks", add_body("notes", "allowed/notes"));
    ASSERT_EQ(added.status, 201) << added.body;
    EXPECT_EQ(added.header("Location"), "/notebooks/notes");
  }

  void start() { ASSERT_TRUE(server_.start()) << server_.log(); }

  std::string add_body(const std::string& name, const std::string& folder, const std::string& more = {}) {
    return R"({"name":")" + name + R"(","path":")" + server_.file(folder) + '"' + more + "}";
  }

  HttpResponse request(std::string_view method, const std::string& target, std::string_view body = {}) {
    HttpClient client(server_.port());
    auto response = client.request(method, target, body);
    EXPECT_TRUE(response) << target << ": " << (response ? "" : response.error().message);
    return response ? std::move(*response) : HttpResponse();
  }
  HttpResponse get(const std::string& target) { return request("GET", target); }
  HttpResponse post(const std::string& target, std::string_view body = {}) {
    return request("POST", target, body);
  }

  // Creates a file and returns its id.
  std::string create(const std::string& path, const std::string& content) {
    const HttpResponse made = post("/notebooks/notes/files?sync=true",
                                   R"({"path":")" + path + R"(","content":")" + content + R"("})");
    EXPECT_EQ(made.status, 201) << made.body;
    return at(made, "id");
  }

  std::string text_of(const std::string& path) const {
    return content_of(server_.file("allowed/notes/" + path));
  }
  bool exists(const std::string& path) const {
    return std::filesystem::exists(server_.file("allowed/notes/" + path));
  }

  // While the queue is paused, changes are accepted but not applied.
  void pause() { EXPECT_EQ(post("/queues/notebook%3Anotes/pause").status, 200); }
  void resume() { EXPECT_EQ(post("/queues/notebook%3Anotes/resume").status, 200); }

  // A client whose request waits for an event.
  HttpClient waiting(std::string_view method, const std::string& target, std::string_view body = {}) {
    HttpClient client(server_.port());
    const std::string before = waiting_ends();
    EXPECT_TRUE(client.send(method, target, body).has_value());
    while (waiting_ends() == before) {
    }
    return client;
  }
  std::string waiting_ends() {
    const std::string metrics = get("/metrics").body;
    const std::size_t found = metrics.find("\neventq_end_waiting ");
    return metrics.substr(found, metrics.find('\n', found + 1) - found);
  }

  ServerProcess server_{{"--notebooks-allow", "allowed"}};
};

TEST_F(NotebookApiTest, AProblemOfANotebookHasItsOwnTypeToo) {
  create("a.md", "x");
  HttpClient client(server_.port());

  const auto taken = client.request("POST", "/notebooks/notes/files?sync=true", R"({"path":"a.md"})",
                                    {{"Accept", "application/problem+json"}});

  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->status, 409);
  EXPECT_EQ(taken->header("Content-Type"), "application/problem+json");
}

TEST_F(NotebookApiTest, ANotebookShowsItsPathQueueAndSettings) {
  const HttpResponse shown = get("/notebooks/notes");

  EXPECT_EQ(shown.status, 200) << shown.body;
  EXPECT_EQ(at(shown, "name"), R"("notes")");
  EXPECT_EQ(at(shown, "path"), '"' + server_.file("allowed/notes") + '"');
  EXPECT_EQ(at(shown, "queue"), R"("notebook:notes")");
  EXPECT_EQ(at(shown, "settings.git_commit_interval"), "5");
  EXPECT_EQ(at(shown, "settings.worker_poll_interval"), "0.1");
  EXPECT_EQ(at(get("/notebooks"), "notebooks[0].name"), R"("notes")");
  EXPECT_EQ(get("/notebooks/none").status, 404);
  EXPECT_TRUE(exists(".git"));
}

TEST_F(NotebookApiTest, ANotebookHasTheSettingsOfTheSeed) {
  const HttpResponse shown = get("/notebooks/notes");

  for (const auto& [name, value] :
       {std::pair("worker_poll_interval", "0.1"), std::pair("worker_batch_size", "50"),
        std::pair("git_commit_interval", "5"), std::pair("git_commit_max_files", "100"),
        std::pair("max_retries", "3"), std::pair("retry_backoff", "1"),
        std::pair("completed_event_retention", "86400"), std::pair("failed_event_retention", "604800")}) {
    EXPECT_EQ(at(shown, std::string("settings.") + name), value) << name;
  }
}

TEST_F(NotebookApiTest, EachNotebookHasAWorkerOfItsOwn) {
  std::filesystem::create_directory(server_.file("allowed/other"));
  ASSERT_EQ(post("/notebooks", add_body("other", "allowed/other")).status, 201);
  pause();
  const HttpResponse waits = post("/notebooks/notes/files", R"({"path":"a","content":"1"})");

  EXPECT_EQ(post("/notebooks/other/files?sync=true", R"({"path":"a","content":"2"})").status, 201);

  EXPECT_EQ(at(get("/events/" + at(waits, "event.id")), "status"), R"("PENDING")");
  EXPECT_FALSE(exists("a"));
}

TEST_F(NotebookApiTest, OnlyFoldersThatAreAllowedBecomeNotebooks) {
  std::filesystem::create_directory(server_.file("outside"));
  std::filesystem::create_directory_symlink(server_.file("outside"), server_.file("allowed/link"));
  for (const char* folder :
       {"outside", "allowed/../outside", "allowed/link", "allowed/link/none", "allowed/none", ""}) {
    const HttpResponse refused = post("/notebooks", add_body("other", folder));
    EXPECT_EQ(refused.status, 403) << folder << refused.body;
    EXPECT_EQ(at(refused, "error"),
              '"' + server_.file(folder) +
                  " must be an existing folder inside the folders that --notebooks-allow names: " +
                  server_.file("allowed") + ".\"");
  }
  EXPECT_EQ(at(post("/notebooks", R"({"name":"other","path":"outside"})"), "error"),
            "\"outside, relative to the server's current folder, is not an allowed folder; send an absolute "
            "path, such "
            "as /srv/notes.\"");
  EXPECT_FALSE(std::filesystem::exists(server_.file("outside/.git")));
}

TEST_F(NotebookApiTest, ANotebookIsAddedOnceAndOnlyWithValidSettings) {
  std::filesystem::create_directory(server_.file("allowed/other"));

  for (const auto& [name, folder] : {std::pair("notes", "allowed/other"), std::pair("notes", "allowed/notes"),
                                     std::pair("other", "allowed/notes")}) {
    const HttpResponse refused = post("/notebooks", add_body(name, folder));
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(at(refused, "error"),
              R"("The folder )" + server_.file("allowed/notes") + R"( is the notebook "notes" already.")");
  }
  EXPECT_EQ(post("/notebooks", add_body("a/b", "allowed/other")).status, 400);
  EXPECT_EQ(at(post("/notebooks", add_body("other", "allowed/other", R"(,"x":1)")), "field"), R"("x")");
  const struct {
    const char* setting;
    int status;
  } rows[] = {
      {R"("git_commit_interval":-1)", 400},
      {R"("git_commit_interval":86400.1)", 400},
      {R"("worker_batch_size":0)", 400},
      {R"("worker_batch_size":1001)", 400},
      {R"("max_retries":1001)", 400},
      {R"("nice":1)", 400},
      {R"("git_commit_interval":86400,"worker_batch_size":1000,"max_retries":1000,"worker_poll_interval":0.25)",
       201},
  };
  for (const auto& row : rows) {
    const std::string settings = R"(,"settings":{)" + std::string(row.setting) + "}";
    EXPECT_EQ(post("/notebooks", add_body("other", "allowed/other", settings)).status, row.status)
        << row.setting;
  }
  EXPECT_EQ(at(get("/notebooks/other"), "settings.worker_poll_interval"), "0.25");
}

TEST_F(NotebookApiTest, AChangeIsAcceptedAtOnceAndAppliedLater) {
  pause();
  const HttpResponse taken = post("/notebooks/notes/files", R"({"path":"a/b.md","content":"x"})");

  EXPECT_EQ(taken.status, 202) << taken.body;
  EXPECT_EQ(at(taken, "status"), R"("PENDING")");
  EXPECT_EQ(at(taken, "path"), R"("a/b.md")");
  EXPECT_THAT(at(taken, "event_id"), StartsWith("\"evt_"));
  EXPECT_EQ(at(taken, "event.event_id"), at(taken, "event_id"));
  EXPECT_EQ(at(taken, "event.status"), R"("PENDING")");
  EXPECT_THAT(taken.body, Not(StartsWith(R"({"id")")));
  EXPECT_EQ(taken.header("Location"), "/events/" + at(taken, "event.id"));
  EXPECT_FALSE(exists("a/b.md"));

  resume();
  EXPECT_EQ(post("/events/" + at(taken, "event.id") + "/wait").status, 200);
  EXPECT_EQ(text_of("a/b.md"), "x");
  EXPECT_EQ(at(get("/notebooks/notes/files/" + at(taken, "file_id")), "path"), R"("a/b.md")");
}

TEST_F(NotebookApiTest, TheIdOfANewFileIsKnownBeforeItIsCreated) {
  create("other.md", "untouched");
  pause();
  const HttpResponse taken = post("/notebooks/notes/files", R"({"path":"a.md","content":"1"})");
  const HttpResponse put =
      request("PUT", "/notebooks/notes/files/" + at(taken, "file_id"), R"({"content":"2"})");
  resume();

  EXPECT_EQ(put.status, 202) << put.body;
  EXPECT_EQ(at(put, "file_id"), at(taken, "file_id"));
  EXPECT_EQ(post("/events/" + at(put, "event.id") + "/wait").status, 200);
  EXPECT_EQ(text_of("a.md"), "2");
  EXPECT_EQ(text_of("other.md"), "untouched");
}

TEST_F(NotebookApiTest, ASyncedChangeAnswersWithTheFile) {
  const HttpResponse made = post(
      "/notebooks/notes/files?sync=true",
      R"({"path":"a.md","content":"hello","metadata":{"title":"T","description":"D","mood":{"n":[1]}}})");
  EXPECT_EQ(made.status, 201) << made.body;
  const std::string file = "/notebooks/notes/files/" + at(made, "id");
  EXPECT_EQ(made.header("Location"), file);
  EXPECT_EQ(at(made, "size"), "5");
  EXPECT_EQ(at(made, "hash"), R"("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")");
  EXPECT_EQ(at(made, "title"), R"("T")");
  EXPECT_EQ(at(made, "description"), R"("D")");
  EXPECT_EQ(at(made, "extra.mood.n[0]"), "1");
  EXPECT_THAT(at(made, "content_type"), StartsWith("\"text/"));
  EXPECT_EQ(get(file).body, made.body);

  const HttpResponse updated = request("PUT", file + "?sync=true", R"({"content":"good bye"})");
  EXPECT_EQ(updated.status, 200) << updated.body;
  EXPECT_EQ(at(updated, "size"), "8");
  EXPECT_EQ(text_of("a.md"), "good bye");

  const HttpResponse moved = request("PATCH", file + "/move?sync=true", R"({"dest_path":"b/c.md"})");
  EXPECT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(at(moved, "path"), R"("b/c.md")");
  EXPECT_EQ(text_of("b/c.md"), "good bye");
  EXPECT_FALSE(exists("a.md"));

  const HttpResponse deleted = request("DELETE", file + "?sync=true");
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(at(deleted, "status"), R"("COMPLETED")");
  EXPECT_FALSE(exists("b/c.md"));
  EXPECT_EQ(get(file).status, 404);
  EXPECT_EQ(request("PUT", file, R"({"content":""})").status, 404);
}

TEST_F(NotebookApiTest, ContentIsNeverServedAsATypeThatABrowserRuns) {
  const std::string page = create("a b.html", "<script>1</script>");
  const std::string odd = create("x.bin", "\\u0000\\u0001");

  const HttpResponse html = get("/notebooks/notes/files/" + page + "/content");
  EXPECT_EQ(html.status, 200);
  EXPECT_EQ(html.body, "<script>1</script>");
  EXPECT_EQ(html.header("Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(html.header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(html.header("Content-Disposition"), "attachment; filename*=UTF-8''a%20b.html");
  const HttpResponse binary = get("/notebooks/notes/files/" + odd + "/content");
  EXPECT_EQ(binary.body, std::string_view("\0\1", 2));
  EXPECT_EQ(binary.header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(get("/notebooks/notes/files/999/content").status, 404);
  EXPECT_EQ(get("/notebooks/notes/files/99999999999999999999/content").status, 404);
}

TEST_F(NotebookApiTest, AFailedChangeIsAConflictWithTheReason) {
  create("a", "a file");

  EXPECT_EQ(post("/notebooks/notes/files?sync=true", R"({"path":"a","content":""})").status, 409);
  const HttpResponse below = post("/notebooks/notes/files?sync=true", R"({"path":"a/b","content":""})");
  EXPECT_EQ(below.status, 409) << below.body;
  EXPECT_THAT(at(below, "error"), HasSubstr("a"));
}

TEST_F(NotebookApiTest, ARequestThatCannotSucceedIsRefusedAtOnce) {
  const std::string files = "/notebooks/notes/files";
  const std::string id = create("a", "");
  for (const char* path :
       {"", "/", "//a", "/../a", "../a", "a/../b", ".git/config", ".GIT/config", "a\\u0000b", "a//b"}) {
    const HttpResponse refused = post(files, R"({"path":")" + std::string(path) + R"("})");
    EXPECT_EQ(refused.status, 400) << path << refused.body;
    EXPECT_EQ(at(refused, "field"), R"("path")") << path;
  }
  for (const char* body :
       {"[]", R"({"path":1})", R"({"path":"b","x":1})", R"({"path":"b","metadata":{"title":1}})",
        R"({"path":"b","is_directory":true,"content":""})"}) {
    EXPECT_EQ(post(files, body).status, 400) << body;
  }
  EXPECT_EQ(request("PUT", files + "/" + id, "{}").status, 400);
  EXPECT_EQ(at(request("PUT", files + "/" + id, R"({"path":"b"})"), "field"), R"("path")");
  const HttpResponse beyond = request("DELETE", files + "/99999999999999999999");
  EXPECT_EQ(beyond.status, 404);
  EXPECT_EQ(at(beyond, "error"), R"("There is no file 99999999999999999999.")");
  EXPECT_EQ(request("PATCH", files + "/" + id + "/move", R"({"dest_path":"../x"})").status, 400);
  EXPECT_EQ(at(request("PATCH", files + "/" + id + "/move", "{}"), "field"), R"("dest_path")");
  EXPECT_EQ(request("DELETE", files + "/" + id, R"({"x":1})").status, 400);
  EXPECT_EQ(request("DELETE", files + "/" + id + "?timeout=3").status, 400);
  EXPECT_EQ(request("DELETE", files + "/" + id + "?sync=true&timeout=3601").status, 400);
  EXPECT_EQ(request("DELETE", files + "/" + id + "?sync=perhaps").status, 400);
  EXPECT_EQ(request("DELETE", files + "/999").status, 404);
  EXPECT_EQ(request("DELETE", files + "/" + id, "{}").status, 202);
}

TEST_F(NotebookApiTest, AFileAsLargeAsAnEventIsAcceptedAndALargerOneRefused) {
  const std::size_t around = std::string_view(R"({"path":"a","content":""})").size();
  const auto body = [&](std::size_t size) {
    return R"({"path":"a","content":")" + std::string(size - around, 'x') + R"("})";
  };

  const HttpResponse refused = post("/notebooks/notes/files", body(limits::kPayload + 1));
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(at(refused, "error"), HasSubstr(std::to_string(limits::kPayload)));
  EXPECT_EQ(post("/notebooks/notes/files?sync=true", body(limits::kPayload)).status, 201);
}

TEST_F(NotebookApiTest, ALongNameOrPathIsRefused) {
  const auto create = [&](const std::string& path) {
    return post("/notebooks/notes/files", R"({"path":")" + path + R"("})").status;
  };
  const auto path_of = [](std::size_t size) {
    std::string path;
    while (path.size() + 201 < size) path += std::string(200, 'd') + "/";
    return path + std::string(size - path.size(), 'f');
  };
  pause();
  EXPECT_EQ(create(std::string(254, 'n')), 202);
  EXPECT_EQ(create(std::string(255, 'n')), 202);
  EXPECT_EQ(create(std::string(256, 'n')), 400);
  EXPECT_EQ(create(path_of(1023)), 202);
  EXPECT_EQ(create(path_of(1024)), 202);
  EXPECT_EQ(create(path_of(1025)), 400);
}

TEST_F(NotebookApiTest, OnlyTheNotebooksOwnWorkerTakesItsEvents) {
  pause();
  const HttpResponse waits = post("/notebooks/notes/files", R"({"path":"a.md","content":"x"})");
  const std::string body = R"({"tags":["file"],"worker_id":"w:1","queue":"notebook:notes","limit":1})";
  for (const HttpResponse& refused : {get("/events/subscribe?tags=file&worker_id=w:1&queue=notebook:notes"),
                                      post("/events/subscribe", body), post("/events/next", body),
                                      get("/events/stream?tags=file&worker_id=w:1&queue=notebook:notes")}) {
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_THAT(refused.body, HasSubstr("own worker"));
  }
  EXPECT_THAT(at(get("/notebooks/notes"), "trouble.worker"), HasSubstr("paused"));
  resume();
  EXPECT_EQ(at(post("/events/" + at(waits, "event.id") + "/wait"), "status"), R"("COMPLETED")");
}

TEST_F(NotebookApiTest, ATimeoutIsAnsweredWithThePendingEvent) {
  pause();

  const HttpResponse late =
      post("/notebooks/notes/files?sync=true&timeout=0", R"({"path":"a","content":"x"})");

  EXPECT_EQ(late.status, 202) << late.body;
  EXPECT_EQ(at(late, "status"), R"("PENDING")");
  EXPECT_EQ(at(get("/events/" + at(late, "event.id")), "status"), R"("PENDING")");
}

TEST_F(NotebookApiTest, ACancelledChangeIsAConflict) {
  pause();
  HttpClient client =
      waiting("POST", "/notebooks/notes/files?sync=true", R"({"path":"a","content":"first"})");
  const std::string first = at(get("/events?queue=notebook%3Anotes"), "events[0].id");

  EXPECT_EQ(post("/events/" + first + "/cancel").status, 200);

  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 409);
  EXPECT_THAT(at(*answer, "error"), HasSubstr("cancelled"));
}

TEST_F(NotebookApiTest, ASupersededUpdateIsAnsweredWithTheLaterOne) {
  const std::string file = "/notebooks/notes/files/" + create("a", "");
  pause();
  HttpClient client = waiting("PUT", file + "?sync=true", R"({"content":"first"})");

  EXPECT_EQ(request("PUT", file, R"({"content":"the second"})").status, 202);
  resume();

  const auto answer = client.receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200) << answer->body;
  EXPECT_EQ(at(*answer, "size"), "10");
}

TEST_F(NotebookApiTest, AMoveOfAFileAnswersWithItsEventAndStatus) {
  const std::string file = "/notebooks/notes/files/" + create("a.md", "x");

  const HttpResponse taken = request("PATCH", file + "/move", R"({"dest_path":"b.md"})");

  EXPECT_EQ(taken.status, 202) << taken.body;
  EXPECT_THAT(at(taken, "event_id"), StartsWith("\"evt_"));
  EXPECT_EQ(at(taken, "status"), R"("PENDING")");
  EXPECT_EQ(at(post("/events/" + at(taken, "event.id") + "/wait"), "status"), R"("COMPLETED")");
  EXPECT_EQ(text_of("b.md"), "x");
}

TEST_F(NotebookApiTest, ARawEventCannotMoveOrDeleteAFolder) {
  create("f/a", "1");
  for (const std::string operation : {R"("file.move","payload":{"source_path":"f","dest_path":"g"})",
                                      R"("file.delete","payload":{"path":"f","is_directory":true})"}) {
    const HttpResponse published = post(
        "/events", R"({"title":"raw","tags":"file","queue":"notebook:notes","pattern":)" + operation + "}");
    ASSERT_EQ(published.status, 201) << published.body;

    const HttpResponse ended = post("/events/" + at(published, "id") + "/wait");

    EXPECT_EQ(at(ended, "status"), R"("FAILED")") << ended.body;
    EXPECT_NE(at(ended, "error_message"), "") << ended.body;
    EXPECT_EQ(text_of("f/a"), "1");
  }
}

TEST_F(NotebookApiTest, AFolderIsMovedAndDeletedAsAWhole) {
  for (const char* path : {"f/a", "f/b", "f/c/d"}) create(path, path);
  const std::string folder =
      "/notebooks/notes/files/" + at(get("/notebooks/notes/files?kind=folder"), "files[0].id");
  EXPECT_EQ(at(get(folder), "kind"), R"("folder")");

  const HttpResponse taken = request("PATCH", folder + "/move", R"({"dest_path":"g"})");
  EXPECT_EQ(taken.status, 202) << taken.body;
  EXPECT_EQ(at(taken, "status"), R"("PENDING")");
  EXPECT_EQ(at(taken, "file_count"), "3");
  const std::string correlation = at(taken, "correlation_id");
  const std::string id = correlation.substr(1, correlation.size() - 2);
  EXPECT_EQ(at(post("/events/correlation/" + id + "/wait"), "completed"), "3");
  EXPECT_EQ(text_of("g/c/d"), "f/c/d");
  EXPECT_FALSE(exists("f"));

  const HttpResponse moved = request("PATCH", folder + "/move?sync=true", R"({"dest_path":"h"})");
  EXPECT_EQ(moved.status, 200) << moved.body;
  EXPECT_EQ(at(moved, "path"), R"("h")");
  const HttpResponse deleted = request("DELETE", folder + "?sync=true");
  EXPECT_EQ(deleted.status, 200) << deleted.body;
  EXPECT_EQ(at(deleted, "file_count"), "3");
  EXPECT_FALSE(exists("h"));
  EXPECT_EQ(at(get("/notebooks/notes/files?kind=all"), "files"), "[]");
}

TEST_F(NotebookApiTest, AnEmptyFolderCanBeCreated) {
  const HttpResponse made = post("/notebooks/notes/files?sync=true", R"({"path":"e","is_directory":true})");

  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(at(made, "kind"), R"("folder")");
  EXPECT_TRUE(exists("e"));
}

TEST_F(NotebookApiTest, FilesAreListedByPathInPages) {
  for (const char* path : {"c", "a/b", "b"}) create(path, "");
  const auto files = [&](const std::string& query) {
    const HttpResponse page = get("/notebooks/notes/files" + query);
    EXPECT_EQ(page.status, 200) << page.body;
    std::vector<std::string> paths;
    for (int i = 0; !at(page, "files[" + std::to_string(i) + "].path").empty(); ++i) {
      paths.push_back(at(page, "files[" + std::to_string(i) + "].path"));
    }
    paths.push_back(at(page, "next"));
    return paths;
  };

  EXPECT_THAT(files(""), ElementsAre(R"("a/b")", R"("b")", R"("c")", "null"));
  EXPECT_THAT(files("?limit=2"), ElementsAre(R"("a/b")", R"("b")", R"("b")"));
  EXPECT_THAT(files("?limit=3"), ElementsAre(R"("a/b")", R"("b")", R"("c")", "null"));
  EXPECT_THAT(files("?limit=1&after=b"), ElementsAre(R"("c")", "null"));
  EXPECT_THAT(files("?kind=folder"), ElementsAre(R"("a")", "null"));
  EXPECT_THAT(files("?kind=all&limit=1000"), ElementsAre(R"("a")", R"("a/b")", R"("b")", R"("c")", "null"));
  for (const char* query : {"?limit=0", "?limit=1001", "?kind=x", "?x=1"}) {
    EXPECT_EQ(get("/notebooks/notes/files" + std::string(query)).status, 400) << query;
  }
}

TEST_F(NotebookApiTest, FilesAreFoundByPathAndByFolder) {
  for (const char* path : {"a.md", "d/b.md", "d/e/c.md", "d0.md", "ü/x.md"}) create(path, "x");
  const auto paths = [&](const std::string& query) {
    const HttpResponse page = get("/notebooks/notes/files?" + query);
    EXPECT_EQ(page.status, 200) << page.body;
    std::string found;
    for (int i = 0;; ++i) {
      const std::string path = at(page, "files[" + std::to_string(i) + "].path");
      if (path.empty()) return found;
      found += path.substr(1, path.size() - 2) + " ";
    }
  };
  EXPECT_EQ(paths("path=d/b.md"), "d/b.md ");
  EXPECT_EQ(paths("path=/d"), "d ");
  EXPECT_EQ(paths("path=none.md"), "");
  EXPECT_EQ(paths("folder=d"), "d/b.md ");
  EXPECT_EQ(paths("folder=d&kind=all"), "d/b.md d/e ");
  EXPECT_EQ(paths("folder=d&recursive=true"), "d/b.md d/e/c.md ");
  EXPECT_EQ(paths("folder=d&recursive=true&after=d/b.md"), "d/e/c.md ");
  EXPECT_EQ(paths("folder=%C3%BC"), "ü/x.md ");
  EXPECT_EQ(paths("folder=/"), "a.md d0.md ");
  EXPECT_EQ(paths("folder=/&kind=folder"), "d ü ");
  EXPECT_EQ(paths("folder=none"), "");
  for (const char* query : {"path=a&folder=d", "recursive=true", "path=..", "folder=a//b", "path="}) {
    EXPECT_EQ(get(std::string("/notebooks/notes/files?") + query).status, 400) << query;
  }
}

TEST_F(NotebookApiTest, ACommitOnRequestHasTheChangesAndNamesTheirEvents) {
  create("a", "1");
  create("b", "2");
  const std::string event = at(get("/notebooks/notes/files"), "files[0].event_id");

  const HttpResponse done = post("/events/commit?notebook=notes&sync=true");

  EXPECT_EQ(done.status, 200) << done.body;
  EXPECT_EQ(at(done, "status"), R"("COMPLETED")");
  const HttpResponse commits = get("/notebooks/notes/commits");
  EXPECT_EQ(commits.status, 200);
  EXPECT_THAT(commits.body, HasSubstr(event));
  EXPECT_EQ(at(get("/events/" + event.substr(1, event.size() - 2)), "event_id"), event);
  EXPECT_EQ(at(commits, "commits[0].hash").size(), 42U);
  EXPECT_EQ(at(commits, "commits[0].files"), "2");
  EXPECT_EQ(at(get("/notebooks/notes"), "uncommitted"), "0");
  EXPECT_EQ(post("/events/commit?notebook=notes").status, 202);
  EXPECT_EQ(post("/events/commit?notebook=none").status, 404);
  EXPECT_EQ(get("/notebooks/notes/commits?limit=0").status, 400);
}

TEST_F(NotebookApiTest, ARescanReportsTheNumberOfChanges) {
  const auto changes = [&] {
    const HttpResponse found = post("/notebooks/notes/rescan");
    EXPECT_EQ(found.status, 200) << found.body;
    return at(found, "changes");
  };
  EXPECT_EQ(changes(), "0");
  // A change counts as a difference until its event is applied, also when the watcher found it before the
  // rescan.
  EXPECT_EQ(post("/queues/notebook:notes/pause", "{}").status, 200);
  std::ofstream(server_.file("allowed/notes/a")) << "1";
  std::ofstream(server_.file("allowed/notes/b")) << "1";
  EXPECT_EQ(changes(), "2");
  EXPECT_EQ(post("/queues/notebook:notes/resume", "{}").status, 200);
  EXPECT_EQ(post("/events/commit?notebook=notes&sync=true").status, 200);
  EXPECT_EQ(changes(), "0");
}

TEST_F(NotebookApiTest, PrometheusMetricsCoverEachNotebook) {
  create("a", "1");
  EXPECT_EQ(post("/events/commit?notebook=notes&sync=true").status, 200);

  const std::string metrics = get("/metrics").body;

  for (const char* line :
       {"# TYPE eventq_git_commits_total counter\neventq_git_commits_total{notebook=\"notes\"} ",
        "\neventq_git_batch_files_sum{notebook=\"notes\"} ",
        "\neventq_git_batch_files_count{notebook=\"notes\"} ",
        "\neventq_git_pending_files{notebook=\"notes\"} 0\n",
        "\neventq_watcher_events_total{notebook=\"notes\"} ",
        "\neventq_watcher_overflows_total{notebook=\"notes\"} 0\n",
        "\neventq_watches{notebook=\"notes\"} "}) {
    EXPECT_THAT(metrics, HasSubstr(line));
  }
  EXPECT_THAT(metrics, Not(HasSubstr("eventq_git_commits_total{notebook=\"notes\"} 0\n")));
}

TEST_F(NotebookApiTest, AFileThatAGitFilterKeepsOutOfCommitsIsListed) {
  create(".gitattributes", "*.psd filter=lfs");
  const std::string id = create("a.psd", "raw");
  EXPECT_EQ(post("/events/commit?notebook=notes&sync=true").status, 200);
  EXPECT_EQ(at(get("/notebooks/notes/files/" + id), "git"), R"("filtered")");
  EXPECT_THAT(get("/notebooks/notes").body,
              HasSubstr(R"("trouble":{"files":[{"git":"filtered","count":1,"paths":["a.psd"]}]})"));
}

TEST_F(NotebookApiTest, AFolderInAnotherRepositoryIs409UnlessGitNestedIsTrue) {
  std::filesystem::create_directories(server_.file("allowed/outer/inner"));
  std::filesystem::create_directories(server_.file("allowed/outer/.git"));
  std::ofstream(server_.file("allowed/outer/.git/HEAD")) << "ref: refs/heads/main\n";
  const HttpResponse refused = post("/notebooks", add_body("inner", "allowed/outer/inner"));
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("git_nested"));
  const std::string nested = R"(,"settings":{"git_nested":true})";
  EXPECT_EQ(post("/notebooks", add_body("inner", "allowed/outer/inner", nested)).status, 201);
}

TEST_F(NotebookApiTest, NotebooksSurviveARestart) {
  const std::string file = "/notebooks/notes/files/" + create("a", "1");

  EXPECT_EQ(server_.terminate(), 0);
  start();

  EXPECT_EQ(at(get(file), "path"), R"("a")");
  EXPECT_EQ(request("PUT", file + "?sync=true", R"({"content":"22"})").status, 200);
}

TEST_F(NotebookApiTest, AStopAnswersWaitingRequests) {
  pause();
  HttpClient client = waiting("POST", "/notebooks/notes/files?sync=true", R"({"path":"a","content":""})");

  EXPECT_EQ(server_.terminate(), 0) << server_.log();

  const auto answer = client.receive();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 202);
  EXPECT_THAT(server_.log(), Not(HasSubstr("unanswered")));
}

TEST_F(NotebookApiTest, ACreatedFileHasThePermissionsOfTheUsersOwnFiles) {
  create("ours", "1");
  std::ofstream(server_.file("allowed/theirs")) << "1";

  const auto mode_of = [&](const std::string& file) {
    return std::filesystem::status(server_.file(file)).permissions();
  };
  EXPECT_EQ(mode_of("allowed/notes/ours"), mode_of("allowed/theirs"));
}

}  // namespace
}  // namespace eventq
