// cors_api_test.cc: `eventq serve --allow-origin`: which pages of other sites may use the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/http_client.h"
#include "support/raw_client.h"
#include "support/server_process.h"

namespace eventq {
namespace {

using testing::HasSubstr;

constexpr const char* kPage = "https://app.example.com";
constexpr const char* kOther = "https://evil.example.com";
constexpr const char* kEvent = R"({"title":"Send","tags":"email"})";

class CorsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.start()) << server_.log(); }

  HttpResponse request(const std::string& method, const std::string& target, const HttpHeaders& headers,
                       const std::string& body = "") const {
    HttpClient client(server_.port());
    auto answer = client.request(method, target, body, headers);
    EXPECT_TRUE(answer) << target;
    return answer ? *answer : HttpResponse();
  }

  ServerProcess server_{{"--allow-origin", kPage, "--allow-origin", "http://localhost:5173"}};
};

// What a browser sends for a page of another site.
HttpHeaders from(const std::string& origin) { return {{"Origin", origin}, {"Sec-Fetch-Site", "cross-site"}}; }

TEST_F(CorsTest, AllowOriginEnablesCorsWithPreflightForListedOrigins) {
  HttpHeaders preflight = from(kPage);
  preflight.emplace_back("Access-Control-Request-Method", "POST");
  preflight.emplace_back("Access-Control-Request-Headers", "content-type,idempotency-key");

  const HttpResponse asked = request("OPTIONS", "/events", preflight);
  const HttpResponse published = request("POST", "/events", from(kPage), kEvent);

  EXPECT_EQ(asked.status, 204);
  EXPECT_EQ(asked.body, "");
  EXPECT_EQ(asked.header("Access-Control-Allow-Origin"), kPage);
  EXPECT_EQ(asked.header("Access-Control-Allow-Methods"), "DELETE, GET, HEAD, PATCH, POST, PUT");
  EXPECT_EQ(asked.header("Access-Control-Allow-Headers"), "*, Authorization");
  EXPECT_EQ(asked.header("Access-Control-Max-Age"), "600");
  EXPECT_EQ(asked.header("Vary"), "Origin");
  EXPECT_EQ(published.status, 201);
  EXPECT_EQ(published.header("Access-Control-Allow-Origin"), kPage);
  EXPECT_THAT(std::string(published.header("Access-Control-Expose-Headers")), HasSubstr("X-Request-Id"));
  EXPECT_EQ(request("GET", "/events/1", from("http://localhost:5173")).header("Access-Control-Allow-Origin"),
            "http://localhost:5173");
}

TEST_F(CorsTest, AnOriginThatIsNotListedGetsNoFieldAndMayNotChange) {
  HttpHeaders preflight = from(kOther);
  preflight.emplace_back("Access-Control-Request-Method", "POST");
  const HttpResponse asked = request("OPTIONS", "/events", preflight);
  const HttpResponse published = request("POST", "/events", from(kOther), kEvent);
  const HttpResponse listed = request("GET", "/events", from(kOther));

  EXPECT_EQ(asked.status, 405);
  EXPECT_EQ(published.status, 403);
  EXPECT_EQ(listed.status, 200);
  for (const HttpResponse& answer : {asked, published, listed}) {
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(answer.header("Access-Control-Allow-Methods"), "");
  }
  EXPECT_EQ(listed.header("Vary"), "Origin");
}

TEST_F(CorsTest, APageCanReadErrorsAlsoThoseOfTheTransport) {
  const std::string large(2 * 1024 * 1024, 'x');

  for (const HttpResponse& error :
       {request("POST", "/events", from(kPage), "{"), request("GET", "/nothing", from(kPage)),
        request("POST", "/events", from(kPage), large)}) {
    EXPECT_GE(error.status, 400);
    EXPECT_EQ(error.header("Access-Control-Allow-Origin"), kPage) << error.status;
  }
}

TEST_F(CorsTest, OptionsWithoutTheFieldOfAPreflightIsNone) {
  EXPECT_EQ(request("OPTIONS", "/events", from(kPage)).status, 405);
}

TEST_F(CorsTest, AStreamHasTheFields) {
  http::RawClient client(server_.port());
  ASSERT_TRUE(client.send("GET /events/stream?worker_id=w:1 HTTP/1.1\r\nHost: localhost\r\nOrigin: " +
                          std::string(kPage) + "\r\nSec-Fetch-Site: cross-site\r\n\r\n"));

  EXPECT_THAT(client.read_through("\r\n\r\n"),
              HasSubstr("\r\nAccess-Control-Allow-Origin: " + std::string(kPage) + "\r\n"));
}

TEST(CorsSettings, AStarAndAnythingThatIsNoOriginAreRefused) {
  const TemporaryDirectory folder;
  for (const std::string bad : {"*", "https://app.example.com/", "app.example.com", "null"}) {
    const Finished finished =
        run(eventq_program(folder.file(""), {"serve", "--allow-origin", bad, "--print-config"}));
    EXPECT_EQ(finished.exit_code, 2) << bad;
    EXPECT_THAT(finished.err,
                HasSubstr("--allow-origin must be an origin as browsers send it, such as "
                          "https://app.example.com or http://localhost:5173, without a path; * is refused, "
                          "because callers are not authenticated, not \"" +
                          bad + "\"."));
  }
}

TEST(CorsSettings, WithoutOriginsNoAnswerVariesByOrigin) {
  ServerProcess server;
  ASSERT_TRUE(server.start()) << server.log();
  HttpClient client(server.port());

  EXPECT_EQ(client.get("/events")->header("Vary"), "");
}

}  // namespace
}  // namespace eventq
