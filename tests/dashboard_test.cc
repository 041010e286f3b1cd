// dashboard_test.cc: the status page in a real browser, as a person sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "support/http_client.h"
#include "support/process.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string cut(const std::string& text, std::size_t from, std::size_t to) {
  return from < to && to <= text.size() ? text.substr(from, to - from) : "";
}

class DashboardTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(EVENTQ_CHROMIUM).empty()) GTEST_SKIP() << "chromium is not installed";
    ASSERT_TRUE(server_.start()) << server_.log();
  }

  void post(int status, std::string_view target, std::string_view body) {
    const auto response = HttpClient(server_.port()).post(target, body);
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->status, status) << response->body;
  }

  // The page's title and body after some refreshes, as markup: text that holds "<" has "&lt;" there.
  // The browser's clock runs ahead whenever nothing is under way, so this takes no ten seconds.
  std::string open(const std::string& path) {
    const TemporaryDirectory profile;
    Process browser({.command = {EVENTQ_CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                                 "--disable-quic", "--no-first-run", "--disable-background-networking",
                                 "--disable-component-update", "--disable-sync",
                                 "--user-data-dir=" + profile.file("profile"), "--virtual-time-budget=10000",
                                 "--dump-dom", "http://127.0.0.1:" + std::to_string(server_.port()) + path},
                     .environment = {"HOME=" + profile.file("")},
                     .directory = profile.file("")});
    EXPECT_EQ(browser.wait(std::chrono::seconds(60)), 0) << browser.err();
    const std::string page = browser.out();
    return cut(page, page.find("<title>"), page.find("<style>")) +
           cut(page, page.find("<body>"), page.rfind("<script>"));
  }

  ServerProcess server_;
};

TEST_F(DashboardTest, ShowsHowToPublishAndSubscribeWhileThereAreNoEvents) {
  const std::string page = open("/");

  EXPECT_THAT(page, HasSubstr("<section id=\"empty\" class=\"card\">"));
  EXPECT_THAT(page, HasSubstr("<div id=\"filled\" hidden=\"\">"));
  EXPECT_THAT(page, HasSubstr(std::to_string(server_.port()) + "/events \\\n"));
  EXPECT_THAT(page, HasSubstr("/events/subscribe?tags=email&amp;worker_id="));
}

TEST_F(DashboardTest, ShowsPublishedEventsAndCountsThemByStatus) {
  post(201, "/events", R"({"title":"Send Email Notification","tags":"email,priority-high"})");
  post(201, "/events", R"({"title":"Process Payment","tags":"payment"})");
  post(200, "/events/subscribe", R"({"tags":"payment","worker_id":"worker-02:8742"})");

  const std::string page = open("/");

  EXPECT_THAT(page, HasSubstr("<section id=\"empty\" class=\"card\" hidden=\"\">"));
  EXPECT_THAT(page, HasSubstr(">ready</span>"));
  EXPECT_THAT(page, HasSubstr("1 event waits, 1 is being worked on."));
  EXPECT_THAT(
      page, HasSubstr(">Send Email Notification</a><span class=\"small text\">email · priority-high</span>"));
  EXPECT_THAT(page, HasSubstr(">Process Payment</a>"));
  EXPECT_THAT(page, HasSubstr(">PROCESSING</span>"));
  EXPECT_THAT(page, HasSubstr("2 of 2, newest first"));
}

TEST_F(DashboardTest, ShowsAPayloadAsItWasSent) {
  post(201, "/events",
       R"({"title":"Count","tags":"count","payload":{"n": 12345678901234567890, "x":1.0, "s":"a,\"}b"}})");

  const std::string page = open("/#1");

  EXPECT_THAT(page, HasSubstr(R"(>{"n": 12345678901234567890, "x":1.0, "s":"a,\"}b"}</pre>)"));
}

TEST_F(DashboardTest, ShowsWhyAnEventIsWhereItIsAndWhatWasDoneToIt) {
  post(201, "/events", R"({"title":"Send Email Notification","tags":"email"})");
  post(200, "/events/subscribe", R"({"tags":"email","worker_id":"worker-01:7234"})");
  post(200, "/events/1/fail",
       R"({"worker_id":"worker-01:7234","error_message":"Service unavailable, will retry"})");

  const std::string page = open("/#1");

  EXPECT_THAT(page, HasSubstr(">Failure 1 of 3 was reported; it may run again in "));
  EXPECT_THAT(page, HasSubstr(">PICKED</b> attempt 1 <span class=\"text\">by worker-01:7234</span>"));
  EXPECT_THAT(page, HasSubstr(">FAILED</b> attempt 1 <span class=\"text\">by worker-01:7234</span>"));
  EXPECT_THAT(page, HasSubstr("<div class=\"text\">Service unavailable, will retry</div>"));
}

TEST_F(DashboardTest, SaysThatAnEventIsNotThere) {
  post(201, "/events", R"({"title":"Send Email Notification","tags":"email"})");

  EXPECT_THAT(open("/#999"), HasSubstr(">There is no event 999.</p>"));
}

// Everything that publishers and workers can write is on this page, and none of it is markup.
TEST_F(DashboardTest, ShowsHostileTextAsText) {
  post(
      201, "/events",
      R"({"title":"<img src=x onerror=document.title=1>","description":"</p><script>document.title=2</script>",
      "tags":"email","queue":"main","event_id":"<svg/onload=document.title=3>","correlation_id":"<a/href=javascript:4>",
      "payload":"</pre><iframe src=javascript:document.title=5>"})");
  post(200, "/events/subscribe", R"({"tags":"email","worker_id":"<video/onerror=document.title=6>"})");
  post(200, "/events/1/complete",
       R"({"worker_id":"<video/onerror=document.title=6>","errors":["<object data=x>"]})");
  post(201, "/events", R"({"title":"<embed src=x>","tags":"mail"})");
  post(200, "/events/subscribe", R"({"tags":"mail","worker_id":"worker:1"})");
  post(200, "/events/2/fail", R"({"worker_id":"worker:1","error_message":"<style>*{display:none}</style>"})");
  post(200, "/events/2/cancel?reason=%3Cmarquee%3E", "");

  const std::string page = open("/#1") + open("/#2");

  for (const std::string element :
       {"img", "svg", "a/", "iframe", "video", "object", "embed", "marquee", "script", "style"}) {
    EXPECT_THAT(page, HasSubstr("&lt;" + element));
    EXPECT_THAT(page, Not(HasSubstr("<" + element)));
  }
  EXPECT_EQ(count(page, "<title>eventq</title>"), 2U);
}

TEST_F(DashboardTest, LoadsNothingFromElsewhere) {
  const auto page = HttpClient(server_.port()).get("/");

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->header("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  for (const std::string way : {"http:", "https:", " src=", "@import", "url(", "innerHTML", "eval("}) {
    EXPECT_THAT(page->body, Not(HasSubstr(way)));
  }
}

}  // namespace
}  // namespace eventq
