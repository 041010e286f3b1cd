// server_test.cc: starting, draining and stopping a server.
#include "http/transport/server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/raw_client.h"
#include "support/test_service.h"

namespace eventq::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kLater = "GET /later HTTP/1.1\r\nHost: a\r\n\r\n";

// While it lives, the process can open one more file or socket.
class OneMoreDescriptor {
 public:
  OneMoreDescriptor() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDERR_FILENO);
    ::close(lowest_free);
    const rlimit few{.rlim_cur = static_cast<rlim_t>(lowest_free) + 1, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~OneMoreDescriptor() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OneMoreDescriptor(const OneMoreDescriptor&) = delete;
  OneMoreDescriptor& operator=(const OneMoreDescriptor&) = delete;

 private:
  rlimit before_{};
};

class ServerTest : public testing::Test {
 protected:
  Server& start(ServerOptions options = {}) {
    options.port = 0;
    server_ = std::move(Server::start(options, service_)).value();
    return *server_;
  }

  TestService service_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ASecondServerOnThePortIsRefused) {
  const std::uint16_t port = start().port();

  const auto second = Server::start({.port = port}, service_);

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_EQ(second.error().message, "Cannot listen on 127.0.0.1 port " + std::to_string(port) +
                                        ": Address already in use. Another "
                                        "program listens there. Stop it, or listen on another port.");
}

TEST_F(ServerTest, APortIsFreeAgainAfterStopping) {
  const std::uint16_t port = start().port();
  RawClient client(port);
  ASSERT_EQ(client.get("/ok").value_or(RawResponse{}).status, 200);

  server_->stop();

  EXPECT_TRUE(Server::start({.port = port}, service_).has_value());
}

