// request_parser_test.cc: the framing vectors without sockets, and limits that only the parser shows.
#include "http/transport/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "support/framing_vectors.h"

namespace eventq::http {
namespace {

class LimitService final : public Service {
 public:
  RequestRoute route(std::string_view method, std::string_view path) const override {
    asked = std::string(method) + " " + std::string(path);
    return {.body_max = limit};
  }
  void on_request(IoThread&, ExchangeId, Request) override {}
  void on_gone(IoThread&, ExchangeId) override {}
  Response error_response(int, std::string_view, const Headers&) const override { return {}; }

  std::size_t limit = kVectorBodyLimit;
  mutable std::string asked;
};

void append(InputBuffer& in, std::string_view bytes) {
  const auto space = in.free_space(in.size() + bytes.size());
  std::copy(bytes.begin(), bytes.end(), space.begin());
  in.commit(bytes.size());
}

// The result of parsing a byte stream: the bodies of its requests, then the status of a protocol error.
struct Outcome {
  std::vector<std::string> bodies;
  int refused = 0;

  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << outcome.bodies.size() << " requests, then " << outcome.refused;
}

class RequestParserTest : public testing::Test {
 protected:
  Outcome feed(std::string_view bytes, std::size_t piece) {
    RequestParser parser(options_, service_, budget_);
    InputBuffer in;
    Outcome outcome;
    for (; !bytes.empty() && outcome.refused == 0; bytes.remove_prefix(std::min(piece, bytes.size()))) {
      append(in, bytes.substr(0, piece));
      while (parser.step(in) == ParseProgress::complete) {
        outcome.bodies.push_back(parser.take_request().body);
        parser.reset();
      }
      if (parser.progress() == ParseProgress::refused) outcome.refused = parser.protocol_error().status;
    }
    return outcome;
  }

  ParseProgress step(RequestParser& parser, std::string_view bytes) {
    append(in_, bytes);
    return parser.step(in_);
  }

