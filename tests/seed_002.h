// seed_002.h: the queue of seed 002, "Event Queue State", on a server inside the test.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/local_api.h"

namespace eventq {

inline constexpr std::string_view kSeed002Config = R"({
    "maxQueueDepth": 10000,
    "batchSize": 100,
    "processingInterval": 1000,
    "persistenceThreshold": 500,
    "highWatermark": 8000
  })";

// Returns the same time until it is set again; with `later`, returns that from the second call on.
class SeedClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const override {
    const Millis::rep later = later_.load();
    return TimePoint(Millis(later == 0 ? now_.load() : now_.exchange(later)));
  }
  void set(std::string_view iso) {
    later_ = 0;
    now_ = count(iso);
  }
  void set(std::string_view iso, std::string_view later) {
    now_ = count(iso);
    later_ = count(later);
  }

 private:
  static Millis::rep count(std::string_view iso) { return time_at(iso).time_since_epoch().count(); }

  mutable std::atomic<Millis::rep> now_ = count("2024-03-15T00:00:00Z");
  std::atomic<Millis::rep> later_ = 0;  // 0: none
};

// The queue main-queue of the seed's first example, configured at midnight.
class Seed002 : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(request("PUT", "/queues/main-queue", kSeed002Config).status, 201); }

  std::unique_ptr<LocalServer> serve() {
    return std::make_unique<LocalServer>(store_.url(), Options{.clock = &clock_});
  }

  HttpResponse request(std::string_view method, std::string_view target, std::string_view body = {}) {
    HttpClient client(server_->port());
    return client.request(method, target, body).value();
  }
  HttpResponse post(std::string_view target, std::string_view body = {}) {
    return request("POST", target, body);
  }
  HttpResponse get(std::string_view target) { return request("GET", target); }

  // A value in GET /queues/main-queue.
  std::string shown(const std::string& where) { return at(get("/queues/main-queue"), where); }

  // Publishes an event into main-queue, with `more` members. Returns its id.
  std::string publish(const std::string& more = {}) {
    const HttpResponse response =
        post("/events", R"({"title":"event","tags":"t","queue":"main-queue")" + more + "}");
    EXPECT_EQ(response.status, 201) << response.body;
    return at(response, "id");
  }
  void publish_many(int count) {
    std::string batch = R"({"events":[)";
    for (int i = 0; i < count; ++i) {
      batch += (i > 0 ? "," : "") + std::string(R"({"title":"event","tags":"t","queue":"main-queue"})");
    }
    ASSERT_EQ(post("/events/batch", batch + "]}").status, 201);
  }

  // Claims up to `limit` events. Returns their ids.
  std::vector<std::string> claim(int limit, const std::string& tag = "t") {
    const HttpResponse taken = get("/events/subscribe?tags=" + tag +
                                   "&queue=main-queue&worker_id=w:1&limit=" + std::to_string(limit));
    std::vector<std::string> ids;
    if (taken.status == 204) return ids;
    for (const auto& [where, what] : json_lines(taken.body)) {
      if (where.ends_with("].id")) ids.push_back(what);
    }
    return ids;
  }
  // Reports on these events with an execution time of 42 ms each.
  void report(const std::string& how, const std::vector<std::string>& ids, const std::string& more = {}) {
    std::string body = R"({"worker_id":"w:1","events":[)";
    for (const std::string& id : ids) {
      body += (id == ids.front() ? "" : ",") + std::string(R"({"id":)") + id + R"(,"execution_time_ms":42)" +
              more + "}";
    }
    ASSERT_EQ(post("/events/" + how, body + "]}").status, 200);
  }
  void complete(const std::vector<std::string>& ids) { report("complete", ids); }
  void fail(const std::vector<std::string>& ids) {
    report("fail", ids, R"(,"error_message":"Connection timeout")");
  }

  TestStore store_;
  SeedClock clock_;
  std::unique_ptr<LocalServer> server_ = serve();
};

}  // namespace eventq
