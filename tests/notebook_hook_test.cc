// notebook_hook_test.cc: how the server treats calls that somebody else answers, whenever and wherever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "http/api/notebooks.h"
#include "support/local_api.h"

namespace eventq {
namespace {

using http::DeferredResult;
using http::HandlerResult;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kLimit{60};

// Answers when the test does.
class SlowNotebooks : public http::Notebooks {
 public:
  HandlerResult answer(Action, http::ApiCall& call) override {
    return DeferredResult{
        [this, name = call.name + " " + std::string(call.id)](DeferredResult::Resolve resolve) {
          const std::scoped_lock lock(mutex_);
          asked_.emplace_back(name, std::move(resolve));
          changed_.notify_all();
        }};
  }

  DeferredResult add_metrics(http::Response response) override {
    return {[response = std::move(response)](const DeferredResult::Resolve& resolve) mutable {
      response.body += "of_notebooks 1\n";
      resolve(std::move(response));
    }};
  }

  // The oldest call that has no answer; waits for one. Its name and id, and what answers it.
  std::pair<std::string, DeferredResult::Resolve> next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kLimit, [this] { return !asked_.empty(); })) return {"nobody asked", {}};
    auto asked = std::move(asked_.front());
    asked_.pop_front();
    return asked;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, DeferredResult::Resolve>> asked_;
};

http::Response response_with(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

// They must be there before the server is.
class NotebookHookTest : private SlowNotebooks, public LocalApiTest {
 protected:
  NotebookHookTest() : LocalApiTest({}, this) {}

  SlowNotebooks& notebooks() { return *this; }

  // A request that somebody else has to answer.
  HttpClient ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    HttpClient client(server_.port());
    EXPECT_TRUE(client.send(method, target, body).has_value());
    return client;
  }
};

TEST_F(NotebookHookTest, ACallIsAnsweredWhenItsReplyComesFromWhateverThread) {
  HttpClient client = ask("GET", "/notebooks/a%20b/files/17");
  auto [asked, resolve] = notebooks().next();
  EXPECT_EQ(asked, "a b 17");

  std::thread([resolve = std::move(resolve)] { resolve(response_with(R"({"n":1})")); }).join();

  const auto answer = client.receive();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, R"({"n":1})");
  EXPECT_FALSE(answer->header("X-Request-Id").empty());
}

TEST_F(NotebookHookTest, OthersAreServedWhileOneIsNot) {
  HttpClient client = ask("GET", "/notebooks");
  auto [asked, resolve] = notebooks().next();

  EXPECT_EQ(get("/healthz").status, 200);

  resolve(response_with("{}"));
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(NotebookHookTest, AReplyMayBeAWaitForAnEventAndThatAnotherReply) {
  const std::string id = publish("main");
  HttpClient client = ask("DELETE", "/notebooks/a/files/1");
  auto [asked, resolve] = notebooks().next();
  const std::size_t before = server_.commands();
  http::EngineWork work;
  work.command.wait = WaitRequest{static_cast<EventId>(std::stoll(id)), std::chrono::seconds(30)};
  work.render = [](Answer& answer) -> HandlerResult {
    return DeferredResult{[waited = answer.waited](const DeferredResult::Resolve& last) {
      last(response_with(waited ? "ended" : "late"));
    }};
  };

  resolve(std::move(work));
  server_.await_commands(before + 1);
  server_.settle();
  EXPECT_FALSE(client.readable_within(std::chrono::milliseconds(0)));
  claim("main");
  EXPECT_EQ(complete(id), 200);

  EXPECT_EQ(client.receive()->body, "ended");
}

TEST_F(NotebookHookTest, AReplyToACallerWhoHasLeftIsDropped) {
  HttpClient client = ask("PATCH", "/notebooks/a/files/1/move", "{}");
  auto [asked, resolve] = notebooks().next();
  client.close();
  EXPECT_EQ(get("/healthz").status, 200);

  resolve(response_with("{}"));

  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(NotebookHookTest, PrometheusSeesNotebooksAndJsonDoesNot) {
  EXPECT_THAT(get("/metrics").body, EndsWith("\nof_notebooks 1\n"));
  EXPECT_THAT(request("GET", "/metrics", {}, {{"Accept", "application/json"}}).body,
              Not(HasSubstr("of_notebooks")));
}

TEST_F(NotebookHookTest, APageOfAnotherSiteChangesNothing) {
  EXPECT_EQ(request("DELETE", "/notebooks/a/files/1", {}, {{"Origin", "http://evil.example"}}).status, 403);
}

using NoNotebooksTest = LocalApiTest;

TEST_F(NoNotebooksTest, WithoutNotebooksTheirRoutesSayHowToSwitchThemOn) {
  for (const auto& [method, target] :
       {std::pair("GET", "/notebooks"), std::pair("POST", "/events/commit?notebook=a"),
        std::pair("DELETE", "/notebooks/a/files/1")}) {
    const HttpResponse response = request(method, target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_THAT(at(response, "error"), HasSubstr("[notebooks] allow")) << target;
  }
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("eventq_git_")));
}

}  // namespace
}  // namespace eventq
