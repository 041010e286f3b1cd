// correlation_end_test.cc: see correlation_end.h.
#include "wire/correlation_end.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eventq::wire {
namespace {

Correlation totals(std::int64_t total) {
  Correlation correlation;
  correlation.id = "c";
  correlation.total = total;
  correlation.completed = 1;
  correlation.failed = total - 1;
  return correlation;
}

TEST(CorrelationEnd, HasTheTotalsAndTheResultsInOrder) {
  const std::vector<CorrelatedEnd> ends = {{EventId{1}, "a", Status::completed, R"({"x": 1})"},
                                           {EventId{2}, "b", Status::failed, ""}};

  EXPECT_EQ(write_correlation_end(totals(2), ends, 1000),
            R"({"correlation_id":"c","total":2,"completed":1,"failed":1,"results":[)"
            R"({"id":1,"event_id":"a","status":"COMPLETED","result":{"x": 1}},)"
            R"({"id":2,"event_id":"b","status":"FAILED","result":null}],"results_complete":true})");
}

TEST(CorrelationEnd, SaysThatEventsAreMissing) {
  const std::vector<CorrelatedEnd> ends = {{EventId{1}, "a", Status::completed, ""}};

  EXPECT_TRUE(write_correlation_end(totals(2), ends, 1000).ends_with(R"("results_complete":false})"));
}

TEST(CorrelationEnd, NeverExceedsItsLimit) {
  std::vector<CorrelatedEnd> ends;
  for (int i = 1; i <= 9; ++i) ends.push_back({EventId{i}, "e", Status::completed, "[1]"});
  const std::string whole = write_correlation_end(totals(9), ends, 10'000);

  for (std::size_t limit = 100; limit <= whole.size() + 1; ++limit) {
    const std::string text = write_correlation_end(totals(9), ends, limit);
    EXPECT_LE(text.size(), limit);
    EXPECT_EQ(text == whole, text.ends_with("true}")) << limit;
  }
  EXPECT_EQ(write_correlation_end(totals(9), ends, whole.size() + 1), whole);
}

}  // namespace
}  // namespace eventq::wire
