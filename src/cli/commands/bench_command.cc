// bench_command.cc: `eventq bench`: measures a running server under a short load.
#include <algorithm>
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/json_writer.h"
#include "base/steady.h"
#include "cli/framework/command_table.h"
#include "cli/framework/interrupt.h"
#include "cli/framework/invocation.h"
#include "wire/event_reader.h"

namespace eventq::cli {
namespace {

struct BenchLoad {
  std::size_t connections = 16;
  std::chrono::seconds time{5};
  std::size_t size = 256;  // of a payload, in bytes
};

// The measurements of one workload.
struct BenchResult {
  std::string workload;
  double seconds = 0;
  std::vector<std::int64_t> micros;  // the duration of each step
  std::string error;                 // the first error; empty: none
};

// Sends one request after the other on one connection.
class BenchConnection {
 public:
  BenchConnection(client::HttpClient& server, const BenchLoad& load, std::size_t number)
      : server_(server), worker_("bench:" + std::to_string(number)) {
    event_ = R"({"title":"bench","tags":"bench","queue":"bench","payload":")" + std::string(load.size, 'x') +
             "\"}";
  }

  // Returns false after a failure, and stores it in `error`.
  bool publish() { return post("/events", event_); }

  // Reports the last event as completed and claims the next one. Returns false when no event is left (`error`
  // is empty) or after a failure.
  bool claim_next() {
    std::string body = R"({"worker_id":")" + worker_ + R"(","queue":"bench","tags":"bench","limit":1)";
    // One call reports and claims, as a worker does.
    if (held_ != 0) body += R"(,"completed":[{"id":)" + std::to_string(held_) + "}]";
    held_ = 0;
    if (!post("/events/next", body + "}")) return false;
    const AnswerJson answer(answer_);
    const auto events = elements_at(*answer, "events");
    if (events.empty()) return false;
    held_ = integer_at(events.front(), "id").value_or(0);
    return held_ != 0;
  }

  // Reports the last event as completed.
  void finish() {
    if (held_ == 0) return;
    post("/events/next", R"({"worker_id":")" + worker_ + R"(","limit":0,"completed":[{"id":)" +
                             std::to_string(held_) + "}]}");
    held_ = 0;
  }

  std::string error;

 private:
  bool post(const std::string& target, const std::string& body) {
    auto answer = server_.call({.method = "POST", .target = target, .body = body});
    if (!answer) error = answer.error().message;
    if (answer && answer->status / 100 != 2) {
      error = wire::read_problem(answer->status, answer->body, answer->header("retry-after")).message;
    }
    if (!error.empty()) return false;
    answer_ = std::move(answer->body);
    return true;
  }

