// tcp_proxy_test.cc: each fault of the proxy, as both ends see it.
#include "support/tcp_proxy.h"
#include "support/loopback.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;

std::string number(std::size_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> static_cast<unsigned>(shift));
  return bytes;
}
std::string message(char type, const std::string& body) { return type + number(body.size() + 4) + body; }
std::string zero(const std::string& text) { return text + '\0'; }
const std::string kStartUp = number(8) + number(196608);
const std::string kSslRequest = number(8) + number(80877103);
std::string query(const std::string& sql) { return message('Q', zero(sql)); }
const std::string kCommitDone = message('C', zero("COMMIT"));

TEST(ClientStream, ATransactionEndsWithItsCommitAsAQueryOrAsAPreparedStatement) {
  ClientStream stream;
  EXPECT_THAT(stream.feed(kSslRequest + kStartUp + query("BEGIN") + query("COMMIT")),
              ElementsAre(zero("BEGIN")));
  // Parse alone commits nothing; Bind does.
  const std::string prepare = message('P', zero("s1") + zero("-- commit.sql: ends it\nCOMMIT") + number(0));
  const std::string bind = message('B', zero("") + zero("s1") + "rest");
  EXPECT_THAT(stream.feed(prepare), IsEmpty());
  EXPECT_EQ(stream.feed(bind).size(), 1U);
  EXPECT_EQ(stream.feed(query("a") + bind), std::vector{zero("a")});
}

TEST(ClientStream, AStringOrAnotherStatementIsNoCommit) {
  ClientStream stream;
  EXPECT_THAT(stream.feed(kStartUp + query("SELECT 'COMMIT'") + message('P', zero("s2") + zero("SELECT 1")) +
                          message('B', zero("") + zero("s2"))),
              IsEmpty());
}

TEST(ClientStream, ACommitInPiecesIsFoundWithItsLastByte) {
  ClientStream stream;
  const std::string all = kStartUp + query("COMMIT");
  for (std::size_t i = 0; i + 1 < all.size(); ++i) EXPECT_THAT(stream.feed(all.substr(i, 1)), IsEmpty());
  EXPECT_EQ(stream.feed(all.substr(all.size() - 1)).size(), 1U);
}

// A socket whose reads have a time limit.
class Peer {
 public:
  explicit Peer(int number) : socket_(number) {}

  void send_text(const std::string& bytes) const {
    EXPECT_EQ(send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Reads `size` bytes; fewer when the limit passes, "end" when the connection has ended before the first.
  [[nodiscard]] std::string receive(std::size_t size, std::chrono::milliseconds limit = 10s) const {
    std::string received;
    while (received.size() < size) {
      pollfd wanted{.fd = socket_.number(), .events = POLLIN, .revents = 0};
      if (poll(&wanted, 1, static_cast<int>(limit.count())) <= 0) break;
      std::array<char, 4096> block;
      const ssize_t got =
          recv(socket_.number(), block.data(), std::min(size - received.size(), block.size()), 0);
      if (got <= 0) return received + "end";
      received.append(block.data(), static_cast<std::size_t>(got));
    }
    return received;
  }

  Descriptor socket_;
};

class TcpProxyTest : public testing::Test {
 protected:
  TcpProxyTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback_address(0);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener_.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_.number(), 10), 0);
    EXPECT_EQ(getsockname(listener_.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    proxy_.emplace(ntohs(address.sin_port));
  }

  [[nodiscard]] Peer connected() const {
    Peer peer(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback_address(proxy_->port());
    EXPECT_EQ(connect(peer.socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return peer;
  }
  [[nodiscard]] Peer accepted() const { return Peer(accept(listener_.number(), nullptr, nullptr)); }

  Descriptor listener_;
  std::optional<TcpProxy> proxy_;
};

TEST_F(TcpProxyTest, BytesPassInBothDirectionsAndTheEndOfTheClientReachesTheServer) {
  std::optional<Peer> client(connected());
  const Peer server = accepted();
  const std::string much(3'000'000, 'x');
  client->send_text("to the server");
  EXPECT_EQ(server.receive(13), "to the server");
  std::thread sender([&] { server.send_text(much); });
  EXPECT_EQ(client->receive(much.size()), much);
  sender.join();
  client.reset();
  EXPECT_EQ(server.receive(1), "end");
}

TEST_F(TcpProxyTest, ABlackHoleAcceptsConnectionsAndDelaysWhatWasSent) {
  const Peer client = connected();
  const Peer server = accepted();
  proxy_->black_hole();
  client.send_text("late");
  server.send_text("later");
  const Peer another = connected();
  another.send_text("hello");
  EXPECT_EQ(server.receive(1, 100ms), "");
  EXPECT_EQ(client.receive(1, 0ms), "");
  EXPECT_EQ(another.receive(1, 0ms), "");

  proxy_->pass();

  EXPECT_EQ(server.receive(4), "late");
  EXPECT_EQ(client.receive(5), "later");
  EXPECT_EQ(accepted().receive(5), "hello");
}

TEST_F(TcpProxyTest, ACutClosesOnlyThePresentConnections) {
  const Peer client = connected();
  const Peer server = accepted();
  client.send_text("x");
  EXPECT_EQ(server.receive(1), "x");

  proxy_->cut();

  EXPECT_EQ(client.receive(1), "end");
  EXPECT_EQ(server.receive(1), "end");
  const Peer next = connected();
  next.send_text("y");
  EXPECT_EQ(accepted().receive(1), "y");
}

TEST_F(TcpProxyTest, TheAnswerToTheChosenCommitIsLostAfterTheServerHasCommitted) {
  const Peer client = connected();
  const Peer server = accepted();
  proxy_->cut_at_commit("the one", TcpProxy::Commit::done);
  const std::string other = kStartUp + query("another") + query("COMMIT");
  client.send_text(other);
  EXPECT_EQ(server.receive(other.size()), other);
  server.send_text(kCommitDone);
  EXPECT_EQ(client.receive(kCommitDone.size()), kCommitDone);

  const std::string chosen = query("the one") + query("COMMIT");
  client.send_text(chosen);
  EXPECT_EQ(server.receive(chosen.size()), chosen);
  EXPECT_FALSE(proxy_->was_cut_within(0ms));
  server.send_text(kCommitDone);

  EXPECT_TRUE(proxy_->was_cut_within(10s));
  EXPECT_EQ(client.receive(1), "end");
}

TEST_F(TcpProxyTest, ACommitThatIsLostNeverArrives) {
  const Peer client = connected();
  const Peer server = accepted();
  proxy_->cut_at_commit("the one", TcpProxy::Commit::lost);
  client.send_text(kStartUp + query("the one"));
  EXPECT_EQ(server.receive(kStartUp.size() + query("the one").size()), kStartUp + query("the one"));
  client.send_text(query("COMMIT"));
  EXPECT_TRUE(proxy_->was_cut_within(10s));
  EXPECT_EQ(server.receive(1), "end");
  EXPECT_EQ(client.receive(1), "end");
}

TEST_F(TcpProxyTest, AConnectionWithoutAServerIsClosed) {
  listener_.close();
  EXPECT_EQ(connected().receive(1), "end");
}

}  // namespace
}  // namespace eventq
