// server_clients_test.cc: clients that pipeline, leave, half-close, read slowly, or are many.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/transport/server.h"
#include "support/raw_client.h"
#include "support/test_service.h"

namespace eventq::http {
namespace {

std::string get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"; }

class ServerClientsTest : public testing::Test {
 protected:
  // Blocks the server's thread until the promise is set.
  std::promise<void> block(IoThread& thread) {
    std::promise<void> release;
    thread.post([released = release.get_future().share()] { released.wait(); });
    return release;
  }

  TestService service_;
  std::unique_ptr<Server> server_ = std::move(Server::start({.port = 0}, service_)).value();
};

TEST_F(ServerClientsTest, PipelinedRequestsAreAnsweredInOrder) {
  RawClient client(server_->port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += get("/" + std::to_string(i));

  ASSERT_TRUE(client.send(requests));

  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(client.read_reply().value_or(RawResponse{}).body, "GET /" + std::to_string(i) + " ");
  }
}

TEST_F(ServerClientsTest, RequestsBehindAWaitingOneAreServedAfterIt) {
  RawClient client(server_->port());
  std::string requests = get("/later");
  for (int i = 0; i < 5000; ++i) requests += get("/" + std::to_string(i));
  ASSERT_TRUE(client.send(requests));
  ASSERT_TRUE(service_.wait_for_waiting(1));
  EXPECT_EQ(service_.targets(), std::vector<std::string>{"/later"});

  ASSERT_TRUE(service_.answer({.body = "first"}));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "first");
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(client.read_reply().value_or(RawResponse{}).body, "GET /" + std::to_string(i) + " ");
  }
}

TEST_F(ServerClientsTest, TheServiceIsNotCalledFromInsideItsOwnResponse) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/later") + get("/at-once") + get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  ASSERT_TRUE(service_.answer({.body = "first"}));

  ASSERT_TRUE(service_.wait_for_waiting(2));
  EXPECT_EQ(service_.nested(), 0U);
}

TEST_F(ServerClientsTest, AConnectionWithManyRequestsDoesNotBlockOthers) {
  RawClient flood(server_->port());
  RawClient other(server_->port());
  ASSERT_TRUE(other.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));
  std::promise<void> release = block(service_.oldest_thread());
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += get("/flood");
  ASSERT_TRUE(flood.send(requests));
  service_.answer_soon({.body = "now"});
  ASSERT_TRUE(other.send(get("/other")));

  release.set_value();

  EXPECT_EQ(other.read_reply().value_or(RawResponse{}).body, "now");
  EXPECT_EQ(other.read_reply().value_or(RawResponse{}).status, 200);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(flood.read_reply().value_or(RawResponse{}).status, 200);
  EXPECT_NE(service_.targets().back(), "/other");
}

TEST_F(ServerClientsTest, AClientThatLeavesWhileWaitingIsReportedOnce) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  client.close();

  ASSERT_TRUE(service_.wait_for_gone(1));
  EXPECT_FALSE(service_.answer({.body = "too late"}));
  EXPECT_EQ(service_.gone(), 1U);
}

TEST_F(ServerClientsTest, AResetIsNoticedBehindAFullBuffer) {
  RawClient client(server_->port());
  std::string requests = get("/later");
  for (int i = 0; i < 1000; ++i) requests += get("/never");
  ASSERT_TRUE(client.send(requests));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  client.reset();

  ASSERT_TRUE(service_.wait_for_gone(1));
  EXPECT_FALSE(service_.answer({.body = "too late"}));
  EXPECT_EQ(service_.targets(), std::vector<std::string>{"/later"});
}

