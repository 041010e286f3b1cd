// dashboard_test.cc: the status page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Writes a browser extension that runs `script` in the page. Like a user, it sees the page but not the page's
// variables.
void write_extension(const std::string& directory, std::string_view script) {
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/manifest.json")
      << R"({"manifest_version":3,"name":"script","version":"1",)"
         R"("content_scripts":[{"matches":["http://127.0.0.1/*"],"js":["script.js"]}]})";
  // Each step waits for its element, because the page loads its data after itself.
  std::ofstream(directory + "/script.js") << R"(
    const when = async find => { for (;;) { const found = find(); if (found) return found; await new Promise(go => setTimeout(go, 50)); } };
    const press = async name => (await when(() => [...document.querySelectorAll('button')].find(
        button => button.checkVisibility() && (button.ariaLabel || button.textContent).startsWith(name)))).click();
    const type = async (id, text) => { (await when(() => document.getElementById(id))).value = text; };
    (async () => {)" << script << "})();\n";
}

class DashboardTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(EVENTQ_CHROMIUM).empty()) GTEST_SKIP() << "chromium is not installed";
    ASSERT_TRUE(server_.start()) << server_.log();
  }

  void send(int status, std::string_view method, std::string_view target, std::string_view body) {
    const auto response = HttpClient(server_.port()).request(method, target, body);
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->status, status) << response->body;
  }
  void post(int status, std::string_view target, std::string_view body) {
    send(status, "POST", target, body);
  }

  std::string get(std::string_view target) {
    const auto response = HttpClient(server_.port()).get(target);
    EXPECT_TRUE(response) << response.error().message;
    return response ? response->body : "";
  }

  // Publishes an event and fails it once, which is its last failure.
  void fail_for_good(int id, const std::string& cause) {
    post(201, "/events", R"({"title":"Send","tags":"email","queue":"mail","max_retries":0})");
    post(200, "/events/subscribe", R"({"tags":"email","queue":"mail","worker_id":"worker:1"})");
    post(400, "/events/" + std::to_string(id) + "/fail",
         R"({"worker_id":"worker:1","error_message":")" + cause + R"("})");
  }

  // The page's title and body after some refreshes, as markup: "<" in text is "&lt;". The browser's clock
  // runs faster while no request is in progress, so this takes less than ten seconds. `script` is a script
  // that clicks and types.
  std::string open(const std::string& path, std::string_view script = {}) {
    return open_at(server_.port(), path, script);
  }
  static std::string open_at(std::uint16_t port, const std::string& path, std::string_view script = {}) {
    const TemporaryDirectory profile;
    std::vector<std::string> command = {EVENTQ_CHROMIUM,
                                        "--headless",
                                        "--no-sandbox",
                                        "--disable-gpu",
                                        "--disable-quic",
                                        "--no-first-run",
                                        "--disable-background-networking",
                                        "--disable-component-update",
                                        "--disable-sync",
                                        "--user-data-dir=" + profile.file("profile"),
                                        "--virtual-time-budget=10000"};
    if (!script.empty()) {
      write_extension(profile.file("script"), script);
      command.push_back("--disable-extensions-except=" + profile.file("script"));
      command.push_back("--load-extension=" + profile.file("script"));
    }
    command.emplace_back("--dump-dom");
    command.push_back("http://127.0.0.1:" + std::to_string(port) + path);
    Process browser(
        {.command = command, .environment = {"HOME=" + profile.file("")}, .directory = profile.file("")});
    EXPECT_EQ(browser.wait(std::chrono::seconds(300)), 0) << browser.err();
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

TEST_F(DashboardTest, NamesTheQueueWithEventsOfATagThatNoWorkerAsksFor) {
  post(201, "/events", R"({"title":"One","tags":"a","queue":"mail"})");
  post(201, "/events", R"({"title":"Two","tags":"b","queue":"mail"})");
  post(200, "/events/subscribe", R"({"tags":"a","queue":"mail","worker_id":"worker:1"})");

  EXPECT_THAT(open("/"), HasSubstr("In queue mail events wait and no worker asks for them."));
}

TEST_F(DashboardTest, MakesOneRequestPerRefresh) {
  post(201, "/events", R"({"title":"Send","tags":"email"})");

  // The page shows the paths of all requests that it made as its title.
  const std::string page = open("/", R"(setInterval(() => {
      document.title = performance.getEntriesByType('resource').filter(entry => entry.initiatorType === 'fetch')
        .map(entry => new URL(entry.name).pathname).join(' '); }, 100);)");

  const std::string title = cut(page, page.find("<title>") + 7, page.find("</title>"));
  EXPECT_GE(count(title, "/overview"), 2U) << title;
  EXPECT_LE(count(title, "/overview"), 6U) << title;
  EXPECT_EQ(count(title, "/"), count(title, "/overview")) << title;
}

