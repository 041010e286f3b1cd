// response_writer_test.cc: the bytes of response headers.
#include "http/transport/response_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace eventq::http {
namespace {

std::string header_of(const Response& response, Persistence persistence = Persistence::keep,
                      std::string_view date = "") {
  std::string out;
  append_header(out, response, persistence, date);
  return out;
}

TEST(ResponseWriter, AHeaderHasStatusTypeAndLength) {
  EXPECT_EQ(header_of({.status = 201, .body = "{}"}),
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n");
}

TEST(ResponseWriter, FieldsOfTheResponseAndTheDateAreSent) {
  const Response response{.body = "x", .content_type = "text/plain", .headers = {{"Retry-After", "1"}}};

  EXPECT_EQ(header_of(response, Persistence::keep, "now"),
            "HTTP/1.1 200 OK\r\nDate: now\r\nRetry-After: 1\r\nContent-Type: text/plain\r\nContent-Length: "
            "1\r\n\r\n");
}

TEST(ResponseWriter, TheConnectionFieldIsSentForCloseAndForHttp10) {
  EXPECT_EQ(header_of({}, Persistence::close),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(header_of({}, Persistence::keep_named),
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
}

TEST(ResponseWriter, NoContentHasNoLength) {
  EXPECT_EQ(header_of({.status = 204, .body = "dropped"}), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(ResponseWriter, AnUnknownStatusIsSentWithoutAReason) {
  EXPECT_EQ(header_of({.status = 299}), "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseWriter, ALineEndInAValueDoesNotStartAField) {
  EXPECT_EQ(header_of({.headers = {{"X-Request-Id", "a\r\nSet-Cookie: b"}}}),
            "HTTP/1.1 200 OK\r\nX-Request-Id: a  Set-Cookie: b\r\nContent-Length: 0\r\n\r\n");
}

TEST(ResponseWriter, ADateIsInTheFormOfTheStandard) {
  using namespace std::chrono;
  const TimePoint time = sys_days(1994y / November / 6) + 8h + 49min + 37s + 999ms;

  EXPECT_EQ(http_date(time), "Sun, 06 Nov 1994 08:49:37 GMT");
}

}  // namespace
}  // namespace eventq::http