TEST_F(ServerClientsTest, AClientThatOnlyStopsSendingGetsAnImmediateAnswer) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/one") + get("/two")));
  client.finish_sending();

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "GET /one ");
  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "GET /two ");
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerClientsTest, AClientThatStopsSendingWhileWaitingCountsAsGone) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  client.finish_sending();

  EXPECT_TRUE(service_.wait_for_gone(1));
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerClientsTest, AnExchangeIsAnsweredOnlyOnce) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  EXPECT_TRUE(service_.answer_twice({.body = "once"}));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "once");
  EXPECT_EQ(client.get("/next").value_or(RawResponse{}).body, "GET /next ");
}

TEST_F(ServerClientsTest, AStaleExchangeDoesNotReachTheNextRequest) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(1));
  client.close();
  ASSERT_TRUE(service_.wait_for_gone(1));
  RawClient next(server_->port());
  ASSERT_TRUE(next.send(get("/later")));
  ASSERT_TRUE(service_.wait_for_waiting(2));

  EXPECT_FALSE(service_.answer({.body = "for the first"}));
  EXPECT_TRUE(service_.answer({.body = "for the second"}));

  EXPECT_EQ(next.read_reply().value_or(RawResponse{}).body, "for the second");
}

TEST_F(ServerClientsTest, HeadGetsTheLengthWithoutTheBody) {
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("HEAD /ok HTTP/1.1\r\nHost: a\r\n\r\n"));

  const RawResponse reply = client.read_reply(RawBody::left_out).value_or(RawResponse{});
  EXPECT_EQ(reply.status, 200);
  EXPECT_NE(reply.header.find("\r\nContent-Length: 9\r\n"), std::string::npos) << reply.header;
  EXPECT_EQ(client.get("/next").value_or(RawResponse{}).body, "GET /next ");
}

TEST_F(ServerClientsTest, TheServiceCanEndAConnection) {
  RawClient client(server_->port());

  const RawResponse reply = client.get("/close").value_or(RawResponse{});

  EXPECT_NE(reply.header.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerClientsTest, ABodyIsAskedForWhenTheClientExpectsIt) {
  RawClient client(server_->port());

  ASSERT_TRUE(
      client.send("POST /ok HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).header, "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("abc"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "POST /ok abc");
}

TEST_F(ServerClientsTest, ALargeBodyArrivesWhole) {
  RawClient client(server_->port());
  const std::string body = big_body(33 * 1024 * 1024);

  ASSERT_TRUE(client.send(
      "POST /large HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n"));
  ASSERT_TRUE(client.send(body));

  EXPECT_TRUE(client.read_reply().value_or(RawResponse{}).body == "POST /large " + body);
}

TEST_F(ServerClientsTest, AClientWhoseUploadIsRefusedGetsTheResponse) {
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n"));

  // The server drops all of it, because closing at once could destroy the response.
  ASSERT_TRUE(client.send(std::string(8'000'000, 'x')));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 413);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerClientsTest, ASlowReaderOfALargeResponseDoesNotDelayOthers) {
  RawClient slow(server_->port());
  RawClient other(server_->port());
  ASSERT_TRUE(slow.send(get("/big?bytes=20000000") + get("/behind")));

  for (int i = 0; i < 100; ++i) ASSERT_EQ(other.get("/ok").value_or(RawResponse{}).status, 200);

  EXPECT_TRUE(slow.read_reply().value_or(RawResponse{}).body == big_body(20'000'000));
  EXPECT_EQ(slow.read_reply().value_or(RawResponse{}).body, "GET /behind ");
}

TEST_F(ServerClientsTest, AnActiveConnectionIsServedBesideThousandsOfIdleOnes) {
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 2000; ++i) {
    idle.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(idle.back()->connected()) << i << " connections: is the limit on open files too low?";
  }

  RawClient active(server_->port());

  for (int i = 0; i < 100; ++i) ASSERT_EQ(active.get("/ok").value_or(RawResponse{}).status, 200);
  EXPECT_EQ(idle.front()->get("/ok").value_or(RawResponse{}).status, 200);
  EXPECT_EQ(idle.back()->get("/ok").value_or(RawResponse{}).status, 200);
}

}  // namespace
}  // namespace eventq::http
