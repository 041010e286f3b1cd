// registered_routes_test.cc: routes that a layer above http registers; another thread supplies their results
// later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "eventq/limits.h"
#include "http/api/routes.h"
#include "notebook/api/api.h"
#include "support/local_api.h"

namespace eventq {
namespace {

using http::DeferredResult;
using http::HandlerResult;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kLimit{60};

// Routes whose calls are answered when the test resolves them.
class SlowRoutes {
 public:
  http::ApiExtension extension() {
    using enum http::RouteEffect;
    const auto defer = [this](http::ApiCall& call) { return this->defer(call); };
    return {{{"GET", "/shelves", defer, reads, 0},
             {"GET", "/shelves/{name}/files/{id}", defer, reads, 0},
             {"PATCH", "/shelves/{name}/files/{id}/move", defer, changes, limits::kOneEventBody},
             {"DELETE", "/shelves/{name}/files/{id}", defer, changes, limits::kOneEventBody}},
            add_metrics};
  }

  // Waits for a call and takes the oldest: its name and id, and the function that resolves it.
  std::pair<std::string, DeferredResult::Resolve> next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kLimit, [this] { return !calls_.empty(); })) return {"no call", {}};
    auto call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

 private:
  HandlerResult defer(http::ApiCall& call) {
    return DeferredResult{
        [this, name = call.name + " " + std::string(call.id)](DeferredResult::Resolve resolve) {
          const std::scoped_lock lock(mutex_);
          calls_.emplace_back(name, std::move(resolve));
          changed_.notify_all();
        }};
  }

  static HandlerResult add_metrics(http::Response response) {
    return DeferredResult{[response = std::move(response)](const DeferredResult::Resolve& resolve) mutable {
      response.body += "shelves 1\n";
      resolve(std::move(response));
    }};
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, DeferredResult::Resolve>> calls_;
};

http::Response response_with(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

// SlowRoutes is a base, because the server of LocalApiTest needs it when it starts and until it has stopped.
class RegisteredRoutesTest : private SlowRoutes, public LocalApiTest {
 protected:
  RegisteredRoutesTest() : LocalApiTest({}, extension()) {}

  SlowRoutes& routes() { return *this; }

  // Sends a request whose response the test reads later.
  HttpClient send_request(std::string_view method, std::string_view target, std::string_view body = {}) {
    HttpClient client(server_.port());
    EXPECT_TRUE(client.send(method, target, body).has_value());
    return client;
  }
};

TEST_F(RegisteredRoutesTest, ACallMayBeResolvedOnAnyThread) {
  HttpClient client = send_request("GET", "/shelves/a%20b/files/17");
  auto [call, resolve] = routes().next();
  EXPECT_EQ(call, "a b 17");

  std::thread([resolve = std::move(resolve)] { resolve(response_with(R"({"n":1})")); }).join();

  const auto answer = client.receive();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, R"({"n":1})");
  EXPECT_FALSE(answer->header("X-Request-Id").empty());
}

TEST_F(RegisteredRoutesTest, ADeferredCallDoesNotDelayOtherCalls) {
  HttpClient client = send_request("GET", "/shelves");
  auto [call, resolve] = routes().next();

  EXPECT_EQ(get("/healthz").status, 200);

  resolve(response_with("{}"));
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(RegisteredRoutesTest, ADeferredCallMayWaitForAnEventAndDeferAgain) {
  const std::string id = publish("main");
  HttpClient client = send_request("DELETE", "/shelves/a/files/1");
  auto [call, resolve] = routes().next();
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

TEST_F(RegisteredRoutesTest, TheResultForAClientThatLeftIsDropped) {
  HttpClient client = send_request("PATCH", "/shelves/a/files/1/move", "{}");
  auto [call, resolve] = routes().next();
  client.close();
  EXPECT_EQ(get("/healthz").status, 200);

  resolve(response_with("{}"));

  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(RegisteredRoutesTest, RegisteredMetricsAppearInPrometheusTextAndNotInJson) {
  EXPECT_THAT(get("/metrics").body, EndsWith("\nshelves 1\n"));
  EXPECT_THAT(request("GET", "/metrics", {}, {{"Accept", "application/json"}}).body,
              Not(HasSubstr("shelves")));
}

TEST_F(RegisteredRoutesTest, APageOfAnotherSiteCannotChangeAnything) {
  EXPECT_EQ(request("DELETE", "/shelves/a/files/1", {}, {{"Origin", "http://evil.example"}}).status, 403);
}

class NoNotebooksTest : public LocalApiTest {
 protected:
  NoNotebooksTest() : LocalApiTest({}, notebook::make_api(nullptr)) {}
};

TEST_F(NoNotebooksTest, RoutesOfDisabledNotebooksSayHowToEnableThem) {
  for (const auto& [method, target] :
       {std::pair("GET", "/notebooks"), std::pair("POST", "/events/commit?notebook=a"),
        std::pair("DELETE", "/notebooks/a/files/1")}) {
    const HttpResponse response = request(method, target);
    EXPECT_EQ(response.status, 404) << target;
    EXPECT_EQ(at(response, "error"),
              "\"Notebooks are disabled. Start the server with --notebooks-allow FOLDER, the folder that may "
              "contain "
              "notebooks.\"")
        << target;
  }
  EXPECT_THAT(get("/metrics").body, Not(HasSubstr("eventq_git_")));
}

}  // namespace
}  // namespace eventq