TEST_F(ServerTest, AHostIsAnAddressOrLocalhost) {
  EXPECT_TRUE(Server::start({.host = "localhost", .port = 0}, service_).has_value());
  EXPECT_TRUE(Server::start({.host = "::1", .port = 0}, service_).has_value());

  const auto named = Server::start({.host = "example.org", .port = 0}, service_);

  ASSERT_FALSE(named.has_value());
  EXPECT_EQ(named.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(named.error().field, "host");
}

TEST_F(ServerTest, ConnectionsAreSpreadOverAllThreads) {
  start({.io_threads = 2});
  RawClient first(server_->port());
  RawClient second(server_->port());

  ASSERT_TRUE(first.send(kLater));
  ASSERT_TRUE(second.send(kLater));

  ASSERT_TRUE(service_.wait_for_waiting(2));
  EXPECT_TRUE(service_.answer({.body = "1"}));
  EXPECT_TRUE(service_.answer({.body = "2"}));
  const std::string both =
      first.read_reply().value_or(RawResponse{}).body + second.read_reply().value_or(RawResponse{}).body;
  EXPECT_TRUE(both == "12" || both == "21") << both;
}

TEST_F(ServerTest, AConnectionAboveTheLimitIsAnswered503) {
  start({.connections_max = 2});
  RawClient first(server_->port());
  RawClient second(server_->port());
  ASSERT_EQ(first.get("/ok").value_or(RawResponse{}).status, 200);
  ASSERT_EQ(second.get("/ok").value_or(RawResponse{}).status, 200);

  RawClient third(server_->port());

  EXPECT_EQ(third.read_reply().value_or(RawResponse{}).status, 503);
  EXPECT_TRUE(third.at_end());
  EXPECT_EQ(first.get("/ok").value_or(RawResponse{}).status, 200);
}

TEST_F(ServerTest, AClosedConnectionDoesNotCountAgainstTheLimit) {
  start({.connections_max = 1});
  RawClient first(server_->port());
  ASSERT_EQ(first.get("/ok").value_or(RawResponse{}).status, 200);

  first.close();

  // The server answers 503 until it has seen the close.
  int status = 503;
  for (int i = 0; i < 10'000 && status == 503; ++i) {
    RawClient next(server_->port());
    status = next.get("/ok").value_or(RawResponse{.status = 503}).status;
  }
  EXPECT_EQ(status, 200);
}

TEST_F(ServerTest, WithoutDescriptorsAConnectionWaitsAndTheReasonIsLogged) {
  std::promise<std::string> logged;
  std::once_flag once;
  start({.logger = [&](LogLevel, std::string_view line) {
    std::call_once(once, [&] { logged.set_value(std::string(line)); });
  }});
  auto few = std::make_unique<OneMoreDescriptor>();
  // The sanitizer's runtime opens files of its own, so the last descriptor may be in use for a moment.
  auto client = std::make_unique<RawClient>(server_->port());
  while (!client->connected()) client = std::make_unique<RawClient>(server_->port());

  EXPECT_EQ(logged.get_future().get(), "msg=\"cannot accept a connection\" error=\"Too many open files\"");
  few.reset();

  EXPECT_EQ(client->get("/ok").value_or(RawResponse{}).status, 200);
}

TEST_F(ServerTest, IdleConnectionsEndWithTheListener) {
  start();
  RawClient idle(server_->port());
  ASSERT_EQ(idle.get("/ok").value_or(RawResponse{}).status, 200);

  server_->close_listener();

  EXPECT_TRUE(idle.at_end());
  EXPECT_FALSE(RawClient(server_->port()).connected());
  EXPECT_TRUE(server_->drain(seconds(60)));
}

TEST_F(ServerTest, AnExchangeUnderWayIsAnsweredAfterTheListenerClosed) {
  start();
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(std::string(kLater) + "GET /behind HTTP/1.1\r\nHost: a\r\n\r\n"));
  ASSERT_TRUE(service_.wait_for_waiting(1));

  server_->close_listener();
  EXPECT_FALSE(server_->drain(milliseconds(1)));
  EXPECT_TRUE(service_.answer({.body = "late"}));

  EXPECT_TRUE(server_->drain(seconds(60)));
  const RawResponse reply = client.read_reply().value_or(RawResponse{});
  EXPECT_EQ(reply.body, "late");
  EXPECT_NE(reply.header.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(service_.targets(), std::vector<std::string>{"/later"});
}

TEST_F(ServerTest, AnIncompleteRequestIsAnswered503WhenTheListenerCloses) {
  start();
  RawClient client(server_->port());
  // The answer to the first one proves that the start of the second has arrived.
  ASSERT_TRUE(client.send("GET /ok HTTP/1.1\r\nHost: a\r\n\r\nGET /half HT"));
  ASSERT_EQ(client.read_reply().value_or(RawResponse{}).status, 200);

  server_->close_listener();

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).status, 503);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, StopCallsOnGoneForEveryExchangeUnderWay) {
  start({.io_threads = 2});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    ASSERT_TRUE(clients.back()->send(kLater));
  }
  ASSERT_TRUE(service_.wait_for_waiting(10));

  server_->stop();
  server_->stop();

  EXPECT_EQ(service_.gone(), 10U);
  for (const auto& client : clients) EXPECT_TRUE(client->at_end());
  EXPECT_TRUE(server_->drain(milliseconds(0)));
}

TEST_F(ServerTest, StoppingInTheMiddleOfAWriteEndsIt) {
  start();
  RawClient client(server_->port());
  ASSERT_TRUE(client.send("GET /big?bytes=20000000 HTTP/1.1\r\nHost: a\r\n\r\n"));
  RawClient other(server_->port());
  ASSERT_EQ(other.get("/ok").value_or(RawResponse{}).status, 200);

  server_->stop();

  EXPECT_LT(client.read_to_end(), 20'000'000U);
}

TEST_F(ServerTest, WorkPostedAfterStoppingIsDropped) {
  start();
  RawClient client(server_->port());
  ASSERT_TRUE(client.send(kLater));
  ASSERT_TRUE(service_.wait_for_waiting(1));
  IoThread& thread = service_.oldest_thread();
  server_->stop();

  bool ran = false;
  thread.post([&ran] { ran = true; });
  server_.reset();

  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace eventq::http