TEST_F(DashboardTest, ShowsAPayloadAsItWasSent) {
  post(201, "/events",
       R"({"title":"Count","tags":"count","payload":{"n": 12345678901234567890, "x":1.0, "s":"a,\"}b"}})");

  const std::string page = open("/#1");

  EXPECT_THAT(page, HasSubstr(R"(>{"n": 12345678901234567890, "x":1.0, "s":"a,\"}b"}</pre>)"));
}

TEST_F(DashboardTest, ShowsTheReasonForTheStatusOfAnEventAndItsLog) {
  post(201, "/events", R"({"title":"Send Email Notification","tags":"email"})");
  post(200, "/events/subscribe", R"({"tags":"email","worker_id":"worker-01:7234"})");
  post(200, "/events/1/fail",
       R"({"worker_id":"worker-01:7234","error_message":"Service unavailable, will retry"})");

  const std::string page = open("/#1");

  EXPECT_THAT(page, HasSubstr(">Failure 1 of 3 was reported; it may run again in "));
  EXPECT_THAT(
      page,
      HasSubstr(
          ">PICKED</b> attempt 1 by <a class=\"text\" href=\"#worker=worker-01%3A7234\">worker-01:7234</a>"));
  EXPECT_THAT(
      page,
      HasSubstr(
          ">FAILED</b> attempt 1 by <a class=\"text\" href=\"#worker=worker-01%3A7234\">worker-01:7234</a>"));
  EXPECT_THAT(page, HasSubstr("<div class=\"text\">Service unavailable, will retry</div>"));
}

TEST_F(DashboardTest, ReportsThatAnEventDoesNotExist) {
  post(201, "/events", R"({"title":"Send Email Notification","tags":"email"})");

  EXPECT_THAT(open("/#999"), HasSubstr(">There is no event 999.</p>"));
}

TEST_F(DashboardTest, OpensAnEventByItsEventIdInTheAddress) {
  post(201, "/events", R"({"title":"Charge","tags":"payment","event_id":"order/1","payload":{"amount":12}})");

  const std::string page = open("/#order%2F1");

  EXPECT_THAT(page, HasSubstr(R"(>{"amount":12}</pre>)"));
  EXPECT_THAT(open("/#order%2F2"), HasSubstr(">There is no event order/2.</p>"));
}

TEST_F(DashboardTest, OpensTheEventThatIsTypedByNumberOrByEventId) {
  post(201, "/events", R"({"title":"Charge","tags":"payment","event_id":"order/1","payload":{"amount":12}})");
  post(201, "/events", R"({"title":"Refund","tags":"payment","payload":{"amount":34}})");

  EXPECT_THAT(open("/", "await type('name', ' order/1 '); await press('Open');"),
              HasSubstr(R"(>{"amount":12}</pre>)"));
  EXPECT_THAT(open("/", "await type('name', '2'); await press('Open');"),
              HasSubstr(R"(>{"amount":34}</pre>)"));
}

