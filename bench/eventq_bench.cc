// eventq_bench.cc: measures a release build and prints ratios of figures taken in the same run.
//
//   eventq_bench [--quick] [--soak=SECONDS] [WORKLOAD...]
//
//   disk     syncs per second: the limit of all other figures
//   cycles   life cycles per second in this process, by batch size, beside the disk's rate
//   poll     one poll among 1,000,000 waiting events over one among 1,000
//   http     over loopback, acknowledged = on disk: health checks, publishes, life cycles
//   latency  publish to delivery for a waiting worker, beside the bare round trip
//   recovery time to serve again after kill -9 with 1,000,000 pending events
//   soak     publish, work and retain for a minute (--soak=SECONDS: longer): do file or memory grow?
//   notebook file updates through a notebook, over one git commit per update
//   postgres life cycles on PostgreSQL beside a plain queue table, polls, shards
//
// Absolute figures depend on the machine and on its load; compare ratios. The load driver is one thread on
// the same machine, so the server never has all of it.
// --quick only checks that each workload runs: its figures mean nothing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "in_process.h"
#include "load.h"
#include "measure.h"
#include "notebook.h"
#include "postgres.h"
#include "scripts.h"
#include "state.h"
#include "support/server_process.h"
#include "support/temporary_directory.h"
#include "worker_latency.h"

namespace eventq::bench {
namespace {

struct Settings {
  double seconds = 3;
  double warm_up = 1;
  int rounds = 3;
  int backlog = 1'000'000;
  double soak = 60;
  int files = 1000;  // of a notebook
};

double percentile(std::vector<std::uint32_t> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))] / 1000.0;
}

// A server on an empty store, for one measurement.
class FreshServer {
 public:
  FreshServer() {
    if (server_.start()) return;
    std::fprintf(stderr, "the server did not start:\n%s\n", server_.log().c_str());
    std::exit(1);
  }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }

 private:
  ServerProcess server_;
};

using Scripts = std::vector<std::unique_ptr<Script>>;

LoadResult run_scripts(Scripts& scripts, const Settings& settings, Tally& tally) {
  const FreshServer server;
  return run_load(server.port(), scripts, settings.warm_up, settings.seconds,
                  [&] { tally.done_before = tally.done(); });
}

double health_rate(int connections, const Settings& settings) {
  Tally tally;
  Scripts scripts;
  for (int i = 0; i < connections; ++i) scripts.push_back(repeat_get("/healthz"));
  const LoadResult result = run_scripts(scripts, settings, tally);
  return static_cast<double>(result.latency_us.size()) / result.seconds;
}

double publish_rate(int connections, const Settings& settings) {
  Tally tally;
  tally.unfinished_max = 1'000'000'000;
  Scripts scripts;
  for (int i = 0; i < connections; ++i) scripts.push_back(publisher(tally, 1));
  const LoadResult result = run_scripts(scripts, settings, tally);
  return static_cast<double>(result.latency_us.size()) / result.seconds;
}

double rate_of(Scripts& scripts, const Settings& settings, Tally& tally) {
  const LoadResult result = run_scripts(scripts, settings, tally);
  return static_cast<double>(tally.done() - tally.done_before) / result.seconds;
}

// Each connection publishes, subscribes and completes, one call after the other.
double sequential_cycles(int connections, const Settings& settings) {
  Tally tally;
  Scripts scripts;
  for (int i = 0; i < connections; ++i) scripts.push_back(whole_cycle(tally, i));
  return rate_of(scripts, settings, tally);
}

enum class Calls { three, two };

// `connections` publishers beside as many workers.
double paired_cycles(int connections, int batch, Calls calls, const Settings& settings) {
  Tally tally;
  tally.unfinished_max = std::max(100, 4 * connections * batch);
  Scripts scripts;
  for (int i = 0; i < connections; ++i) scripts.push_back(publisher(tally, batch));
  for (int i = 0; i < connections; ++i) {
    scripts.push_back(calls == Calls::three ? three_call_worker(tally, i, batch)
                                            : next_worker(tally, i, batch));
  }
  return rate_of(scripts, settings, tally);
}

