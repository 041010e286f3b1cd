// queue_limits_test.cc: maxQueueDepth and highWatermark over HTTP, also with 64 concurrent publishers.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/numbers.h"
#include "support/local_api.h"

namespace eventq {
namespace {

using namespace std::chrono_literals;

constexpr int kPublishers = 64;
constexpr int kDepth = 500;
constexpr int kBatch = 7;
constexpr std::string_view kEvent = R"({"title":"event","tags":"t","queue":"narrow"})";

std::string batch_of(int events) {
  std::string batch = R"({"events":[)";
  for (int i = 0; i < events; ++i) batch += (i > 0 ? "," : "") + std::string(kEvent);
  return batch + "]}";
}

class QueueLimitsTest : public LocalApiTest {
 protected:
  // Every second publisher sends batches.
  static int size_of_publication(int publisher) { return publisher % 2 == 0 ? 1 : kBatch; }

  static HttpResponse publish_as(int publisher, HttpClient& client) {
    const int events = size_of_publication(publisher);
    return events == 1 ? client.post("/events", kEvent).value()
                       : client.post("/events/batch", batch_of(events)).value();
  }

  // Counts an answer to a publication; collects refusals that are not as documented.
  void note(const HttpResponse& response, int events) {
    if (response.status == 201) {
      accepted_ += events;
      return;
    }
    ++refused_;
    const std::scoped_lock lock(mutex_);
    if (response.status != 429) wrong_answers_.push_back(response.body);
    const auto seconds = parse_whole<int>(response.header("Retry-After"));
    if (!seconds || *seconds < 1 || *seconds > 60) {
      wrong_answers_.push_back("Retry-After: " + std::string(response.header("Retry-After")));
    }
    if (at(response, "type") != R"("urn:eventq:problem:queue-full")") wrong_answers_.push_back(response.body);
  }

  // Reads the depth continuously until `stop`; returns the maximum.
  int sample_depth(const std::atomic<bool>& stop) {
    HttpClient client(server_.port());
    int most = 0;
    while (!stop) {
      const HttpResponse state = client.get("/queues/narrow?events=0").value();
      most = std::max(most, std::stoi("0" + at(state, "depth")));
    }
    return most;
  }

  // Runs `work` on one thread per publisher and reads the depth meanwhile; returns the maximum.
  int race(const std::function<void(int publisher, HttpClient&)>& work) {
    std::atomic<bool> stop = false;
    int most = 0;
    std::thread sampler([&] { most = sample_depth(stop); });
    std::vector<std::thread> publishers;
    for (int i = 0; i < kPublishers; ++i) {
      publishers.emplace_back([&, i] {
        HttpClient client(server_.port(), 60s);
        work(i, client);
      });
    }
    for (std::thread& publisher : publishers) publisher.join();
    stop = true;
    sampler.join();
    return most;
  }

  // Publishes until each publisher was refused once.
  int fill() {
    return race([this](int publisher, HttpClient& client) {
      for (int status = 201; status == 201;) {
        const HttpResponse response = publish_as(publisher, client);
        note(response, size_of_publication(publisher));
        status = response.status;
      }
    });
  }

  // Claims and completes events until `stop` is set and none is left.
  void work_off(int worker, const std::atomic<bool>& stop) {
    HttpClient client(server_.port(), 60s);
    const std::string head =
        R"({"worker_id":"w:)" + std::to_string(worker) + R"(","tags":"t","queue":"narrow","limit":20)";
    std::string completed;
    for (;;) {
      const bool last = stop;
      const HttpResponse turn =
          client.post("/events/next", head + R"(,"completed":[)" + completed + "]}").value();
      completed.clear();
      for (const auto& [where, what] : json_lines(turn.body)) {
        if (!where.starts_with("events[") || !where.ends_with("].id")) continue;
        completed += (completed.empty() ? "" : ",") + (R"({"id":)" + what + "}");
      }
      if (last && completed.empty()) return;
    }
  }

  std::atomic<int> accepted_ = 0;  // number of events
  std::atomic<int> refused_ = 0;   // number of publications

