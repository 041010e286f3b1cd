// framing_test.cc: the framing vectors through a real server.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "http/transport/server.h"
#include "support/framing_vectors.h"
#include "support/raw_client.h"
#include "support/test_service.h"

namespace eventq::http {
namespace {

class FramingTest : public testing::Test {
 protected:
  std::vector<int> read_statuses(RawClient& client, std::size_t count) {
    std::vector<int> statuses;
    for (std::size_t i = 0; i < count; ++i) {
      const auto reply = client.read_reply();
      statuses.push_back(reply ? reply->status : 0);
    }
    return statuses;
  }

  void check(const FramingVector& vector) {
    SCOPED_TRACE(vector.name);
    service_.clear();
    RawClient client(server_->port());

    ASSERT_TRUE(client.send(vector.bytes));

    EXPECT_EQ(read_statuses(client, vector.statuses.size()), vector.statuses);
    if (vector.after == After::closes) {
      EXPECT_TRUE(client.at_end());
      EXPECT_EQ(service_.requests().size(), vector.requests);
    } else {
      EXPECT_EQ(client.get("/probe").value_or(RawResponse{}).status, 200);
      EXPECT_EQ(service_.requests().size(), vector.requests + 1);
    }
    for (const std::string& target : service_.targets()) EXPECT_NE(target, "/smuggled");
  }

  TestService service_;
  std::unique_ptr<Server> server_ = std::move(Server::start({.port = 0}, service_)).value();
};

TEST_F(FramingTest, AByteStreamHasOneMeaning) {
  for (const FramingVector& vector : framing_vectors()) check(vector);
}

TEST_F(FramingTest, TheTableHasAtLeast150Vectors) { EXPECT_GE(framing_vectors().size(), 150U); }

TEST_F(FramingTest, ARefusalCarriesTheServicesBodyAndFields) {
  RawClient client(server_->port());

  ASSERT_TRUE(client.send("GET /ok HTTP/1.1\r\n\r\n"));

  const RawResponse reply = client.read_reply().value_or(RawResponse{});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body, "The field Host is missing.");
  EXPECT_NE(reply.header.find("\r\nX-Test: yes\r\n"), std::string::npos);
  EXPECT_NE(reply.header.find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST_F(FramingTest, TrailersDoNotReachTheService) {
  RawClient client(server_->port());

  ASSERT_TRUE(
      client.send("POST /ok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "3\r\nabc\r\n0\r\nX-Request-Id: forged\r\nHost: b\r\n\r\n"));

  ASSERT_EQ(client.read_reply().value_or(RawResponse{}).status, 200);
  const Request request = service_.requests().at(0);
  EXPECT_EQ(request.body, "abc");
  EXPECT_EQ(request.headers.request_id, "");
  EXPECT_EQ(request.headers.host, "a");
}

TEST_F(FramingTest, ARequestThatArrivesByteByByteIsReadWhole) {
  RawClient client(server_->port());
  const std::string bytes =
      "POST /slow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: "
      "y\r\n\r\n";

  for (const char byte : bytes) ASSERT_TRUE(client.send({&byte, 1}));

  EXPECT_EQ(client.read_reply().value_or(RawResponse{}).body, "POST /slow abcde");
}

TEST_F(FramingTest, KnownFieldsReachTheService) {
  RawClient client(server_->port());

  ASSERT_TRUE(
      client.send("POST /ok HTTP/1.1\r\nhost: a:1\r\nCONTENT-TYPE:application/json\r\n"
                  "Accept: text/html\r\nAccept: */*\r\nIdempotency-Key: k 1 \r\nX-Request-Id: r\r\n"
                  "Origin: http://b\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n\r\n{}"));

  ASSERT_EQ(client.read_reply().value_or(RawResponse{}).status, 200);
  const Request request = service_.requests().at(0);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.headers.host, "a:1");
  EXPECT_EQ(request.headers.content_type, "application/json");
  EXPECT_EQ(request.headers.accept, "text/html, */*");
  EXPECT_EQ(request.headers.idempotency_key, "k 1");
  EXPECT_EQ(request.headers.request_id, "r");
  EXPECT_EQ(request.headers.origin, "http://b");
  EXPECT_EQ(request.headers.sec_fetch_site, "cross-site");
}

}  // namespace
}  // namespace eventq::http