void bench_disk_and_cycles(const Settings& settings, bool cycles) {
  const TemporaryDirectory folder;
  std::vector<double> syncs;
  for (int i = 0; i < settings.rounds; ++i)
    syncs.push_back(syncs_per_second(folder.file(""), settings.seconds / 3));
  std::printf("disk     %10.0f  syncs of 4 KiB per second\n", median(syncs));
  if (!cycles) return;
  for (const int batch : {1, 30, 300, 3000}) {
    const double sync = syncs_per_second(folder.file(""), settings.seconds / 3);
    const double rate = cycles_per_second(folder.file(""), batch, settings.seconds);
    std::printf("cycles   %10.0f  life cycles per second in batches of %d: %.2f per sync (%.0f syncs/s)\n",
                rate, batch, rate / sync, sync);
  }
}

void bench_poll(const Settings& settings) {
  const TemporaryDirectory folder;
  const double few = poll_microseconds(folder.file(""), 1000);
  const double many = poll_microseconds(folder.file(""), settings.backlog);
  std::printf("poll     %10.2f  with %d waiting over with 1000 (%.1f and %.1f us); at most 1.5\n", many / few,
              settings.backlog, many, few);
}

// One round of all HTTP figures. Each ratio compares figures of one round, because the speed of a machine
// changes.
struct HttpRound {
  double health, publish, sequential_1, sequential_64, three_1, three_16, three_64, next_1, next_16, next_64,
      batch_three, batch_next, sync;

  static HttpRound measure(const Settings& settings) {
    const TemporaryDirectory folder;
    HttpRound round{};
    round.sync = syncs_per_second(folder.file(""), settings.seconds / 3);
    round.health = health_rate(64, settings);
    round.publish = publish_rate(64, settings);
    round.sequential_1 = sequential_cycles(1, settings);
    round.sequential_64 = sequential_cycles(64, settings);
    round.three_1 = paired_cycles(1, 1, Calls::three, settings);
    round.next_1 = paired_cycles(1, 1, Calls::two, settings);
    round.three_16 = paired_cycles(16, 1, Calls::three, settings);
    round.next_16 = paired_cycles(16, 1, Calls::two, settings);
    round.three_64 = paired_cycles(64, 1, Calls::three, settings);
    round.next_64 = paired_cycles(64, 1, Calls::two, settings);
    round.batch_three = paired_cycles(16, 100, Calls::three, settings);
    round.batch_next = paired_cycles(16, 100, Calls::two, settings);
    return round;
  }
};

void bench_http(const Settings& settings) {
  std::vector<HttpRound> rounds;
  for (int i = 0; i < settings.rounds; ++i) rounds.push_back(HttpRound::measure(settings));
  const auto of = [&](auto figure) {
    std::vector<double> values;
    for (const HttpRound& round : rounds) values.push_back(figure(round));
    return median(std::move(values));
  };
  const auto rate = [&](const char* what, double HttpRound::*member) {
    std::printf("http     %10.0f  %s\n", of([&](const HttpRound& r) { return r.*member; }), what);
  };
  const auto ratio = [&](const char* what, double HttpRound::*over, double HttpRound::*under) {
    std::printf("ratio    %10.2f  %s\n", of([&](const HttpRound& r) { return r.*over / r.*under; }), what);
  };
  rate("syncs per second, same round", &HttpRound::sync);
  rate("GET /healthz per second, 64 connections", &HttpRound::health);
  rate("publishes per second, 64 connections, one event a call", &HttpRound::publish);
  rate("life cycles per second, 1 connection: publish, subscribe, complete", &HttpRound::sequential_1);
  rate("life cycles per second, 64 such connections", &HttpRound::sequential_64);
  rate("three calls, 1+1 connections", &HttpRound::three_1);
  rate("three calls, 16+16", &HttpRound::three_16);
  rate("three calls, 64+64", &HttpRound::three_64);
  rate("two calls (next), 1+1", &HttpRound::next_1);
  rate("two calls (next), 16+16", &HttpRound::next_16);
  rate("two calls (next), 64+64", &HttpRound::next_64);
  rate("three calls, 100 events a call, 16+16", &HttpRound::batch_three);
  rate("two calls (next), 100 events a call, 16+16", &HttpRound::batch_next);
  ratio("life cycles with 64 connections over with 1; at least 15", &HttpRound::sequential_64,
        &HttpRound::sequential_1);
  ratio("publishes over health checks, 64 connections; at least 0.4", &HttpRound::publish,
        &HttpRound::health);
  ratio("100 events a call over single calls, three calls; at least 3", &HttpRound::batch_three,
        &HttpRound::three_64);
  ratio("next over subscribe and complete, 64+64; at least 1.2", &HttpRound::next_64, &HttpRound::three_64);
  ratio("three calls 1+1, per sync", &HttpRound::three_1, &HttpRound::sync);
  ratio("two calls 1+1, per sync", &HttpRound::next_1, &HttpRound::sync);
  ratio("three calls 64+64, per health check", &HttpRound::three_64, &HttpRound::health);
  ratio("two calls 64+64, per health check", &HttpRound::next_64, &HttpRound::health);
}