  std::mutex mutex_;
  std::vector<std::string> wrong_answers_;  // answers that break the contract
};

TEST_F(QueueLimitsTest, SixtyFourPublishersFillAQueueToItsLimitAndNotBeyond) {
  put("/queues/narrow", R"({"maxQueueDepth":500})");

  const int most = fill();

  EXPECT_EQ(accepted_, kDepth);
  EXPECT_EQ(depth_of("narrow"), std::to_string(kDepth));
  EXPECT_LE(most, kDepth);
  EXPECT_EQ(refused_, kPublishers);
  EXPECT_EQ(wrong_answers_, std::vector<std::string>());
}

TEST_F(QueueLimitsTest, PublishersSucceedAgainWhileWorkersEmptyTheQueueAndTheLimitHolds) {
  constexpr int kMore = 3;  // publications per publisher
  put("/queues/narrow", R"({"maxQueueDepth":500})");
  fill();
  accepted_ = 0;

  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back([&, i] { work_off(i, stop); });
  const int most = race([this](int publisher, HttpClient& client) {
    for (int sent = 0; sent < kMore;) {
      const HttpResponse response = publish_as(publisher, client);
      note(response, size_of_publication(publisher));
      if (response.status == 201) ++sent;
    }
  });
  stop = true;
  for (std::thread& worker : workers) worker.join();

  EXPECT_EQ(accepted_, kPublishers / 2 * kMore * (1 + kBatch));
  EXPECT_LE(most, kDepth);
  EXPECT_EQ(wrong_answers_, std::vector<std::string>());
  EXPECT_EQ(depth_of("narrow"), "0");
  EXPECT_EQ(at(get("/queues/narrow"), "queueMetrics.totalProcessed"), std::to_string(kDepth + accepted_));
}

TEST_F(QueueLimitsTest, ABatchIsAcceptedCompletelyOrNotAtAll) {
  put("/queues/narrow", R"({"maxQueueDepth":10})");
  ASSERT_EQ(post("/events/batch", batch_of(8)).status, 201);

  EXPECT_EQ(post("/events/batch", batch_of(3)).status, 429);
  EXPECT_EQ(depth_of("narrow"), "8");
  EXPECT_EQ(post("/events/batch", batch_of(2)).status, 201);
  EXPECT_EQ(depth_of("narrow"), "10");
}

TEST_F(QueueLimitsTest, ABatchLargerThanTheLimitIs413) {
  put("/queues/narrow", R"({"maxQueueDepth":10})");

  const HttpResponse response = post("/events/batch", batch_of(11));

  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.header("Retry-After"), "");
  EXPECT_EQ(depth_of("narrow"), "0");
}

TEST_F(QueueLimitsTest, ARefusalSaysThatNothingChangedAndWhenToRetry) {
  put("/queues/narrow", R"({"maxQueueDepth":1})");
  publish("narrow");

  const HttpResponse refused = post("/events", kEvent);

  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "60") << "no worker completes events";
  EXPECT_EQ(at(refused, "outcome"), R"("unchanged")");
  EXPECT_EQ(at(refused, "title"), R"("Queue full")");
  EXPECT_EQ(at(refused, "field"), R"("queue")");
}

TEST_F(QueueLimitsTest, RetryAfterIsShorterTheFasterTheQueueEmpties) {
  put("/queues/narrow", R"({"maxQueueDepth":100})");
  ASSERT_EQ(post("/events/batch", batch_of(100)).status, 201);
  for (int i = 0; i < 10; ++i) complete(claim("narrow"));
  ASSERT_EQ(post("/events/batch", batch_of(10)).status, 201);

  EXPECT_EQ(post("/events", kEvent).header("Retry-After"), "1");
  EXPECT_EQ(post("/events/batch", batch_of(80)).header("Retry-After"), "8") << "ten events end per second";
}

TEST_F(QueueLimitsTest, ClaimedAndDelayedEventsCountTowardsTheLimit) {
  put("/queues/narrow", R"({"maxQueueDepth":2})");
  publish("narrow");
  claim("narrow");
  publish("narrow", R"(,"delay":3600)");

  EXPECT_EQ(post("/events", kEvent).status, 429);
}

TEST_F(QueueLimitsTest, AFullQueueAcceptsAnEventThatSupersedesAnother) {
  put("/queues/narrow", R"({"maxQueueDepth":1})");
  publish("narrow", R"(,"supersede_key":"k")");

  publish("narrow", R"(,"supersede_key":"k")");

  EXPECT_EQ(status_of("1"), R"("SUPERSEDED")");
  EXPECT_EQ(depth_of("narrow"), "1");
}

TEST_F(QueueLimitsTest, AResetOfAnEndedEventObeysTheLimit) {
  put("/queues/narrow", R"({"maxQueueDepth":1})");
  publish("narrow");
  post("/events/1/cancel");
  publish("narrow");

  const HttpResponse refused = post("/events/1/reset");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Retry-After"), "1") << "one event ended just before";
  EXPECT_EQ(status_of("1"), R"("CANCELLED")");

  complete(claim("narrow"));
  EXPECT_EQ(post("/events/1/reset").status, 200);
}