  client::HttpClient& server_;
  const std::string worker_;
  std::string event_;
  std::string answer_;
  std::int64_t held_ = 0;
};

// Runs `step` on each connection again and again, until load.time is over (if `timed`) or a step returns
// false. Ctrl-C ends it only if `interrupt` is given.
BenchResult measure(Invocation& run, const BenchLoad& load, const Interrupt* interrupt, std::string workload,
                    bool timed, const std::function<bool(BenchConnection&)>& step) {
  BenchResult measured{.workload = std::move(workload)};
  // Each thread writes only its own element, so no lock is needed.
  std::vector<BenchResult> parts(load.connections);
  std::vector<std::thread> threads;
  const SteadyTime start = steady_now();
  for (std::size_t i = 0; i < load.connections; ++i) {
    threads.emplace_back([&, i] {
      BenchConnection connection(run.server, load, i);
      while (!(interrupt != nullptr && interrupt->requested()) &&
             (!timed || steady_now() - start < load.time)) {
        const SteadyTime before = steady_now();
        if (!step(connection)) break;
        parts[i].micros.push_back(micros_since(before).count());
      }
      if (connection.error.empty()) connection.finish();
      parts[i].error = connection.error;
    });
  }
  for (std::thread& thread : threads) thread.join();
  measured.seconds = std::chrono::duration<double>(steady_now() - start).count();
  for (BenchResult& part : parts) {
    measured.micros.insert(measured.micros.end(), part.micros.begin(), part.micros.end());
    if (measured.error.empty()) measured.error = part.error;
  }
  std::sort(measured.micros.begin(), measured.micros.end());
  return measured;
}

std::string record_of(const BenchResult& measured) {
  const auto& times = measured.micros;
  // measure() has sorted the durations.
  const auto percentile = [&](std::size_t percent) {
    return times.empty() ? 0 : static_cast<double>(times[(times.size() - 1) * percent / 100]) / 1000;
  };
  std::string line;
  JsonWriter json(line);
  json.begin_object().key("workload").string(measured.workload);
  json.key("steps").integer(std::ssize(times));
  json.key("per_second")
      .integer(static_cast<std::int64_t>(static_cast<double>(times.size()) / measured.seconds));
  json.key("p50_ms").number(percentile(50)).key("p95_ms").number(percentile(95));
  json.key("p99_ms").number(percentile(99)).end_object();
  return line;
}

// Creates queue bench with limits that one run cannot reach. Fails if the queue has live events, because the
// benchmark would complete them.
ExitCode check_queue(Invocation& run) {
  const auto answer = run.server.call({.target = "/queues/bench?events=0"});
  if (answer && answer->status == 404) {
    return call(run, "PUT", "/queues/bench", R"({"maxQueueDepth":1000000000,"highWatermark":1000000000})")
        .code;
  }
  const CallResult queue = call_result(run, answer);
  if (!queue) return queue.code;
  const AnswerJson body(queue.body);
  if (body && integer_at(*body, "depth").value_or(0) == 0) return ExitCode::done;
  return fail(run,
              "queue bench has live events, and the benchmark would process them. Process them first: "
              "eventq work bench --queue bench --exec true --until-empty");
}

ExitCode run_bench(Invocation& invocation) {
  BenchLoad load;
  if (!read_number(invocation, "--connections", load.connections, 1, 1000) ||
      !read_number(invocation, "--seconds", load.time, 1, 3600) ||
      !read_number(invocation, "--size", load.size, 0, 1'000'000)) {
    return ExitCode::usage;
  }
  if (const ExitCode code = check_queue(invocation); code != ExitCode::done) return code;

  const Interrupt interrupt;
  invocation.err << "Writes to queue bench of " << invocation.url
                 << ", which keeps ended events for its retention time.\n"
                 << "Closed loop: " << load.connections
                 << " connections, each sends a request when it has the answer to the last one, so a slow "
                    "server gets fewer.\n";
  RecordPrinter printer(invocation.out, invocation.output,
                        {{"WORKLOAD", "workload"},
                         {"STEPS", "steps", CellKind::number},
                         {"PER SECOND", "per_second", CellKind::number},
                         {"P50 MS", "p50_ms", CellKind::number},
                         {"P95 MS", "p95_ms", CellKind::number},
                         {"P99 MS", "p99_ms", CellKind::number}});
  const auto publish = [](BenchConnection& connection) { return connection.publish(); };
  const auto work = [](BenchConnection& connection) { return connection.claim_next(); };
  const auto both = [](BenchConnection& connection) {
    return connection.publish() && connection.claim_next();
  };
  std::string error;
  for (const BenchResult& measured :
       {measure(invocation, load, &interrupt, "publish", true, publish),
        measure(invocation, load, &interrupt, "work", false, work),
        measure(invocation, load, &interrupt, "publish and work", true, both)}) {
    if (!measured.micros.empty()) printer.add(record_of(measured));
    if (error.empty()) error = measured.error;
  }
  printer.finish();
  if (interrupt.requested()) {
    invocation.err
        << "Interrupted: processes the events published so far. Ctrl-C again leaves them in the queue.\n"
        << std::flush;
  }
  // Leaves no live events in the queue, also after Ctrl-C, because the next run would refuse them.
  measure(invocation, load, nullptr, "remaining events", false, work);
  if (!error.empty()) return fail(invocation, error);
  return interrupt.requested() ? ExitCode::interrupted : ExitCode::done;
}

}  // namespace

CommandSpec bench_command() {
  return {
      .name = "bench",
      .summary = "Measure a server under a short load and print rates and latencies",
      .details =
          "Publishes into queue bench, processes those events, then does both at once. The command "
          "refuses to run when that queue has live events. It removes nothing: ended events stay "
          "for the queue's retention time.\n\n"
          "The load is a closed loop: each connection waits for its answer before it sends the "
          "next request. The latencies are therefore those of a server that is never overloaded.",
      .options = {{"--connections", "N", "Number of connections", "16"},
                  {"--seconds", "N", "Duration of each timed workload", "5"},
                  {"--size", "BYTES", "Size of a payload", "256"}},
      .examples = {{"eventq bench --seconds 2 -o json", "Measure for two seconds per workload, print JSON"}},
      .run = run_bench,
  };
}

}  // namespace eventq::cli