void bench_latency(const Settings& settings) {
  Tally tally;
  Scripts health;
  health.push_back(repeat_get("/healthz"));
  const LoadResult bare = run_scripts(health, settings, tally);
  Scripts one;
  one.push_back(publisher(tally, 1));
  tally.unfinished_max = 1'000'000'000;
  const LoadResult publish = run_scripts(one, settings, tally);

  Tally delivery;
  delivery.unfinished_max = 2;  // the worker reports one event in the call that claims the next
  Scripts pair;
  pair.push_back(publisher(delivery, 1));
  pair.push_back(next_worker(delivery, 0, 1));
  delivery.time_delivery = true;
  run_scripts(pair, settings, delivery);
  std::printf("latency  p50 %.2f ms, p99 %.2f ms  GET /healthz, 1 connection\n",
              percentile(bare.latency_us, 0.5), percentile(bare.latency_us, 0.99));
  std::printf("latency  p50 %.2f ms, p99 %.2f ms  POST /events, 1 connection\n",
              percentile(publish.latency_us, 0.5), percentile(publish.latency_us, 0.99));
  std::printf("latency  p50 %.2f ms, p99 %.2f ms  publish to delivery, worker waiting\n",
              percentile(delivery.delivery_us, 0.5), percentile(delivery.delivery_us, 0.99));
}

// The same with eventq::Worker. Round trips and syncs are measured between its events, under the same load.
void bench_worker_latency(const Settings& settings) {
  const TemporaryDirectory folder;
  const FreshServer server;
  const WorkerLatency latency = worker_latency(server.port(), folder.file(""), settings.seconds);
  const auto line = [](const char* what, const std::vector<std::uint32_t>& times) {
    std::printf("latency  p50 %.3f ms, p99 %.3f ms  %s\n", percentile(times, 0.5), percentile(times, 0.99),
                what);
  };
  line("one sync", latency.sync_us);
  line("GET /healthz by the client", latency.round_trip_us);
  line("publish by the client", latency.publish_us);
  line("publish to handler, eventq::Worker waiting", latency.begin_us);
  const double unit = 3 * percentile(latency.round_trip_us, 0.5) + percentile(latency.sync_us, 0.5);
  std::printf("latency  %.2f  p50 of publish to handler over 3 round trips and a sync; at most 1\n",
              percentile(latency.begin_us, 0.5) / unit);
}

int run(const std::vector<std::string>& arguments) {
  Settings settings;
  std::set<std::string> wanted;
  const std::set<std::string> workloads = {"disk",     "cycles", "poll",     "http",    "latency",
                                           "recovery", "soak",   "notebook", "postgres"};
  for (const std::string& argument : arguments) {
    if (argument == "--quick") {
      settings = {.seconds = 0.1, .warm_up = 0.05, .rounds = 1, .backlog = 5000, .soak = 2, .files = 20};
    } else if (argument.starts_with("--soak=")) {
      settings.soak = std::strtod(argument.c_str() + 7, nullptr);
    } else if (workloads.contains(argument)) {
      wanted.insert(argument);
    } else {
      std::fprintf(stderr,
                   "usage: eventq_bench [--quick] [--soak=SECONDS] "
                   "[disk|cycles|poll|http|latency|recovery|soak|notebook|postgres]...\n");
      return 2;
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto is_wanted = [&](const char* name) { return wanted.empty() || wanted.contains(name); };
  if (is_wanted("disk") || is_wanted("cycles")) bench_disk_and_cycles(settings, is_wanted("cycles"));
  if (is_wanted("poll")) bench_poll(settings);
  if (is_wanted("http")) bench_http(settings);
  if (is_wanted("latency")) bench_latency(settings);
  if (is_wanted("latency")) bench_worker_latency(settings);
  if (is_wanted("recovery")) bench_recovery(settings.backlog);
  if (is_wanted("soak")) bench_soak(settings.soak);
  if (is_wanted("notebook")) bench_notebook(settings.files);
  if (is_wanted("postgres")) {
    bench_postgres(settings.warm_up, settings.seconds, settings.rounds, settings.backlog);
  }
  return 0;
}

}  // namespace
}  // namespace eventq::bench

int main(int argc, char** argv) { return eventq::bench::run({argv + 1, argv + argc}); }
