// http_client_test.cc: successful calls, and broken or slow connections.
#include "client/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include "support/scripted_server.h"

namespace eventq::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HttpClient client_of(const ScriptedServer& server) { return HttpClient(HttpUrl{"127.0.0.1", server.port()}); }

// Sends one GET to a server that follows `script`.
Result<HttpResponse> get_from(ScriptedServer::Script script, Millis patience = std::chrono::seconds(60)) {
  const ScriptedServer server({std::move(script)});
  HttpClient client = client_of(server);
  HttpRequest request;
  request.timeout = patience;
  return client.call(request);
}

void expect_error(const Result<HttpResponse>& result, ErrorCode code, const std::string& words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code);
  EXPECT_THAT(result.error().message, HasSubstr(words));
}

TEST(ParseUrl, AcceptsHostPortAndASlash) {
  struct Case {
    std::string url;
    std::string host;
    std::uint16_t port;
  };
  for (const Case& c :
       {Case{"http://127.0.0.1:8080", "127.0.0.1", 8080}, Case{"http://127.0.0.1:8080/", "127.0.0.1", 8080},
        Case{"http://queue-1.example", "queue-1.example", 80}, Case{"http://[::1]:1", "::1", 1},
        Case{"http://[fe80::1]", "fe80::1", 80}, Case{"http://localhost:65535", "localhost", 65535}}) {
    const auto url = parse_url(c.url);
    ASSERT_TRUE(url) << c.url;
    EXPECT_EQ(url->host, c.host) << c.url;
    EXPECT_EQ(url->port, c.port) << c.url;
  }
}

TEST(ParseUrl, RefusesUrlsThatAreNoServer) {
  for (const std::string url :
       {"", "127.0.0.1:8080", "https://a:1", "http://", "http:///", "http://:80", "http://a:", "http://a:0",
        "http://a:65536", "http://a:08", "http://a:1/events", "http://u@a:1", "http://[::1", "http://[]:1",
        "http://[::1]8080", "http://a b", "http://a\r\nb"}) {
    const auto parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(parsed.error().message, HasSubstr("Write http://HOST:PORT"));
  }
  EXPECT_EQ(
      parse_url("https://a:1").error().message,
      "\"https://a:1\" is not the URL of a server. eventq has no TLS; use a proxy. Write http://HOST:PORT, "
      "such as http://127.0.0.1:8080.");
}

TEST(HttpClient, SendsARequestAndReadsItsAnswer) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.answer("201 Created", R"({"a":1})", "X-Request-Id: r1\r\n");
  }});
  HttpClient client = client_of(server);
  HttpRequest request;
  request.method = "POST";
  request.target = "/events?a=b";
  request.body = "{}";
  request.headers.emplace_back("Idempotency-Key", "k");
  const auto response = client.call(request);

  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"a":1})");
  EXPECT_EQ(response->header("x-request-id"), "r1");
  EXPECT_EQ(response->header("retry-after"), "");
  EXPECT_THAT(server.requests(),
              ElementsAre("POST /events?a=b HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                          "\r\nAccept: application/json\r\nIdempotency-Key: k\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
}

TEST(HttpClient, RefusesAHeaderWithALineBreak) {
  HttpClient client(HttpUrl{"127.0.0.1", 1});
  HttpRequest request;
  request.headers.emplace_back("A", "b\r\nC: d");
  expect_error(client.call(request), ErrorCode::invalid_argument, "line break");
}

TEST(HttpClient, ReusesAConnection) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.answer("200 OK", "one");
    peer.read_request();
    peer.answer("200 OK", "two");
  }});
  HttpClient client = client_of(server);
  EXPECT_EQ(client.call({}).value().body, "one");
  EXPECT_EQ(client.call({}).value().body, "two");
}

TEST(HttpClient, DropsAConnectionThatTheServerHasClosed) {
  const auto answers = [](std::string body) {
    return [body](Peer& peer) {
      peer.read_request();
      peer.answer("200 OK", body);
    };
  };
  const ScriptedServer server({answers("one"), answers("two"), answers("three")});
  HttpClient client = client_of(server);
  HttpClient other = client_of(server);
  EXPECT_EQ(client.call({}).value().body, "one");
  // The server accepts this connection after the first one is closed.
  EXPECT_EQ(other.call({}).value().body, "two");
  EXPECT_EQ(client.call({}).value().body, "three");
}

TEST(HttpClient, DropsAConnectionWhenTheServerAsks) {
  const ScriptedServer server({[](Peer& peer) {
                                 peer.read_request();
                                 peer.answer("200 OK", "one", "Connection: close\r\n");
                                 peer.await_close();
                               },
                               [](Peer& peer) {
                                 peer.read_request();
                                 peer.answer("200 OK", "two");
                               }});
  HttpClient client = client_of(server);
  EXPECT_EQ(client.call({}).value().body, "one");
  EXPECT_EQ(client.call({}).value().body, "two");
}

TEST(HttpClient, DropsAConnectionWithUnexpectedBytes) {
  const ScriptedServer server({[](Peer& peer) {
                                 peer.read_request();
                                 peer.send(
                                     "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 200 OK\r\n");
                                 peer.await_close();
                               },
                               [](Peer& peer) {
                                 peer.read_request();
                                 peer.answer("200 OK", "two");
                               }});
  HttpClient client = client_of(server);
  EXPECT_EQ(client.call({}).value().body, "one");
  EXPECT_EQ(client.call({}).value().body, "two");
}

