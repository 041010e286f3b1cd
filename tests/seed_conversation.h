// seed_conversation.h: a server inside the test with the events and times of seed 000, and the seed's
// requests.
//
// Expected bodies are the seed's own JSON: the answer must have each of its members with the same value, and
// may have more. A time may be written with or without milliseconds.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/time_text.h"
#include "support/drawn_numbers.h"
#include "support/http_client.h"
#include "support/json_lines.h"
#include "support/local_server.h"
#include "support/manual_clock.h"
#include "support/test_store.h"

namespace eventq {

inline constexpr std::string_view kEmail = R"({
  "title": "Send Email Notification",
  "description": "Send welcome email to new user",
  "tags": "email,priority-high,notification",
  "payload": {
    "user_id": 12345,
    "email": "user@example.com",
    "template": "welcome",
    "variables": {
      "name": "Alice",
      "signup_date": "2025-12-24"
    }
  }
})";

inline constexpr std::string_view kSuccess = R"({
  "worker_id": "worker-02:8742",
  "execution_time_ms": 1250,
  "status_code": 200
})";

inline constexpr std::string_view kFailure = R"({
  "worker_id": "worker-02:8742",
  "execution_time_ms": 5000,
  "status_code": 500,
  "error_message": "Connection timeout: mail server unreachable. Will retry."
})";

inline constexpr std::string_view kSubscribe =
    "/events/subscribe?tags=email,notification&worker_id=worker-02:8742";

inline JsonLines with_whole_times(JsonLines lines) {
  for (auto& [where, what] : lines) {
    if (what.size() < 2 || what.front() != '"') continue;
    const auto time = parse_iso_time(std::string_view(what).substr(1, what.size() - 2));
    if (!time) continue;
    what = "\"";
    append_iso_time(what, *time);
    what += '"';
  }
  return lines;
}

class SeedConversation : public testing::Test {
 protected:
  // Publishes events to another queue, so that the next event gets this id.
  void let_event_ids_begin_with(int id) {
    std::string batch = R"({"events":[)";
    for (int i = 1; i < id; ++i) {
      batch += (i > 1 ? "," : "") + std::string(R"({"title":"other","tags":"other","queue":"other"})");
    }
    ASSERT_EQ(post("/events/batch", batch + "]}").status, 201);
  }

  // The same for log entries, with 1000 other events. The first claim of an event writes one entry, each
  // later one two: ABANDONED and PICKED.
  void let_log_ids_begin_with_5001() {
    for (int claims = 0; claims < 3; ++claims) {
      ASSERT_EQ(get("/events/subscribe?tags=other&queue=other&worker_id=other:1&limit=1000").status, 200);
      clock_.advance(std::chrono::seconds(60));
    }
  }

  // "10:30:45"
  void set_time(std::string_view time_of_day) {
    clock_.set(parse_iso_time("2025-12-24T" + std::string(time_of_day) + "Z").value());
  }

  HttpResponse get(std::string_view target) {
    numbers_.take_back();
    return client_.get(target).value();
  }
  HttpResponse post(std::string_view target, std::string_view body = {}) {
    numbers_.take_back();
    return client_.post(target, body).value();
  }

  void expect_members(std::string_view seed, const HttpResponse& response) {
    EXPECT_EQ(missing(with_whole_times(json_lines(seed)), with_whole_times(json_lines(response.body))), "")
        << response.status << " " << response.body;
  }

  [[nodiscard]] std::size_t log_size(int id) {
    const HttpResponse event = get("/events/" + std::to_string(id) + "?include_logs=true");
    std::size_t size = 0;
    for (const auto& [where, what] : json_lines(event.body)) size += where.ends_with("].action") ? 1 : 0;
    return size;
  }

  const TestStore store_;
  DrawnNumbers numbers_{store_};
  ManualClock clock_{parse_iso_time("2025-12-24T00:00:00Z").value()};
  LocalServer server_{store_.url(), {.clock = &clock_}};
  HttpClient client_{server_.port()};
};

// Event 1001 of the seed, published at 10:30:00 and, where a test says so, claimed at 10:30:45.
class SeedEvent1001 : public SeedConversation {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(let_event_ids_begin_with(1001));
    ASSERT_NO_FATAL_FAILURE(let_log_ids_begin_with_5001());
    set_time("10:30:00");
    created_.emplace(post("/events", kEmail));
  }

  HttpResponse pick() {
    set_time("10:30:45");
    return get(kSubscribe);
  }

  std::optional<HttpResponse> created_;
};

}  // namespace eventq
