// server_time_test.cc: slow clients, with short time limits.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "http/transport/server.h"
#include "support/raw_client.h"
#include "support/test_service.h"

namespace eventq::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServerTimeTest : public testing::Test {
 protected:
  void start(ServerOptions options) {
    options.port = 0;
    server_ = std::move(Server::start(options, service_)).value();
  }

  TestService service_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTimeTest, AHeaderThatNeverEndsIsRefused) {
  start({.header_time = milliseconds(40)});
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("GET /ok HTTP/1.1\r\nHost: a\r\n"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 408);
  EXPECT_TRUE(client.at_end());
  EXPECT_TRUE(service_.requests().empty());
}

TEST_F(ServerTimeTest, AHeaderIsTimedFromItsFirstByteNotFromTheLast) {
  start({.header_time = milliseconds(40)});
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("GET /"));

  // Each byte arrives within the limit, the whole header does not.
  while (client.send("x") && !client.readable_within(milliseconds(5))) {
  }

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 408);
}

TEST_F(ServerTimeTest, TheHeaderOfALaterRequestIsTimedToo) {
  start({.header_time = milliseconds(40)});
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("GET /ok HTTP/1.1\r\nHost: a\r\n\r\nGET /half"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 200);
  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTimeTest, ABodyBelowTheLowestSpeedIsRefused) {
  start({.body_grace = milliseconds(40), .body_rate_min = 1'000'000});
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 408);
  EXPECT_TRUE(client.at_end());
  EXPECT_TRUE(service_.requests().empty());
}

TEST_F(ServerTimeTest, AChunkedBodyBelowTheLowestSpeedIsRefused) {
  start({.body_grace = milliseconds(40), .body_rate_min = 1'000'000});
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("POST /ok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTimeTest, EachByteOfABodyExtendsItsDeadline) {
  start({.body_grace = milliseconds(40), .body_rate_min = 1});
  RawClient client(server_->port());
  ASSERT_TRUE(
      client.send("POST /ok HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n" + std::string(100, 'x')));

  // At one byte per second, a hundred bytes extend the deadline by a hundred seconds.
  EXPECT_FALSE(client.readable_within(milliseconds(80)));
  ASSERT_TRUE(client.send("x"));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 200);
}

// The idle time leaves enough time to connect and send.
TEST_F(ServerTimeTest, AnIdleConnectionIsClosedWithoutAResponse) {
  start({.idle_time = seconds(1)});
  RawClient fresh(server_->port());
  RawClient used(server_->port());
  ASSERT_EQ(used.get("/ok").value_or(RawResponse{}).status, 200);

  EXPECT_TRUE(fresh.at_end());
  EXPECT_TRUE(used.at_end());
}

TEST_F(ServerTimeTest, AWaitingExchangeHasNoDeadline) {
  start({.header_time = milliseconds(20),
         .body_grace = milliseconds(20),
         .idle_time = seconds(1),
         .write_time = milliseconds(20)});
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  EXPECT_FALSE(client.readable_within(milliseconds(1500)));
  EXPECT_TRUE(service_.answer({.body = "at last"}));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "at last");
}

TEST_F(ServerTimeTest, AClientThatReadsNothingLosesItsResponse) {
  start({.write_time = milliseconds(40)});
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("GET /big?bytes=20000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
  RawClient other(server_->port());
  ASSERT_EQ(other.get("/ok").value_or(RawResponse{}).status, 200);

  ASSERT_TRUE(server_->drain(seconds(60)));

  EXPECT_LT(client.read_to_end(), 20'000'000U);
}

}  // namespace
}  // namespace eventq::http
