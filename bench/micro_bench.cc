// micro_bench.cc: single functions of the hot path. Run build/release/bench/eventq_micro_bench.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "base/json.h"
#include "base/json_writer.h"
#include "model/lifecycle.h"
#include "wire/answer_json.h"
#include "wire/new_event_json.h"

namespace eventq {
namespace {

const std::string kBody =
    R"({"title":"load","tags":"load,second","payload":{"text":")" + std::string(185, 'x') + R"("}})";

NewEvent parsed_event() {
  JsonParser parser;
  const auto body = parser.parse(kBody);
  if (!body) std::abort();
  auto event = wire::parse_event(*body);
  if (!event) std::abort();
  return std::move(*event);
}

void parse_event(benchmark::State& state) {
  JsonParser parser;
  for (auto _ : state) {
    const auto body = parser.parse(kBody);
    benchmark::DoNotOptimize(wire::parse_event(*body));
  }
}
BENCHMARK(parse_event);

void write_event(benchmark::State& state) {
  const Event event = admit(parsed_event(), "evt_0192f0c1-7c1e-7abc-8def-0123456789ab", TimePoint(), {});
  std::string out;
  for (auto _ : state) {
    out.clear();
    JsonWriter json(out);
    wire::write_event(json, event);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(write_event);

void claim_and_complete(benchmark::State& state) {
  const Policy policy{{}, std::chrono::minutes(1), 3, 20};
  const Event fresh = admit(parsed_event(), "evt_1", TimePoint(), policy);
  for (auto _ : state) {
    Event event = fresh;
    benchmark::DoNotOptimize(claim(event, "host:1", TimePoint(), policy));
    const Change change{Lease{event.id, "host:1", 1}, Complete{}};
    benchmark::DoNotOptimize(decide(event, change, {}, TimePoint(), policy));
  }
}
BENCHMARK(claim_and_complete);

}  // namespace
}  // namespace eventq

BENCHMARK_MAIN();