TEST_F(QueueLimitsTest, AReplayObeysTheLimitAsAWhole) {
  put("/queues/narrow", R"({"maxQueueDepth":3})");
  for (int i = 0; i < 2; ++i) {
    publish("narrow");
    complete(claim("narrow"));
  }
  publish("narrow");
  publish("narrow");

  EXPECT_EQ(post("/queues/narrow/replay", R"({"from":"2024-03-15T00:00:00Z"})").status, 429);
  EXPECT_EQ(depth_of("narrow"), "2");
}

TEST_F(QueueLimitsTest, ARetryIsNeverRefused) {
  put("/queues/narrow", R"({"maxQueueDepth":1,"retry":{"baseMs":0}})");
  publish("narrow");

  EXPECT_EQ(fail(claim("narrow")), 200);

  EXPECT_EQ(claim("narrow"), "1");
}

TEST_F(QueueLimitsTest, AnOnCompleteEventIsNeverRefused) {
  put("/queues/narrow", R"({"maxQueueDepth":2})");
  post("/events/batch", R"({"events":[)" + std::string(kEvent) +
                            R"(],"correlation_id":"c","on_complete":{"title":"all done","tags":"t"}})");
  const std::string first = claim("narrow");
  publish("narrow");

  EXPECT_EQ(complete(first), 200);

  EXPECT_EQ(depth_of("narrow"), "2");
  EXPECT_EQ(at(get("/events/3"), "title"), R"("all done")");
}

TEST_F(QueueLimitsTest, BackpressureIsOnAboveTheWatermarkAndOffBelowNineTenthsOfIt) {
  put("/queues/narrow", R"({"maxQueueDepth":30,"highWatermark":20})");
  const auto backpressure = [this] {
    return std::string(post("/events", kEvent).header("Eventq-Backpressure"));
  };
  for (int depth = 1; depth <= 20; ++depth) EXPECT_EQ(backpressure(), "") << depth;
  EXPECT_EQ(backpressure(), "on") << "21 of 20";

  for (int depth = 21; depth > 18; --depth) complete(claim("narrow"));
  EXPECT_EQ(backpressure(), "on") << "19: no more than 20, but not below 18 in between";

  for (int depth = 19; depth > 17; --depth) complete(claim("narrow"));
  for (int depth = 18; depth <= 20; ++depth) EXPECT_EQ(backpressure(), "") << depth;
  EXPECT_EQ(backpressure(), "on") << "21 again";
}

TEST_F(QueueLimitsTest, EveryAnswerToAPublicationSaysThatBackpressureIsOn) {
  put("/queues/narrow", R"({"maxQueueDepth":4,"highWatermark":1})");
  ASSERT_EQ(post("/events/batch", batch_of(2)).header("Eventq-Backpressure"), "on") << "201 of a batch";
  const std::string with_event_id = R"({"title":"event","tags":"t","queue":"narrow","event_id":"e"})";
  EXPECT_EQ(post("/events", with_event_id).header("Eventq-Backpressure"), "on") << "201";

  const HttpResponse existed = post("/events", with_event_id);
  EXPECT_EQ(existed.status, 200);
  EXPECT_EQ(existed.header("Eventq-Backpressure"), "on");

  const HttpResponse refused = post("/events/batch", batch_of(2));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("Eventq-Backpressure"), "on");
  EXPECT_EQ(post("/events", R"({"title":"event","tags":"t"})").header("Eventq-Backpressure"), "")
      << "backpressure is on for queue narrow only";
}

TEST_F(QueueLimitsTest, BackpressureSurvivesARestart) {
  put("/queues/narrow", R"({"maxQueueDepth":30,"highWatermark":2})");
  ASSERT_EQ(post("/events/batch", batch_of(3)).header("Eventq-Backpressure"), "on");

  server_.restart();

  EXPECT_EQ(post("/events", kEvent).header("Eventq-Backpressure"), "on");
}

TEST_F(QueueLimitsTest, MainHasNoLimitByDefaultAndOtherQueuesHaveTenThousand) {
  publish("other");

  EXPECT_EQ(at(get("/queues/main"), "config.maxQueueDepth"), "null");
  EXPECT_EQ(at(get("/queues/main"), "config.highWatermark"), "null");
  EXPECT_EQ(at(get("/queues/other"), "config.maxQueueDepth"), "10000");
  EXPECT_EQ(at(get("/queues/other"), "config.highWatermark"), "8000");
}

}  // namespace
}  // namespace eventq