TEST_F(DashboardTest, ShowsQueuesWithTheirState) {
  send(201, "PUT", "/queues/mail", R"({"maxQueueDepth":4,"highWatermark":2})");
  send(201, "PUT", "/queues/clicks", R"({"durability":"buffered"})");
  send(201, "PUT", "/queues/slow", R"({"durability":"buffered","processingInterval":5000})");
  for (int n = 0; n < 3; ++n) post(201, "/events", R"({"title":"Send","tags":"email","queue":"mail"})");
  post(200, "/queues/mail/pause", R"({"reason":"the mail server moves","by":"alice"})");
  post(200, "/queues/clicks/drain", "");

  const std::string page = open("/");

  EXPECT_THAT(page, HasSubstr(">4 queues, 1 paused, 1 draining</span>"));
  EXPECT_THAT(page, HasSubstr("\">active</span>"));
  EXPECT_THAT(page, HasSubstr("\">draining</span>"));
  EXPECT_THAT(page,
              HasSubstr("\">paused</span><span class=\"small text\">the mail server moves · by alice, "));
  EXPECT_THAT(page, HasSubstr(">3 of 4</span><span class=\"depth\" aria-hidden=\"true\""));
  EXPECT_THAT(
      page,
      HasSubstr("<i class=\"\" style=\"width: max(3px, 75%);\"></i><b class=\"\" style=\"left: 50%;\"></b>"));
  EXPECT_THAT(page, HasSubstr(">above 2: publishers are asked to slow down</span>"));
  EXPECT_THAT(page, HasSubstr(">0</span><span class=\"depth\" aria-hidden=\"true\" hidden=\"\">"));  // main
  EXPECT_THAT(page, HasSubstr(">strict</span>"));
  EXPECT_THAT(page, HasSubstr(">buffered: a power cut may lose the last second</span>"));
  EXPECT_THAT(page, HasSubstr(">buffered: a power cut may lose the last 5 s</span>"));
}

TEST_F(DashboardTest, PausesAQueueAndResumesItWithAReason) {
  send(201, "PUT", "/queues/billing%2Feu", "{}");
  post(201, "/events", R"({"title":"Charge","tags":"payment","queue":"billing/eu"})");

  const std::string page = open("/", "await press('Pause queue billing/eu');");
  EXPECT_THAT(page, HasSubstr(">Pause queue billing/eu?</h2>"));
  EXPECT_THAT(get("/queues/billing%2Feu"), HasSubstr(R"("status":"active")"));  // not confirmed yet

  const std::string paused = open("/", R"(
    await press('Pause queue billing/eu');
    await type('reason', 'the bank is closed');
    await type('by', 'bob');
    await press('Pause it');)");
  EXPECT_THAT(paused, HasSubstr(">Queue billing/eu was paused.</p>"));
  EXPECT_THAT(paused, HasSubstr("\">paused</span><span class=\"small text\">the bank is closed · by bob, "));
  const std::string queue = get("/queues/billing%2Feu");
  EXPECT_THAT(queue, HasSubstr(R"("status":"paused")"));
  EXPECT_THAT(queue, HasSubstr(R"("statusReason":"the bank is closed","statusBy":"bob")"));

  const std::string resumed = open("/", "await press('Resume queue billing/eu'); await press('Resume it');");
  EXPECT_THAT(resumed, HasSubstr(">Queue billing/eu was resumed.</p>"));
  EXPECT_THAT(resumed, Not(HasSubstr("\">paused</span>")));
  EXPECT_THAT(get("/queues/billing%2Feu"), HasSubstr(R"("status":"active")"));
}

TEST_F(DashboardTest, ShowsFailuresByCauseAndRetriesThem) {
  fail_for_good(1, "Timeout after 31 ms");
  fail_for_good(2, "Timeout after 47 ms");
  fail_for_good(3, "Refused");

  const std::string page = open("/", "await press('Retry 2 events of queue mail: “Timeout');");
  EXPECT_THAT(page, HasSubstr(">3 events, 2 causes</span>"));
  EXPECT_THAT(page, HasSubstr("title=\"Timeout after # ms\">Timeout after 47 ms</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"small text bad\">Timeout after 31 ms</span>"));
  EXPECT_THAT(page, HasSubstr("href=\"#2\">event 2</a>"));
  EXPECT_THAT(page, HasSubstr(">Retry 2 events?</h2>"));
  EXPECT_THAT(get("/events/1"), HasSubstr(R"("status":"FAILED")"));  // only a dry run so far

  const std::string retried = open("/", R"(
    await press('Retry 2 events of queue mail: “Timeout');
    await when(() => document.getElementById('ask').open);
    await type('reason', 'the network is back');
    await type('by', 'alice');
    document.getElementById('ask-yes').click();)");
  EXPECT_THAT(retried, HasSubstr(">2 events were retried.</p>"));
  EXPECT_THAT(retried, HasSubstr(">1 event, 1 cause</span>"));
  EXPECT_THAT(retried, Not(HasSubstr("title=\"Timeout after # ms\"")));
  EXPECT_THAT(get("/events/1?include_logs=true"), HasSubstr("the network is back"));
  EXPECT_THAT(get("/events/2"), HasSubstr(R"("status":"PENDING")"));
  EXPECT_THAT(get("/events/3"), HasSubstr(R"("status":"FAILED")"));
}

