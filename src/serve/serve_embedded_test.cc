// serve_embedded_test.cc: the contract of eventq/serve.h, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "eventq/admin.h"
#include "eventq/client.h"
#include "eventq/serve.h"
#include "eventq/worker.h"
#include "support/http_client.h"
#include "support/test_store.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class EmbeddedServerTest : public testing::Test {
 protected:
  static std::uint16_t port_of(const EmbeddedServer& server) {
    const std::string url = server.url();
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  static std::string get(const EmbeddedServer& server, const std::string& path) {
    HttpClient client(port_of(server));
    return client.get(path).value().body;
  }
  ErrorCode refused(const ServeOptions& options) { return serve(*queue, options).error().code; }

  const TestStore store;
  std::unique_ptr<Queue> queue = Queue::open(store.url()).value();
};

TEST_F(EmbeddedServerTest, ServesTheApiAndThePage) {
  const auto server = serve(*queue, {.port = 0}).value();

  EXPECT_THAT(server->url(), StartsWith("http://127.0.0.1:"));
  EXPECT_THAT(get(*server, "/"), HasSubstr("<html"));
  EXPECT_THAT(get(*server, "/openapi.json"), HasSubstr("\"openapi\""));
  const auto event = queue->publish({.title = "Hello", .tags = {"email"}}).value();
  EXPECT_THAT(get(*server, "/events/" + event.event_id), HasSubstr("\"Hello\""));
}

TEST_F(EmbeddedServerTest, AWorkerOverHttpHandlesTheEventsOfTheProgram) {
  const auto server = serve(*queue, {.port = 0}).value();
  const auto client = Client::connect(server->url()).value();
  Worker worker(*client);
  worker.on_tag("email", [](const Event&, const std::stop_token&) { return Handled::done(); });
  ASSERT_TRUE(worker.start());

  const auto event = queue->publish({.title = "Hello", .tags = {"email"}}).value();

  EXPECT_EQ(queue->wait(event.id, 60s).value().status, Status::completed);
  EXPECT_TRUE(worker.stop());
}

// A typed handler, the operator's calls and the server, in one program and seen from outside.
TEST_F(EmbeddedServerTest, EmbeddedProgramsCanOperateToo) {
  const auto server = serve(*queue, {.port = 0}).value();
  std::atomic<bool> accepts_all = false;
  const auto number_of = [&](const Event& event) -> Result<int> {
    if (event.payload != "null" || accepts_all) return 7;
    return Error{ErrorCode::invalid_argument, "It has no number.", "payload"};
  };
  Worker worker(*queue);
  worker.on<int>("count", number_of, [](int) { return Handled::done(); });
  ASSERT_TRUE(worker.start());
  const EventId id = queue->publish({.title = "Count", .tags = {"count"}}).value().id;
  ASSERT_EQ(queue->wait(id, 60s).value().status, Status::failed);

  const auto client = Client::connect(server->url()).value();
  Admin inside(*queue);
  Admin outside(*client);
  const auto failures = inside.failures().value();
  ASSERT_THAT(failures.failures, SizeIs(1));
  EXPECT_EQ(failures.failures[0].sample, "The event cannot be converted: It has no number.");
  EXPECT_EQ(outside.failures().value(), failures);
  EXPECT_EQ(outside.list().value().events, inside.list().value().events);

  accepts_all = true;
  ASSERT_TRUE(outside.retry(id, {.by = "ann", .reason = "a number is optional now"}));
  EXPECT_EQ(queue->wait(id, 60s).value().status, Status::completed);
}

TEST_F(EmbeddedServerTest, StopAnswersAWaitingCallAndTheQueueStaysOpen) {
  auto server = serve(*queue, {.port = 0}).value();
  HttpClient waiting(port_of(*server));
  ASSERT_TRUE(waiting.send("GET", "/events/subscribe?tags=email&worker_id=w:1&wait=60"));
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (get(*server, "/metrics").find("eventq_longpoll_waiting 1") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "the call does not wait";
  }

  server->stop();

  EXPECT_EQ(waiting.receive().value().status, 204);
  HttpClient late(port_of(*server));
  EXPECT_EQ(late.get("/healthz").error().code, ErrorCode::unavailable);
  const auto event = queue->publish({.title = "Hello", .tags = {"email"}}).value();
  // With a wait, because a router may just be asking a shard for the call that was ended. It then releases
  // the event.
  const auto next = queue->next({.limit = 1, .wait = 30s}).value();
  ASSERT_THAT(next.claims, SizeIs(1));
  EXPECT_EQ(next.claims[0].event.id, event.id);
}

TEST_F(EmbeddedServerTest, AQueueCanBeServedAgainAtTheSameAddress) {
  auto server = serve(*queue, {.port = 0}).value();
  const std::uint16_t port = port_of(*server);
  EXPECT_EQ(serve(*queue, {.port = port}).error().code, ErrorCode::unavailable);
  server.reset();

  server = serve(*queue, {.port = port}).value();

  EXPECT_THAT(get(*server, "/healthz"), HasSubstr("ok"));
}

TEST_F(EmbeddedServerTest, OtherMachinesMayConnectOnlyWithPermission) {
  const auto refusal = serve(*queue, {.host = "0.0.0.0", .port = 0}).error();
  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal.field, "host");
  EXPECT_THAT(refusal.message, HasSubstr("allow_remote"));

  EXPECT_TRUE(serve(*queue, {.host = "0.0.0.0", .port = 0, .allow_remote = true}));
}

TEST_F(EmbeddedServerTest, AHostThatIsNoAddressIsRefused) {
  EXPECT_EQ(refused({.host = "example.com", .port = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({.host = "", .port = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(refused({.host = "example.com", .port = 0, .allow_remote = true}), ErrorCode::invalid_argument);
}

TEST_F(EmbeddedServerTest, AQueueBehindAnotherServerIsRefused) {
  const auto server = serve(*queue, {.port = 0}).value();
  const auto remote = Queue::open(server->url()).value();

  const auto refusal = serve(*remote, {.port = 0}).error();

  EXPECT_EQ(refusal.code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal.field, "queue");
}

}  // namespace
}  // namespace eventq
