// stream_api_test.cc: GET /events/stream: which events it delivers, when, how many at most, and when it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/local_api.h"
#include "support/raw_client.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;
using http::RawClient;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class StreamApi : public LocalApiTest {
 protected:
  // A stream whose header has been read.
  class Stream {
   public:
    Stream(std::uint16_t port, std::string_view query) : client_(port) {
      EXPECT_TRUE(
          client_.send("GET /events/stream?" + std::string(query) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
      header_ = client_.read_through("\r\n\r\n");
      EXPECT_EQ(next_block(), "retry: 1000\n\n");
    }

    [[nodiscard]] const std::string& header() const { return header_; }

    // The text up to the next empty line; empty when the stream ends.
    std::string next_block() {
      std::size_t end = 0;
      while ((end = text_.find("\n\n")) == std::string::npos) {
        if (!read_chunk()) return "";
      }
      std::string block = text_.substr(0, end + 2);
      text_.erase(0, end + 2);
      return block;
    }

    // The id of the next event.
    std::string next() {
      const std::string block = next_block();
      const std::size_t at = block.find("id: ");
      return at == std::string::npos ? "" : block.substr(at + 4, block.find('\n', at) - at - 4);
    }
    std::vector<std::string> next(int count) {
      std::vector<std::string> ids;
      for (int i = 0; i < count; ++i) ids.push_back(next());
      return ids;
    }

    [[nodiscard]] bool quiet() { return text_.empty() && !client_.readable_within(0ms); }
    void leave() { client_.close(); }

    // True when the stream ends with its last chunk.
    bool ends() {
      while (read_chunk()) {
      }
      return ended_ && client_.at_end();
    }

   private:
    // False at the end. Only lines of the chunk framing end in CR LF.
    bool read_chunk() {
      const std::string size = client_.read_through("\r\n");
      std::string data = client_.read_through("\r\n");
      ended_ = size == "0\r\n" && data == "\r\n";
      if (ended_ || data.empty()) return false;
      text_.append(data, 0, data.size() - 2);
      return true;
    }

    RawClient client_;
    std::string header_;
    std::string text_;  // received and not yet returned
    bool ended_ = false;
  };

  Stream stream(std::string_view query) { return {server_.port(), query}; }

  // True when no data is on its way to the stream.
  bool is_quiet(Stream& stream) {
    for (int i = 0; i < 3; ++i) {
      server_.settle();
      get("/healthz");  // is answered after the earlier work of the server's thread
    }
    return stream.quiet();
  }

  // Reports as the worker w:1.
  int report(std::string_view id, std::string_view action, std::string_view more = {}) {
    return post("/events/" + std::string(id) + "/" + std::string(action),
                R"({"worker_id":"w:1")" + std::string(more) + "}")
        .status;
  }
};

TEST_F(StreamApi, AStreamBeginsAtOnceWithItsHeader) {
  Stream worker = stream("worker_id=w:1");

  EXPECT_THAT(worker.header(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(worker.header(), HasSubstr("\r\nContent-Type: text/event-stream\r\n"));
  EXPECT_THAT(worker.header(), HasSubstr("\r\nCache-Control: no-store\r\n"));
  EXPECT_THAT(worker.header(), HasSubstr("\r\nX-Request-Id: "));
}

TEST_F(StreamApi, AnEventIsPushedOnOneLineAsASubscriptionShowsIt) {
  Stream worker = stream("worker_id=w:1");

  publish("main", ",\"payload\":{\"a\":\r\n  \"b\\n\"}");

  const std::string block = worker.next_block();
  EXPECT_THAT(block, StartsWith("id: 1\nevent: event\ndata: {\"id\":1,"));
  EXPECT_THAT(block, HasSubstr(R"("payload":{"a":    "b\n"},)"));
  EXPECT_THAT(block, HasSubstr(R"("attempt":1,"lease_until":")"));
  EXPECT_EQ(std::count(block.begin(), block.end(), '\n'), 4);  // three lines and an empty one
  EXPECT_EQ(at(get("/events/1"), "worker_id"), R"("w:1")");
}

TEST_F(StreamApi, WaitingEventsAreDeliveredHighestPriorityFirst) {
  publish("main");
  publish("main", R"(,"priority":1)");

  EXPECT_THAT(stream("worker_id=w:1&prefetch=5").next(2), ElementsAre("2", "1"));
}

TEST_F(StreamApi, OnlyEventsOfItsQueueAndTagsAreDelivered) {
  Stream worker = stream("worker_id=w:1&queue=mail&tags=a,b&prefetch=9");
  publish("main");
  publish("mail");
  post("/events", R"({"title":"one","tags":"b","queue":"mail"})");

  EXPECT_EQ(worker.next(), "3");
  EXPECT_TRUE(is_quiet(worker));
}

TEST_F(StreamApi, AtMostPrefetchEventsAreUnfinished) {
  for (int i = 0; i < 5; ++i) publish("main");
  Stream worker = stream("worker_id=w:1&prefetch=3");

  EXPECT_THAT(worker.next(3), ElementsAre("1", "2", "3"));
  EXPECT_TRUE(is_quiet(worker));
  report("2", "complete");
  EXPECT_EQ(worker.next(), "4");
  EXPECT_TRUE(is_quiet(worker));
}

TEST_F(StreamApi, PrefetchIsOneByDefault) {
  publish("main");
  publish("main");
  Stream worker = stream("worker_id=w:1");

  EXPECT_EQ(worker.next(), "1");
  EXPECT_TRUE(is_quiet(worker));
}

TEST_F(StreamApi, TheNextEventIsSentAfterAnyEndOfAClaim) {
  for (int i = 0; i < 7; ++i) publish("main");
  Stream worker = stream("worker_id=w:1");

  EXPECT_EQ(worker.next(), "1");
  EXPECT_EQ(report("1", "complete"), 200);
  EXPECT_EQ(worker.next(), "2");
  EXPECT_EQ(report("2", "fail"), 200);
  EXPECT_EQ(worker.next(), "3");
  EXPECT_EQ(report("3", "release", R"(,"delay":3600)"), 200);
  EXPECT_EQ(worker.next(), "4");
  EXPECT_EQ(post("/events/4/cancel").status, 200);
  EXPECT_EQ(worker.next(), "5");
  EXPECT_EQ(report("5", "fail", R"(,"permanent":true)"), 400);
  EXPECT_EQ(worker.next(), "6");
  EXPECT_EQ(post("/events/next", R"({"worker_id":"w:1","limit":0,"completed":[{"id":6}]})").status, 200);
  EXPECT_EQ(worker.next(), "7");
}

TEST_F(StreamApi, AResetEventIsDeliveredAgain) {
  publish("main");
  Stream worker = stream("worker_id=w:1");
  EXPECT_EQ(worker.next(), "1");

  post("/events/1/reset");

  EXPECT_THAT(worker.next_block(), HasSubstr(R"("attempt":2,)"));
}

TEST_F(StreamApi, AnEventIsDeliveredAgainAfterItsLeaseWhichAHeartbeatExtends) {
  publish("main");
  Stream worker = stream("worker_id=w:1");
  EXPECT_EQ(worker.next(), "1");
  clock_.advance(50s);
  EXPECT_EQ(report("1", "heartbeat"), 200);
  clock_.advance(50s);
  EXPECT_TRUE(is_quiet(worker));

  clock_.advance(10s);
  server_.settle();

  EXPECT_THAT(worker.next_block(), HasSubstr(R"("attempt":2,)"));
}

TEST_F(StreamApi, APausedQueueSendsNothingUntilItIsResumed) {
  Stream worker = stream("worker_id=w:1");
  publish("main");
  EXPECT_EQ(worker.next(), "1");
  post("/queues/main/pause");
  publish("main");
  report("1", "complete");
  EXPECT_TRUE(is_quiet(worker));

  post("/queues/main/resume");

  EXPECT_EQ(worker.next(), "2");
}

TEST_F(StreamApi, EventsClaimedByOtherCallsCountInTheirQueueOnly) {
  publish("main");
  publish("mail");
  post("/events/next", R"({"worker_id":"w:1"})");
  publish("main");

  Stream main = stream("worker_id=w:1");
  Stream mail = stream("worker_id=w:1&queue=mail");

  EXPECT_EQ(mail.next(), "2");
  EXPECT_TRUE(is_quiet(main));
  report("1", "complete");
  EXPECT_EQ(main.next(), "3");
}

TEST_F(StreamApi, TwoStreamsOfOneWorkerShareOnePrefetchLimit) {
  Stream first = stream("worker_id=w:1&prefetch=2");
  Stream second = stream("worker_id=w:1&prefetch=2");
  is_quiet(first);

  for (int i = 0; i < 3; ++i) publish("main");

  const auto held = [&] { return at(get("/events?status=PROCESSING"), "total"); };
  while (held() < "2") {  // on PostgreSQL a stream counts before it claims
  }
  is_quiet(first);
  EXPECT_EQ(held(), "2");
}

TEST_F(StreamApi, AWorkerKeepsItsClaimsAcrossConnectionsAndTheyCount) {
  publish("main");
  publish("main");
  Stream gone = stream("worker_id=w:1");
  EXPECT_EQ(gone.next(), "1");
  gone.leave();

  Stream back = stream("worker_id=w:1");

  EXPECT_TRUE(is_quiet(back));
  EXPECT_EQ(at(get("/events/1"), "status"), R"("PROCESSING")");
  EXPECT_EQ(report("1", "complete", R"(,"attempt":1)"), 200);
  EXPECT_EQ(back.next(), "2");
}

TEST_F(StreamApi, AnEventForADisconnectedClientIsDeliveredToAnother) {
  Stream gone = stream("worker_id=w:1");
  is_quiet(gone);
  gone.leave();

  publish("main");

  EXPECT_EQ(stream("worker_id=w:2").next(), "1");
}

TEST_F(StreamApi, AStopEndsStreamsInOrderAndClaimsCountAfterTheRestart) {
  for (int i = 0; i < 6; ++i) publish("main");
  Stream before = stream("worker_id=w:1&prefetch=5");
  before.next(5);

  server_.restart();

  EXPECT_TRUE(before.ends());
  Stream after = stream("worker_id=w:1&prefetch=5");
  EXPECT_TRUE(is_quiet(after));
  EXPECT_EQ(report("3", "complete"), 200);
  EXPECT_EQ(after.next(), "6");
}

TEST_F(StreamApi, AnInvalidRequestIsRefused) {
  EXPECT_EQ(get("/events/stream").status, 400);
  EXPECT_EQ(at(get("/events/stream?worker_id=w:1&prefetch=0"), "field"), R"("prefetch")");
  EXPECT_EQ(get("/events/stream?worker_id=w:1&prefetch=1001").status, 400);
  EXPECT_EQ(get("/events/stream?worker_id=w:1&tags=").status, 400);
  EXPECT_EQ(get("/events/stream?worker_id=w:1&wait=1").status, 400);
  EXPECT_EQ(post("/events/stream", "{}").status, 405);
  const HttpHeaders elsewhere = {{"Sec-Fetch-Site", "cross-site"}};
  EXPECT_EQ(request("GET", "/events/stream?worker_id=w:1", {}, elsewhere).status, 403);
}

TEST_F(StreamApi, ManyWorkersFinishEveryEventOnceWithinTheirPrefetch) {
  constexpr int kWorkers = 4;
  constexpr int kEvents = 400;
  constexpr std::size_t kPrefetch = 3;
  std::atomic<int> finished{0};
  std::atomic<int> too_many{0};
  std::vector<std::vector<std::string>> done(kWorkers);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < kWorkers; ++i) {
    streams.push_back(
        std::make_unique<Stream>(server_.port(), "prefetch=3&worker_id=w:" + std::to_string(i)));
  }
  const auto work = [&](int index) {
    HttpClient reports(server_.port());
    std::vector<std::string> held;
    for (std::string id = streams[index]->next(); !id.empty(); id = streams[index]->next()) {
      held.push_back(id);
      if (held.size() > kPrefetch) ++too_many;
      // Sometimes keeps its events until the prefetch limit is reached.
      if (held.size() < kPrefetch && done[index].size() % 10 == 5 && finished < kEvents - 50) continue;
      for (const std::string& one : held) {
        reports.post("/events/" + one + "/complete", R"({"worker_id":"w:)" + std::to_string(index) + "\"}")
            .value();
        done[index].push_back(one);
        ++finished;
      }
      held.clear();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i) threads.emplace_back(work, i);
  for (int i = 0; i < kEvents; ++i) publish("main");
  while (finished < kEvents) std::this_thread::yield();
  server_.restart();
  for (std::thread& thread : threads) thread.join();

  std::set<std::string> all;
  for (const auto& ids : done) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(finished, kEvents);
  EXPECT_EQ(too_many, 0);
  EXPECT_EQ(at(get("/events?status=COMPLETED"), "total"), std::to_string(kEvents));
}

}  // namespace
}  // namespace eventq