TEST_F(DashboardTest, NamesStaleWorkersWithTheReason) {
  ServerProcess server({"--stale-after", "1ms"});
  ASSERT_TRUE(server.start()) << server.log();
  HttpClient client(server.port());
  ASSERT_EQ(client.post("/events", R"({"title":"Send","tags":"email"})")->status, 201);
  ASSERT_EQ(client.post("/events/subscribe", R"({"tags":"email","worker_id":"worker:1"})")->status, 200);

  const std::string page = open_at(server.port(), "/");

  EXPECT_THAT(page, HasSubstr(">1 worker, 1 stale:</span>"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "href=\"#worker=worker%3A1\">worker:1</a></b> <span class=\"\">No sign of life for event 1 for "));
}

TEST_F(DashboardTest, AWorkersNameOpensItsLog) {
  fail_for_good(1, "Refused");

  const std::string page = open("/", R"(
    await when(() => document.querySelector('#rows a[href^="#worker="]'));
    document.querySelector('#rows a[href^="#worker="]').click();
    await when(() => document.querySelector('#w-log li'));)");

  EXPECT_THAT(page, HasSubstr("<section id=\"worker\" class=\"card detail\" aria-label=\"Worker\">"));
  EXPECT_THAT(page, HasSubstr(">FAILED</b> attempt 1 of <a class=\"\" href=\"#1\">event 1</a>"));
  EXPECT_THAT(page, HasSubstr(">PICKED</b> attempt 1 of <a class=\"\" href=\"#1\">event 1</a>"));
  EXPECT_THAT(page, HasSubstr(">Refused</div>"));
}

// The page contains every text that publishers and workers can write, and none of it may become markup.
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

  post(201, "/events", R"({"title":"Send","tags":"chat","max_retries":0})");
  post(200, "/events/subscribe", R"({"tags":"chat","worker_id":"<track/onerror=document.title=7>"})");
  post(
      400, "/events/3/fail",
      R"({"worker_id":"<track/onerror=document.title=7>","error_message":"<audio src=x onerror=document.title=8>"})");
  post(200, "/queues/main/pause", R"({"reason":"<form action=x>\"'","by":"<base href=x>"})");
  // A queue cannot have such a name, so there is nothing to show.
  send(400, "PUT", "/queues/%3Cb%3E", "{}");

  const std::string page = open("/#1") + open("/#2") + open("/#3") + open("/", "await press('Retry');");
  EXPECT_THAT(page, HasSubstr(">Retry 1 event?</h2>"));

  for (const std::string element : {"audio", "track", "form action", "base", "img", "svg", "a/", "iframe",
                                    "video", "object", "embed", "marquee", "script", "style"}) {
    EXPECT_THAT(page, HasSubstr("&lt;" + element));
    EXPECT_THAT(page, Not(HasSubstr("<" + element)));
  }
  EXPECT_EQ(count(page, "<title>eventq</title>"), 4U);
}

TEST_F(DashboardTest, LoadsNothingFromOtherServers) {
  const auto page = HttpClient(server_.port()).get("/");

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->header("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  for (const std::string way : {"http:", "https:", " src=", "@import", "url(", "innerHTML", "eval("}) {
    EXPECT_THAT(page->body, Not(HasSubstr(way)));
  }
}

}  // namespace
}  // namespace eventq
