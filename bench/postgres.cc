// postgres.cc: see postgres.h.
#include "postgres.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/steady.h"
#include "callers.h"
#include "load.h"
#include "measure.h"
#include "model/shard_of.h"
#include "queue/open.h"
#include "scripts.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "support/file_text.h"
#include "support/http_client.h"
#include "support/postgres_cluster.h"
#include "support/process.h"
#include "support/server_process.h"
#include "support/tcp_proxy.h"

namespace eventq::bench {
namespace {

constexpr int kCallers = 64;
constexpr int kTaken = 10;  // events per claim, for the callers that claim several

// The fields of /proc/PID/stat after the name, which may contain spaces. The first one is the state.
std::vector<std::string> process_fields(const std::string& pid) {
  const std::string line = content_of("/proc/" + pid + "/stat");
  std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
  return {std::istream_iterator<std::string>(rest), {}};
}

// CPU seconds of the server and its child processes, including those that have exited.
double cpu_of(pid_t server) {
  constexpr std::size_t kParent = 1;
  constexpr std::size_t kTime = 11;  // user, system, and both of exited children
  const std::string pid = std::to_string(server);
  double ticks = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto fields = process_fields(name);
    if (fields.size() < kTime + 4 || (name != pid && fields[kParent] != pid)) continue;
    for (std::size_t i = kTime; i < kTime + (name == pid ? 4 : 2); ++i) ticks += std::stod(fields[i]);
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// A cluster for this benchmark only, with PostgreSQL's default durability.
class Cluster {
 public:
  std::string empty_database() { return cluster_.add_database("bench_" + std::to_string(++databases_)); }
  std::string database() {
    const std::string url = empty_database();
    must(postgres::migrate({&url, 1}));
    return url;
  }
  [[nodiscard]] double cpu() const { return cpu_of(cluster_.pid()); }
  [[nodiscard]] double log_bytes() const {
    const auto connection = must(postgres::PgConnection::open(cluster_.url("postgres")));
    const char* written = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint";
    return static_cast<double>(must(connection->run_one(written)).number(0, 0));
  }

 private:
  OwnCluster cluster_;
  int databases_ = 0;
};

std::unique_ptr<Engine> open_engine(const std::vector<std::string>& urls) {
  Options options;
  options.retry.base = std::chrono::hours(1);
  options.lease = std::chrono::hours(1);
  return must(open_engine(urls, options));
}

struct Time {
  double warm_up = 0;
  double seconds = 0;
};

double plain_rate(const std::string& url, Time time) {
  must(must(postgres::PgConnection::open(url))->script(content_of(EVENTQ_BENCH_DIR "/plain_table.sql")));
  // On a busy machine a short run may end before its first transaction; pgbench then prints no rate.
  for (int seconds = std::max(1, static_cast<int>(time.warm_up + time.seconds));; seconds *= 2) {
    Process pgbench({.command = {EVENTQ_PGBENCH, "--no-vacuum", "--protocol=prepared", "--client=64",
                                 "--time=" + std::to_string(seconds),
                                 "--file=" EVENTQ_BENCH_DIR "/plain_cycle.pgbench", url},
                     .environment = {},
                     .directory = "/"});
    const auto exit_code = pgbench.wait(std::chrono::minutes(5));
    if (!exit_code) fail("pgbench did not exit within five minutes");
    if (*exit_code != 0) fail("pgbench: " + pgbench.err());
    const std::string line = "tps = ";
    const std::string out = pgbench.out();
    const std::size_t at = out.find(line);
    if (at != std::string::npos) return std::strtod(out.c_str() + at + line.size(), nullptr);
  }
}

double our_rate(const std::string& url, Time time, int take) {
  const auto engine = open_engine({url});
  return run_callers(*engine, {kCallers, take}, time.warm_up, time.seconds).rate();
}

double our_http_rate(const std::string& url, Time time) {
  ServerProcess server({"--store", url});
  if (!server.start()) fail("the server did not start:\n" + server.log());
  Tally tally;
  tally.unfinished_max = 4 * kCallers;
  std::vector<std::unique_ptr<Script>> scripts;
  for (int i = 0; i < kCallers; ++i) scripts.push_back(publisher(tally, 1));
  for (int i = 0; i < kCallers; ++i) scripts.push_back(next_worker(tally, i, 1));
  const LoadResult result =
      run_load(server.port(), scripts, time.warm_up, time.seconds, [&] { tally.done_before = tally.done(); });
  return static_cast<double>(tally.done() - tally.done_before) / result.seconds;
}

void bench_rates(Time time, int rounds) {
  Cluster cluster;
  std::vector<double> plain;
  std::vector<double> ours;
  std::vector<double> tens;
  std::vector<double> http;
  std::vector<double> ratio;
  std::vector<double> tens_ratio;
  std::vector<double> http_ratio;
  for (int i = 0; i < rounds; ++i) {
    plain.push_back(plain_rate(cluster.database(), time));
    ours.push_back(our_rate(cluster.database(), time, 1));
    tens.push_back(our_rate(cluster.database(), time, kTaken));
    http.push_back(our_http_rate(cluster.database(), time));
    ratio.push_back(ours.back() / plain.back());
    tens_ratio.push_back(tens.back() / plain.back());
    http_ratio.push_back(http.back() / plain.back());
  }
  std::printf("postgres %10.0f  life cycles per second on a plain SKIP LOCKED table, pgbench, 64 clients\n",
              median(plain));
  std::printf("postgres %10.0f  ours in process, 64 callers, single calls: publish, next\n", median(ours));
  std::printf("postgres %10.0f  ours in process, 64 callers, single publishes, claims of ten\n",
              median(tens));
  std::printf("postgres %10.0f  ours over HTTP, 64+64 connections, two calls\n", median(http));
  std::printf("ratio    %10.2f  ours in process over the plain table; at least 2\n", median(ratio));
  std::printf("ratio    %10.2f  the same with claims of ten; at least 2\n", median(tens_ratio));
  std::printf("ratio    %10.2f  ours over HTTP over the plain table\n", median(http_ratio));
}

// Microseconds of one poll while `pending` events wait: nine tenths have other tags, one tenth has a retry in
// an hour. VACUUM and CHECKPOINT run first, because publishing leaves that work to the database.
double poll_among(int pending) {
  Cluster cluster;
  constexpr int kPolls = 300;
  const std::string url = cluster.database();
  const auto engine = open_engine({url});
  publish(*engine, pending / 10, {"mine", "retry"});
  postpone(*engine, pending / 10, "mine");
  publish(*engine, pending - pending / 10, {"other", "second"});
  publish(*engine, kPolls, {"mine", "second"});
  const auto connection = must(postgres::PgConnection::open(url));
  must(connection->script("VACUUM"));
  must(connection->script("CHECKPOINT"));
  return poll_microseconds(*engine, "mine", kPolls);
}

void bench_poll(int backlog) {
  const double few = poll_among(1000);
  const double many = poll_among(backlog);
  std::printf("postgres %10.2f  one poll with %d waiting over with 1000 (%.0f and %.0f us); at most 1.5\n",
              many / few, backlog, many, few);
}

// Polls beside an open transaction of another user, which keeps vacuum from removing dead rows.
void bench_snapshot(Time time) {
  Cluster cluster;
  constexpr int kPolls = 300;
  const std::string url = cluster.database();
  const auto engine = open_engine({url});
  const auto polls = [&] {
    const Cycles cycles = run_callers(*engine, {kCallers}, 0, time.seconds);
    publish(*engine, kPolls, {"load", "second"});
    return std::pair{poll_microseconds(*engine, "load", kPolls), cycles.completed};
  };
  const auto [without, cycles_without] = polls();
  const auto foreign = must(postgres::PgConnection::open(url));
  must(foreign->script("BEGIN ISOLATION LEVEL REPEATABLE READ"));
  must(foreign->script("SELECT count(*) FROM eventq.event_queue"));
  const auto [beside, cycles_beside] = polls();
  std::printf(
      "postgres %10.2f  one poll beside an old snapshot and %lld life cycles over without (%.0f and %.0f "
      "us); "
      "at most 5\n",
      beside / without, static_cast<long long>(cycles_beside), beside, without);
}

// Each shard has its own 64 callers.
void bench_shards(Time time, int rounds) {
  Cluster first;
  Cluster second;
  const auto measure = [&](const std::vector<std::string>& urls) {
    const auto engine = open_engine(urls);
    return run_callers(*engine, {kCallers * static_cast<int>(urls.size())}, time.warm_up, time.seconds, [&] {
      return Used{own_cpu(), first.cpu() + second.cpu(), first.log_bytes() + second.log_bytes()};
    });
  };
  const auto cost = [](const Cycles& cycles) {
    return (cycles.used.cpu + cycles.used.database_cpu) / static_cast<double>(cycles.completed);
  };
  const auto print = [](const char* where, const Cycles& cycles) {
    const auto each = [&](double all) { return all / static_cast<double>(cycles.completed); };
    std::printf(
        "postgres %10.0f  life cycles per second on %s, each %.0f us of PostgreSQL's CPU, %.0f us of ours, "
        "%.0f bytes of log\n",
        cycles.rate(), where, each(cycles.used.database_cpu) * 1e6, each(cycles.used.cpu) * 1e6,
        each(cycles.used.log_bytes));
  };
  // The speed of a CPU changes by a third from minute to minute, so take the median of many pairs.
  constexpr int kPairsEach = 3;
  std::vector<double> ratios;
  for (int i = 0; i < kPairsEach * rounds; ++i) {
    const Cycles one = measure({first.database()});
    const std::vector<std::string> shards = {first.empty_database(), second.empty_database()};
    must(postgres::migrate(shards));
    const Cycles two = measure(shards);
    print("one shard", one);
    print("two shards", two);
    ratios.push_back(cost(two) / cost(one));
  }
  std::printf("ratio    %10.2f  CPU per life cycle on two shards (128 callers) over one (64); at most 1.15\n",
              median(ratios));
}

// Two servers on the same two shards. One server cannot reach the second shard; compares the rate of both
// servers on the first shard.
void bench_silence(int rounds) {
  constexpr int kCalls = 200;
  constexpr int kRoundsEach = 5;
  const OwnCluster first;
  const OwnCluster second;
  TcpProxy proxy(static_cast<std::uint16_t>(second.port()));
  const auto arguments = [&](int port) {
    const std::string other = "postgres://postgres@127.0.0.1:" + std::to_string(port) + "/postgres";
    return std::vector<std::string>{"--migrate", "--store", first.url("postgres"), "--store", other};
  };
  ServerProcess whole(arguments(second.port()));
  ServerProcess cut(arguments(proxy.port()));
  if (!whole.start() || !cut.start()) fail("the servers did not start:\n" + whole.log() + cut.log());
  const auto status_of = [](HttpClient& client, int shard, const std::string& target) {
    int number = 0;
    while (shard_of(hash64("key-" + std::to_string(number)), 2) != shard) ++number;
    return must(client.post(target, R"({"title":"t","tags":"t","correlation_id":"key-)" +
                                        std::to_string(number) + "\"}"))
        .status;
  };
  const auto rate = [&](HttpClient& client) {
    const SteadyTime start = steady_now();
    for (int i = 0; i < kCalls; ++i) {
      if (status_of(client, 0, "/events") != 201) fail("a call for a healthy shard failed");
    }
    return kCalls / std::chrono::duration<double>(steady_now() - start).count();
  };

  HttpClient to_whole(whole.port());
  HttpClient to_cut(cut.port());
  proxy.black_hole();
  const SteadyTime start = steady_now();
  if (status_of(to_cut, 1, "/events") != 503) fail("a call for a silent shard did not fail");
  std::printf(
      "postgres %10.2f  seconds until the first call that needs a silent shard is refused; at most 2\n",
      std::chrono::duration<double>(steady_now() - start).count());
  std::vector<double> ratios;
  for (int i = 0; i < kRoundsEach * rounds; ++i) {
    // The first measurement leaves caches and dead rows to the second, so alternate the order.
    const bool whole_first = i % 2 == 0;
    const double one = rate(whole_first ? to_whole : to_cut);
    const double other = rate(whole_first ? to_cut : to_whole);
    ratios.push_back(whole_first ? other / one : one / other);
  }
  std::printf(
      "ratio    %10.2f  calls for a shard while the other is silent over while it is not; at least 0.9\n",
      median(ratios));
}

}  // namespace

void bench_postgres(double warm_up, double seconds, int rounds, int backlog) {
  const Time time{warm_up, seconds};
  bench_rates(time, rounds);
  bench_poll(backlog);
  bench_snapshot(time);
  bench_shards(time, rounds);
  bench_silence(rounds);
}

}  // namespace eventq::bench
