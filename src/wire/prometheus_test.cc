// prometheus_test.cc: the text format: families together, labels escaped, histograms cumulative.
#include "wire/prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace eventq::wire {
namespace {

using testing::HasSubstr;

Metrics metrics() {
  const std::array bounds = {0.005, 0.1, 1.0};
  QueueMetrics mail;
  mail.queue = "mail";
  mail.counts = {3, 1, 5, 0, 2, 0, 0};
  mail.totals = {11, 1, 9, 5, 3, 2, 1, 4, 6, 7, 425, 10};
  mail.oldest_pending = Millis(1500);
  mail.backpressure = true;
  mail.subscribers = 2;
  mail.unattended = 5;
  mail.wait = Histogram(bounds);
  for (const double value : {0.005, 0.006, 0.5, 1.0, 2.5}) mail.wait.add(value);
  mail.run = Histogram(bounds);
  QueueMetrics odd;
  odd.queue = "a\"b\\c\nd";
  Metrics metrics;
  metrics.queues = {mail, odd};
  metrics.waiting_claims = 2;
  metrics.waiting_ends = 1;
  using enum WorkerState;
  for (const WorkerState state : {active, active, active, stale, gone}) {
    metrics.workers.push_back({.state = state});
  }
  metrics.commit_seconds = Histogram(bounds);
  metrics.commit_seconds.add(0.002);
  metrics.sizes = {4096, 512};
  return metrics;
}

TEST(Prometheus, CountersAndGaugesHaveTheLabelOfTheirQueue) {
  const std::string text = write_prometheus(metrics(), "0.1.0");
  for (const std::string_view line : {
           "# HELP eventq_events Events by status.\n# TYPE eventq_events gauge\n",
           "eventq_build_info{version=\"0.1.0\"} 1\n",
           "eventq_events{queue=\"mail\",state=\"PENDING\"} 3\n",
           "eventq_events{queue=\"mail\",state=\"FAILED\"} 2\n",
           "eventq_oldest_pending_age_seconds{queue=\"mail\"} 1.5\n",
           "eventq_queue_backpressure{queue=\"mail\"} 1\n",
           "# TYPE eventq_events_published_total counter\n",
           "eventq_events_published_total{queue=\"mail\"} 11\n",
           "eventq_events_deduplicated_total{queue=\"mail\"} 1\n",
           "eventq_events_claimed_total{queue=\"mail\"} 9\n",
           "eventq_events_completed_total{queue=\"mail\"} 5\n",
           "eventq_events_failed_total{queue=\"mail\",final=\"false\"} 1\n",
           "eventq_events_failed_total{queue=\"mail\",final=\"true\"} 2\n",
           "eventq_events_retried_total{queue=\"mail\"} 1\n",
           "eventq_events_reclaimed_total{queue=\"mail\"} 4\n",
           "eventq_events_superseded_total{queue=\"mail\"} 6\n",
           "eventq_events_cancelled_total{queue=\"mail\"} 7\n",
           "eventq_longpoll_waiting 2\n",
           "eventq_end_waiting 1\n",
           "eventq_workers{state=\"active\"} 3\n",
           "eventq_workers{state=\"stale\"} 1\n",
           "eventq_workers{state=\"idle\"} 0\n",
           "eventq_workers{state=\"gone\"} 1\n",
           "eventq_queue_subscribers{queue=\"mail\"} 2\n",
           "eventq_queue_unattended{queue=\"mail\"} 5\n",
           "eventq_store_wal_bytes 512\n",
           "eventq_store_size_bytes 4096\n",
       }) {
    EXPECT_THAT(text, HasSubstr(std::string(line)));
  }
}

TEST(Prometheus, BucketsAddUpToTheCount) {
  const std::string text = write_prometheus(metrics(), "0.1.0");
  EXPECT_THAT(text, HasSubstr("# TYPE eventq_wait_duration_seconds histogram\n"
                              "eventq_wait_duration_seconds_bucket{queue=\"mail\",le=\"0.005\"} 1\n"
                              "eventq_wait_duration_seconds_bucket{queue=\"mail\",le=\"0.1\"} 2\n"
                              "eventq_wait_duration_seconds_bucket{queue=\"mail\",le=\"1\"} 4\n"
                              "eventq_wait_duration_seconds_bucket{queue=\"mail\",le=\"+Inf\"} 5\n"
                              "eventq_wait_duration_seconds_sum{queue=\"mail\"} 4.011\n"
                              "eventq_wait_duration_seconds_count{queue=\"mail\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("eventq_store_commit_duration_seconds_bucket{le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("eventq_store_commit_duration_seconds_sum 0.002\n"));
  // A histogram without any value.
  EXPECT_THAT(text, HasSubstr("eventq_store_batch_events_bucket{le=\"+Inf\"} 0\n"
                              "eventq_store_batch_events_sum 0\n"
                              "eventq_store_batch_events_count 0\n"));
}

TEST(Prometheus, LabelsAreEscaped) {
  EXPECT_THAT(write_prometheus(metrics(), "0.1.0"),
              HasSubstr(R"(eventq_events_published_total{queue="a\"b\\c\nd"} 0)"
                        "\n"));
}

TEST(Prometheus, EveryLineHasTheFormatAndFamiliesAreNotSplit) {
  const std::regex comment("# (HELP|TYPE) ([a-z_]+) .+");
  const std::regex sample(
      R"re(([a-z_]+)(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? [0-9.e+-]+)re");
  std::istringstream lines(write_prometheus(metrics(), "0.1.0"));
  std::set<std::string> finished;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, comment)) {
      if (match[1] == "HELP") {
        EXPECT_TRUE(finished.insert(match[2]).second) << line;
        family = match[2];
      }
      EXPECT_EQ(match[2], family) << line;
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
    EXPECT_TRUE(match[1].str().starts_with(family)) << line;
  }
  EXPECT_GE(finished.size(), 20U);
}

TEST(Prometheus, AServerWithoutQueuesHasMetrics) {
  const std::string text = write_prometheus({}, "0.1.0");
  EXPECT_THAT(text, HasSubstr("# TYPE eventq_events gauge\n# HELP eventq_oldest_pending_age_seconds "));
  EXPECT_TRUE(text.ends_with("eventq_store_size_bytes 0\n"));
}

}  // namespace
}  // namespace eventq::wire
