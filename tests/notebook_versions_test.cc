// notebook_versions_test.cc: ETag, If-Match and Idempotency-Key of notebooks, with the complete program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/file_text.h"
#include "support/http_client.h"
#include "support/local_api.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using testing::HasSubstr;

using SentHeaders = std::vector<std::pair<std::string, std::string>>;

class NotebookVersionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(server_.file("notes"));
    ASSERT_TRUE(server_.start()) << server_.log();
    const HttpResponse added =
        request("POST", "/notebooks", R"({"name":"n","path":")" + server_.file("notes") + R"("})");
    ASSERT_EQ(added.status, 201) << added.body;
    made_ = request("POST", kFiles + "?sync=true", R"({"path":"a.md","content":"1"})");
    ASSERT_EQ(made_.status, 201) << made_.body;
    file_ = kFiles + "/" + at(made_, "id");
  }

  HttpResponse request(std::string_view method, const std::string& target, std::string_view body = {},
                       const SentHeaders& headers = {}) {
    HttpClient client(server_.port());
    auto response = client.request(method, target, body, headers);
    EXPECT_TRUE(response) << target << ": " << (response ? "" : response.error().message);
    return response ? std::move(*response) : HttpResponse();
  }
  void pause() { EXPECT_EQ(request("POST", "/queues/notebook%3An/pause").status, 200); }
  void resume() { EXPECT_EQ(request("POST", "/queues/notebook%3An/resume").status, 200); }
  std::string end_of(const HttpResponse& accepted) {
    const HttpResponse ended = request("POST", "/events/" + at(accepted, "event.id") + "/wait");
    EXPECT_EQ(ended.status, 200) << ended.body;
    return at(ended, "status");
  }
  std::string text_of(const std::string& path) { return content_of(server_.file("notes/" + path)); }

  const std::string kFiles = "/notebooks/n/files";
  ServerProcess server_{{"--notebooks-allow", "."}};
  HttpResponse made_;
  std::string file_;  // the target of a.md
};

std::string etag(const HttpResponse& response) { return std::string(response.header("ETag")); }

TEST_F(NotebookVersionsTest, AnETagStaysUntilContentMetadataOrPathChange) {
  const std::string first = etag(made_);
  EXPECT_EQ(first.size(), 34U) << first;
  EXPECT_EQ(etag(request("GET", file_)), first);
  EXPECT_EQ(etag(request("GET", file_ + "/content")), first);

  const std::string second = etag(request("PUT", file_ + "?sync=true", R"({"content":"2"})"));
  const std::string third = etag(request("PUT", file_ + "?sync=true", R"({"title":"T"})"));
  const std::string fourth = etag(request("PATCH", file_ + "/move?sync=true", R"({"dest_path":"b.md"})"));
  EXPECT_NE(second, first);
  EXPECT_NE(third, second);
  EXPECT_NE(fourth, third);
  EXPECT_EQ(etag(request("GET", file_)), fourth);
}

TEST_F(NotebookVersionsTest, AnETagOfContentThatAnotherProgramWroteIsNotTheOldOne) {
  pause();
  std::ofstream(server_.file("notes/a.md")) << "by hand";

  const HttpResponse content = request("GET", file_ + "/content");

  EXPECT_EQ(content.body, "by hand");
  EXPECT_NE(etag(content), etag(made_));
}

TEST_F(NotebookVersionsTest, AnUpdateOfAnOlderVersionIsRefusedWithTheCurrentOne) {
  const HttpResponse now = request("PUT", file_ + "?sync=true", R"({"content":"2"})");

  for (const auto& [method, target, body] :
       {std::tuple("PUT", file_, R"({"content":"3"})"), std::tuple("DELETE", file_, ""),
        std::tuple("PATCH", file_ + "/move", R"({"dest_path":"b.md"})")}) {
    const HttpResponse refused = request(method, target, body, {{"If-Match", etag(made_)}});
    EXPECT_EQ(refused.status, 412) << method << refused.body;
    EXPECT_EQ(etag(refused), etag(now));
    EXPECT_EQ(at(refused, "current.hash"), at(now, "hash"));
    EXPECT_THAT(at(refused, "type"), HasSubstr("precondition-failed"));
  }

  EXPECT_EQ(text_of("a.md"), "2");
  EXPECT_EQ(request("PUT", file_ + "?sync=true", R"({"content":"3"})", {{"If-Match", etag(now)}}).status,
            200);
  EXPECT_EQ(text_of("a.md"), "3");
}

TEST_F(NotebookVersionsTest, OfTwoUpdatesOfOneVersionTheSecondFails) {
  pause();
  const SentHeaders same = {{"If-Match", etag(made_)}};
  const HttpResponse first = request("PUT", file_, R"({"content":"first"})", same);
  const HttpResponse second = request("PUT", file_, R"({"content":"second"})", same);
  EXPECT_EQ(first.status, 202) << first.body;
  EXPECT_EQ(second.status, 202) << second.body;
  resume();

  EXPECT_EQ(end_of(first), R"("COMPLETED")");
  EXPECT_EQ(end_of(second), R"("FAILED")");
  EXPECT_THAT(request("GET", "/events/" + at(second, "event.id")).body, HasSubstr("If-Match"));
  EXPECT_EQ(text_of("a.md"), "first");
}

