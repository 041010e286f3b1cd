// server_stream_test.cc: streams: their framing, their keep-alives, and how they end.
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

constexpr std::string_view kStream = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kOk = "GET /ok HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view kFirst = "6\r\nbegin;\r\n";
constexpr std::string_view kEnd = "0\r\n\r\n";

class ServerStreamTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.port = 0;
    server_ = std::move(Server::start(options, service_)).value();
    client_ = std::make_unique<RawClient>(server_->port());
  }

  // Begins a stream, waits for its first piece and returns its header.
  std::string begin(std::string_view request = kStream) {
    EXPECT_TRUE(client_->send(request));
    std::string header = client_->read_through("begin;");
    EXPECT_TRUE(service_.wait_for_sent(1));
    return header;
  }

  TestService service_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(ServerStreamTest, AStreamIsSentInChunksAndTheConnectionStaysOpen) {
  start();
  ASSERT_TRUE(client_->send(kStream));
  const std::string header = client_->read_through("\r\n\r\n");
  EXPECT_NE(header.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos) << header;
  EXPECT_EQ(header.find("Content-Length"), std::string::npos) << header;
  EXPECT_EQ(client_->read_through("begin;\r\n"), kFirst);

  EXPECT_TRUE(service_.send("one piece"));
  EXPECT_EQ(client_->read_through("piece\r\n"), "9\r\none piece\r\n");
  service_.finish();
  EXPECT_EQ(client_->read_through(kEnd), kEnd);

  EXPECT_FALSE(service_.send("too late"));
  EXPECT_EQ(client_->get("/ok").value_or(RawResponse{}).status, 200);
  EXPECT_EQ(service_.gone(), 0U);
}

TEST_F(ServerStreamTest, AStreamToHttp10EndsWithTheConnection) {
  start();
  const std::string header = begin("GET /stream HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(header.find("chunked"), std::string::npos) << header;
  EXPECT_NE(header.find("Connection: close"), std::string::npos) << header;

  EXPECT_TRUE(service_.send("piece"));
  service_.finish();

  EXPECT_EQ(client_->read_through("piece"), "piece");
  EXPECT_TRUE(client_->at_end());
}

TEST_F(ServerStreamTest, OnSentFollowsEveryPieceAndIsNotCalledFromInsideSend) {
  start();
  begin();

  EXPECT_TRUE(service_.send("one"));
  EXPECT_TRUE(service_.wait_for_sent(2));
  EXPECT_TRUE(service_.send("two"));
  EXPECT_TRUE(service_.wait_for_sent(3));

  EXPECT_EQ(service_.nested(), 0U);
}

TEST_F(ServerStreamTest, ALargePieceArrivesWhole) {
  start();
  begin();
  client_->read_through("\r\n");
  const std::string piece = big_body(8 * 1024 * 1024);

  EXPECT_TRUE(service_.send(piece));

  EXPECT_EQ(client_->read_through("\r\n"), "800000\r\n");
  EXPECT_EQ(client_->read_through("\r\n"), piece + "\r\n");
  EXPECT_TRUE(service_.wait_for_sent(2));
}

TEST_F(ServerStreamTest, PiecesAndTheEndStayInOrderBehindASlowPiece) {
  start();
  begin();
  client_->read_through("\r\n");
  EXPECT_TRUE(service_.send(big_body(8 * 1024 * 1024)));
  EXPECT_TRUE(service_.send("next"));
  service_.finish();

  client_->read_through("\r\n");
  client_->read_through("\r\n");
  EXPECT_EQ(client_->read_through(kEnd), "4\r\nnext\r\n0\r\n\r\n");
  EXPECT_EQ(client_->get("/ok").value_or(RawResponse{}).status, 200);
}

TEST_F(ServerStreamTest, AStreamWithoutPiecesSendsKeepAlives) {
  start({.keep_alive_interval = milliseconds(20)});
  begin();
  client_->read_through("\r\n");

  EXPECT_EQ(client_->read_through("silent;\r\n"), "7\r\nsilent;\r\n");
  EXPECT_EQ(client_->read_through("silent;\r\n"), "7\r\nsilent;\r\n");

  EXPECT_TRUE(service_.wait_for_sent(1));
}

TEST_F(ServerStreamTest, AStreamOutlivesTheIdleTime) {
  start({.idle_time = seconds(1), .keep_alive_interval = milliseconds(400)});
  begin();
  for (int i = 0; i < 5; ++i) EXPECT_NE(client_->read_through("silent;"), "");

  EXPECT_TRUE(service_.send("still"));
  EXPECT_NE(client_->read_through("still"), "");
}

TEST_F(ServerStreamTest, RequestsBehindAStreamWaitForItsEnd) {
  start({.keep_alive_interval = milliseconds(20)});
  begin(std::string(kStream) + std::string(kOk));
  EXPECT_NE(client_->read_through("silent;"), "");
  EXPECT_EQ(service_.requests().size(), 1U);

  service_.finish();

  EXPECT_NE(client_->read_through(kEnd), "");
  EXPECT_EQ(client_->read_reply().value_or(RawResponse{}).status, 200);
}

TEST_F(ServerStreamTest, AClientThatLeavesIsReportedOnce) {
  start();
  begin();

  client_->close();

  EXPECT_TRUE(service_.wait_for_gone(1));
  EXPECT_FALSE(service_.send("lost"));
  server_->stop();
  EXPECT_EQ(service_.gone(), 1U);
}

TEST_F(ServerStreamTest, AClientThatStopsSendingCountsAsGone) {
  start();
  begin();

  client_->finish_sending();

  EXPECT_TRUE(service_.wait_for_gone(1));
}

TEST_F(ServerStreamTest, AResetIsNoticedBehindAFullBuffer) {
  start();
  begin();
  ASSERT_TRUE(client_->send(std::string(64 * 1024, 'x')));

  client_->reset();

  EXPECT_TRUE(service_.wait_for_gone(1));
}

TEST_F(ServerStreamTest, AClientThatReadsNothingLosesItsStream) {
  start({.write_time = milliseconds(40)});
  begin();

  ASSERT_TRUE(service_.send(big_body(32 * 1024 * 1024)));

  EXPECT_TRUE(service_.wait_for_gone(1));
  EXPECT_FALSE(service_.send("lost"));
}

TEST_F(ServerStreamTest, ClosingTheListenerEndsStreamsInOrder) {
  start();
  begin();
  client_->read_through("\r\n");

  server_->close_listener();

  EXPECT_EQ(client_->read_through(kEnd), kEnd);
  EXPECT_TRUE(client_->at_end());
  EXPECT_TRUE(server_->drain(seconds(60)));
  EXPECT_TRUE(service_.wait_for_gone(1));
}

TEST_F(ServerStreamTest, AStreamIsNotBegunWhileTheServerStops) {
  start();
  ASSERT_TRUE(client_->send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(service_.wait_for_waiting(1));
  server_->close_listener();

  EXPECT_FALSE(service_.answer({.body = "begin;", .streams = true}));

  EXPECT_EQ(client_->read_reply().value_or(RawResponse{}).status, 503);
  EXPECT_TRUE(server_->drain(seconds(60)));
}

TEST_F(ServerStreamTest, StoppingInTheMiddleOfAPieceEndsIt) {
  start();
  begin();
  ASSERT_TRUE(service_.send(big_body(32 * 1024 * 1024)));

  server_->stop();

  EXPECT_TRUE(service_.wait_for_gone(1));
}

}  // namespace
}  // namespace eventq::http