  ServerOptions options_;
  LimitService service_;
  BodyBudget budget_{1024 * 1024};
  InputBuffer in_;
};

TEST_F(RequestParserTest, TheSizeOfThePiecesDoesNotChangeTheMeaning) {
  for (const FramingVector& vector : framing_vectors()) {
    SCOPED_TRACE(vector.name);
    const Outcome whole = feed(vector.bytes, vector.bytes.size());

    for (const std::size_t piece : {1, 2, 3, 7, 64}) EXPECT_EQ(feed(vector.bytes, piece), whole);
  }
}

TEST_F(RequestParserTest, ARefusedStreamYieldsNoRequestAndItsStatus) {
  for (const FramingVector& vector : framing_vectors()) {
    SCOPED_TRACE(vector.name);
    const int refused = vector.statuses.back() == 200 ? 0 : vector.statuses.back();

    EXPECT_EQ(feed(vector.bytes, vector.bytes.size()).refused, refused);
  }
}

TEST_F(RequestParserTest, ChunksAreJoined) {
  const Outcome outcome = feed(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\n0\r\n\r\n\r\n1\r\nb\r\n0\r\nX: y\r\n\r\n",
      1);

  EXPECT_EQ(outcome, (Outcome{.bodies = {"0\r\n\r\nb"}}));
}

TEST_F(RequestParserTest, EveryBodyHasReadableZeroesBehindIt) {
  service_.limit = 1024 * 1024;
  for (const std::size_t size : {0, 1, 15, 16, 100, 65535, 65536, 65537, 300000}) {
    SCOPED_TRACE(size);
    RequestParser parser(options_, service_, budget_);
    const std::string header =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
    ASSERT_EQ(step(parser, header + std::string(size, 'x')), ParseProgress::complete);

    const Request request = parser.take_request();

    EXPECT_EQ(request.body, std::string(size, 'x'));
    EXPECT_GE(request.body.capacity(), size + kJsonPadding);
    EXPECT_EQ(std::string_view(request.body.data() + size, kJsonPadding), std::string(kJsonPadding, '\0'));
  }
}

TEST_F(RequestParserTest, ARefusalOverALimitNamesTheLimit) {
  service_.limit = 10;
  const std::string host = "Host: a\r\n";
  std::string fields;
  for (int i = 0; i < 101; ++i) fields += "X: y\r\n";
  struct Case {
    std::string bytes;
    int status;
    const char* message;
  };
  for (const Case& row : {
           Case{"GET /" + std::string(9000, 'a'), 414, "The request line has more than 8192 bytes."},
           Case{"GET / HTTP/1.1\r\nX: " + std::string(33000, 'a'), 431,
                "The header fields have more than 32768 bytes."},
           Case{"GET / HTTP/1.1\r\n" + fields, 431, "The request has more than 100 header fields."},
           Case{"POST / HTTP/1.1\r\n" + host + "Content-Length: 11\r\n\r\n", 413,
                "The body is too large; this request may have at most 10 bytes."},
           Case{"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nb\r\n", 413,
                "The body is too large; this request may have at most 10 bytes."},
       }) {
    RequestParser parser(options_, service_, budget_);
    InputBuffer in;
    append(in, row.bytes);

    EXPECT_EQ(parser.step(in), ParseProgress::refused) << row.message;
    EXPECT_EQ(parser.protocol_error().status, row.status);
    EXPECT_EQ(parser.protocol_error().message, row.message);
  }
}

TEST_F(RequestParserTest, AContentLengthReservesAtMost128KiB) {
  service_.limit = 32 * 1024 * 1024;
  RequestParser parser(options_, service_, budget_);

  ASSERT_EQ(step(parser, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 33554432\r\n\r\nx"),
            ParseProgress::body);

  EXPECT_LE(parser.header().request.body.capacity(), 128U * 1024);
}

TEST_F(RequestParserTest, TheServiceGetsMethodAndPathWithoutQuery) {
  RequestParser parser(options_, service_, budget_);

  step(parser, "PUT /queues/main?a=/b HTTP/1.1\r\nHost: a\r\n\r\n");

  EXPECT_EQ(service_.asked, "PUT /queues/main");
}

TEST_F(RequestParserTest, AHeadRequestKeepsItsMethod) {
  RequestParser parser(options_, service_, budget_);

  ASSERT_EQ(step(parser, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), ParseProgress::complete);

  EXPECT_TRUE(parser.header().is_head);
  EXPECT_EQ(parser.take_request().method, "HEAD");
}

TEST_F(RequestParserTest, ContinueIsDueOnceAndOnlyBeforeTheBody) {
  RequestParser parser(options_, service_, budget_);

  step(parser, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");

  EXPECT_TRUE(parser.take_continue());
  EXPECT_FALSE(parser.take_continue());
  EXPECT_EQ(step(parser, "{}"), ParseProgress::complete);
}

TEST_F(RequestParserTest, BodiesBeyondTheServersBudgetAreRefused) {
  service_.limit = 1024 * 1024;
  const std::string large =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 700000\r\n\r\n" + std::string(600000, 'x');
  auto first = std::make_unique<RequestParser>(options_, service_, budget_);
  ASSERT_EQ(step(*first, large), ParseProgress::body);

  RequestParser second(options_, service_, budget_);
  EXPECT_EQ(step(second, large), ParseProgress::refused);
  EXPECT_EQ(second.protocol_error().status, 503);

  first.reset();
  RequestParser third(options_, service_, budget_);
  EXPECT_EQ(step(third, large), ParseProgress::body);
}

TEST_F(RequestParserTest, BytesBehindARequestStayInTheBuffer) {
  RequestParser parser(options_, service_, budget_);

  ASSERT_EQ(step(parser, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}GET /next"),
            ParseProgress::complete);

  EXPECT_EQ(in_.bytes(), "GET /next");
}

}  // namespace
}  // namespace eventq::http