TEST_F(NotebookVersionsTest, AVersionThatChangesBeforeTheChangeIsAppliedIs412WithSync) {
  // The worker sees the file as another program left it, although no event has reported that yet.
  std::ofstream(server_.file("notes/a.md")) << "by hand";

  const HttpResponse refused =
      request("PUT", file_ + "?sync=true", R"({"content":"2"})", {{"If-Match", etag(made_)}});

  EXPECT_EQ(refused.status, 412) << refused.body;
  EXPECT_EQ(text_of("a.md"), "by hand");
}

TEST_F(NotebookVersionsTest, AListAndAnAsteriskMatchAsTheStandardSays) {
  const std::string tag = etag(made_);
  const auto put = [&](const std::string& if_match) {
    return request("PUT", file_, R"({"title":"T"})", {{"If-Match", if_match}}).status;
  };
  pause();
  EXPECT_EQ(put("*"), 202);
  EXPECT_EQ(put("\"other\", " + tag), 202);
  EXPECT_EQ(put("W/" + tag), 412) << "a weak tag never matches";
  EXPECT_EQ(put("\"other\""), 412);
  EXPECT_EQ(put(tag.substr(1)), 400);
  EXPECT_EQ(put(","), 400);
  EXPECT_EQ(request("POST", kFiles, R"({"path":"b"})", {{"If-Match", tag}}).status, 400);
  EXPECT_EQ(request("DELETE", kFiles + "/999", {}, {{"If-Match", tag}}).status, 404);
}

TEST_F(NotebookVersionsTest, AFolderOfAnOlderVersionStays) {
  const HttpResponse folder = request("POST", kFiles + "?sync=true", R"({"path":"f","is_directory":true})");
  const std::string target = kFiles + "/" + at(folder, "id");
  request("POST", kFiles + "?sync=true", R"({"path":"f/x","content":"1"})");
  pause();
  const SentHeaders same = {{"If-Match", etag(folder)}};
  const HttpResponse moved = request("PATCH", target + "/move", R"({"dest_path":"g"})", same);
  const HttpResponse removed = request("DELETE", target, {}, same);
  EXPECT_EQ(moved.status, 202) << moved.body;
  EXPECT_EQ(removed.status, 202) << removed.body;
  resume();

  EXPECT_EQ(end_of(moved), R"("COMPLETED")");
  EXPECT_EQ(end_of(removed), R"("FAILED")");
  EXPECT_EQ(text_of("g/x"), "1");
}

TEST_F(NotebookVersionsTest, ARepeatedRequestWithOneKeyIsOneChange) {
  const SentHeaders key = {{"Idempotency-Key", "k1"}};
  const HttpResponse first = request("POST", kFiles, R"({"path":"b.md","content":"x"})", key);
  EXPECT_EQ(end_of(first), R"("COMPLETED")");

  const HttpResponse again = request("POST", kFiles, R"({"path":"b.md","content":"x"})", key);
  EXPECT_EQ(again.status, 202) << again.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
  const HttpResponse waited = request("POST", kFiles + "?sync=true", R"({"path":"b.md","content":"x"})", key);
  EXPECT_EQ(waited.status, 201) << waited.body;
  EXPECT_EQ(at(waited, "id"), at(first, "file_id"));

  const HttpResponse other = request("POST", kFiles, R"({"path":"c.md","content":"x"})", key);
  EXPECT_EQ(other.status, 409) << other.body;
  EXPECT_THAT(other.body, HasSubstr("Idempotency-Key"));
}

TEST_F(NotebookVersionsTest, EveryChangeTakesAKey) {
  const auto twice = [&](std::string_view method, const std::string& target, std::string_view body,
                         const std::string& key) {
    const HttpResponse first = request(method, target, body, {{"Idempotency-Key", key}});
    EXPECT_EQ(end_of(first), R"("COMPLETED")");
    const HttpResponse again = request(method, target, body, {{"Idempotency-Key", key}});
    EXPECT_EQ(again.status, 202) << again.body;
    EXPECT_EQ(again.body, first.body) << method;
  };
  twice("PUT", file_, R"({"content":"2"})", "k-put");
  twice("PATCH", file_ + "/move", R"({"dest_path":"f/b.md"})", "k-move");
  const std::string folder = at(request("GET", kFiles + "?kind=folder"), "files[0].id");
  twice("PATCH", kFiles + "/" + folder + "/move", R"({"dest_path":"g"})", "k-folder");
  twice("DELETE", file_, "", "k-delete");
  twice("POST", "/events/commit?notebook=n", "", "k-commit");
  EXPECT_EQ(request("PUT", file_, R"({"content":"2"})", {{"Idempotency-Key", std::string(256, 'k')}}).status,
            400);
}

}  // namespace
}  // namespace eventq