TEST(HttpClient, ReadsChunksAndBodiesThatEndWithTheConnection) {
  const auto chunked = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    peer.send("3\r\ntwo\r\n0\r\n\r\n");
    peer.await_close();
  });
  EXPECT_EQ(chunked.value().body, "onetwo");
  const auto to_the_end = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
  });
  EXPECT_EQ(to_the_end.value().body, "until the end");
}

TEST(HttpClient, SkipsInterimResponses) {
  const auto response = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  EXPECT_EQ(response.value().body, "ok");
}

TEST(HttpClient, ReadsTheAnswerToARequestThatWasNotReadToItsEnd) {
  const ScriptedServer server({[](Peer& peer) {
    peer.answer("413 Payload Too Large", "no", "Connection: close\r\n");
    peer.await_close();
  }});
  HttpClient client = client_of(server);
  HttpRequest request;
  request.method = "POST";
  request.body.assign(64 * 1024 * 1024, 'x');
  EXPECT_EQ(client.call(request).value().status, 413);
}

TEST(HttpClient, ReturnsUnavailableWhenNoServerListens) {
  const ClosedPort port;
  HttpClient client(HttpUrl{"127.0.0.1", port.number()});
  expect_error(client.call({}), ErrorCode::unavailable, "Is an eventq server running there?");
}

TEST(HttpClient, ReturnsUnavailableForAnUnknownHost) {
  HttpClient client(HttpUrl{"no-such-host.invalid", 80});
  expect_error(client.call({}), ErrorCode::unavailable, "no-such-host.invalid");
}

TEST(HttpClient, ReturnsUnknownOutcomeWithoutACompleteAnswer) {
  const auto closed = get_from([](Peer& peer) { peer.read_request(); });
  expect_error(closed, ErrorCode::unknown_outcome, "closed the connection");
  const auto reset = get_from([](Peer& peer) {
    peer.read_request();
    peer.reset();
  });
  expect_error(reset, ErrorCode::unknown_outcome, "broke");
  const auto half_a_header = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Le");
  });
  expect_error(half_a_header, ErrorCode::unknown_outcome, "closed the connection");
  const auto half_a_body = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  });
  expect_error(half_a_body, ErrorCode::unknown_outcome, "closed the connection");
  const auto garbage = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  });
  expect_error(garbage, ErrorCode::unknown_outcome, "cannot be read");
}

TEST(HttpClient, RefusesAnAnswerOverItsLimit) {
  const auto whole = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 268435456\r\n\r\n");
  });
  expect_error(whole, ErrorCode::unknown_outcome, "closed the connection");
  const auto over = get_from([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 268435457\r\n\r\n");
  });
  expect_error(over, ErrorCode::unknown_outcome, "cannot be read");
}

TEST(HttpClient, GivesUpOnAServerThatStalls) {
  const auto silent = get_from([](Peer& peer) { peer.await_close(); }, Millis(200));
  expect_error(silent, ErrorCode::timeout, "did not answer in time");
  const auto stuck = get_from(
      [](Peer& peer) {
        peer.read_request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        peer.await_close();
      },
      Millis(200));
  expect_error(stuck, ErrorCode::timeout, "did not answer in time");
}

TEST(HttpStream, PassesPiecesOnAsTheyArrive) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    peer.send("3\r\ntwo\r\n0\r\n\r\n");
  }});
  HttpClient client = client_of(server);
  std::string seen;
  const auto response = client.stream({},
                                      [&](std::string_view piece) {
                                        seen += piece;
                                        return true;
                                      },
                                      {});
  EXPECT_EQ(response.value().status, 200);
  EXPECT_EQ(seen, "onetwo");
}

TEST(HttpStream, EndsWhenItsReaderReturnsFalse) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    peer.await_close();
  }});
  HttpClient client = client_of(server);
  const auto response = client.stream({}, [](std::string_view) { return false; }, {});
  EXPECT_EQ(response.value().status, 200);
}

TEST(HttpStream, EndsSoonAfterTheStop) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    peer.await_close();
  }});
  HttpClient client = client_of(server);
  std::stop_source stop;
  HttpRequest request;
  request.timeout = std::chrono::hours(1);
  const auto response = client.stream(
      request,
      [&](std::string_view) {
        stop.request_stop();
        return true;
      },
      stop.get_token());
  EXPECT_EQ(response.value().status, 200);
}

TEST(HttpStream, ReturnsARefusalCompletely) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.answer("400 Bad Request", "why");
  }});
  HttpClient client = client_of(server);
  bool handed_on = false;
  const auto response = client.stream({},
                                      [&](std::string_view) {
                                        handed_on = true;
                                        return true;
                                      },
                                      {});
  EXPECT_EQ(response.value().status, 400);
  EXPECT_EQ(response.value().body, "why");
  EXPECT_FALSE(handed_on);
}

TEST(HttpStream, EndsAfterTheTimeoutWithoutData) {
  const ScriptedServer server({[](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    peer.await_close();
  }});
  HttpClient client = client_of(server);
  HttpRequest request;
  request.timeout = Millis(100);
  const auto response = client.stream(request, [](std::string_view) { return true; }, {});
  expect_error(response, ErrorCode::timeout, "in time");
}

}  // namespace
}  // namespace eventq::client
