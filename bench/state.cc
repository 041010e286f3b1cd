// state.cc: see state.h.
#include "state.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "load.h"
#include "measure.h"
#include "scripts.h"
#include "support/server_process.h"

namespace eventq::bench {
namespace {

using Scripts = std::vector<std::unique_ptr<Script>>;

void start(ServerProcess& server) {
  if (server.start()) return;
  std::fprintf(stderr, "the server did not start:\n%s\n", server.log().c_str());
  std::exit(1);
}

double megabytes(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  return none ? 0 : static_cast<double>(size) / 1e6;
}

// "VmRSS:" of the process, in megabytes.
double resident_megabytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1e3;
  }
  return 0;
}

std::ptrdiff_t descriptors(pid_t pid) {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid) + "/fd");
  return std::distance(begin(all), end(all));
}

struct Sample {
  double file = 0, log = 0, memory = 0;
  std::ptrdiff_t descriptors = 0;
};

Sample sample(const ServerProcess& server) {
  return {megabytes(server.file("eventq.db")), megabytes(server.file("eventq.db-wal")),
          resident_megabytes(server.pid()), descriptors(server.pid())};
}

// Repeats a GET of `target` for a second and returns the median time.
double get_milliseconds(std::uint16_t port, const std::string& target) {
  Scripts scripts;
  scripts.push_back(repeat_get(target));
  std::vector<std::uint32_t> times = run_load(port, scripts, 0.1, 1, [] {}).latency_us;
  if (times.empty()) return 0;
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / 1000.0;
}

// Publishes `total` events in calls of a thousand, by one connection.
class Fill final : public Script {
 public:
  explicit Fill(int total) : left_(total) {
    for (int i = 0; i < kCall; ++i) {
      body_ += i == 0 ? R"({"events":[)" : ",";
      body_ += R"({"title":"waiting","tags":"backlog","payload":{"n":1}})";
    }
    body_ += "]}";
  }
  [[nodiscard]] bool done() const { return left_ <= 0; }

  std::string next(const Reply& reply) override {
    if (reply.status == 201) left_ -= kCall;
    return done() ? get_request("/healthz") : post_request("/events/batch", body_);
  }

 private:
  static constexpr int kCall = 1000;
  int left_;
  std::string body_;
};

}  // namespace

void bench_soak(double seconds) {
  constexpr int kConnections = 8;
  constexpr int kSegments = 10;
  ServerProcess server({"--config", "eventq.toml"});
  std::ofstream(server.file("eventq.toml")) << "[queues.main]\nretention = { completedSeconds = 3 }\n";
  start(server);
  Tally tally;
  tally.unfinished_max = 1000;
  std::vector<Sample> samples;
  std::printf("soak     every %.0f s: events worked, file MB, log MB, memory MB, descriptors\n",
              seconds / kSegments);
  for (int segment = 0; segment < kSegments; ++segment) {
    Scripts scripts;
    for (int i = 0; i < kConnections; ++i) scripts.push_back(publisher(tally, 1));
    for (int i = 0; i < kConnections; ++i) scripts.push_back(next_worker(tally, i, 10));
    run_load(server.port(), scripts, 0, seconds / kSegments, [] {});
    tally.published = tally.completed;  // the next segment does not wait for unfinished events of this one
    samples.push_back(sample(server));
    const Sample& now = samples.back();
    std::printf("soak     %10lld  %.1f  %.1f  %.1f  %td\n", static_cast<long long>(tally.done()), now.file,
                now.log, now.memory, now.descriptors);
  }
  const Sample& middle = samples[kSegments / 2];
  const Sample& last = samples.back();
  std::printf("ratio    %10.2f  file at the end over in the middle\n", last.file / middle.file);
  std::printf("ratio    %10.2f  memory at the end over in the middle\n", last.memory / middle.memory);
  std::printf("ratio    %10.2f  descriptors at the end over in the middle\n",
              static_cast<double>(last.descriptors) / static_cast<double>(middle.descriptors));
}

void bench_recovery(int backlog) {
  ServerProcess server;
  start(server);
  Scripts scripts;
  auto fill = std::make_unique<Fill>(backlog);
  const Fill& filled = *fill;
  scripts.push_back(std::move(fill));
  while (!filled.done()) run_load(server.port(), scripts, 0, 1, [] {});
  server.kill();

  const auto begun = std::chrono::steady_clock::now();
  start(server);
  const double served = seconds_since(begun);
  const std::string log = server.log();
  const std::size_t line = log.find("msg=recovered");
  std::printf("recovery %10.2f  seconds from the start to serving, with %d pending after kill -9 (%s)\n",
              served, backlog, log.substr(line, log.find('\n', line) - line).c_str());
  std::printf("recovery %10.2f  ms for GET /queues/main then, %.2f for GET /queues\n",
              get_milliseconds(server.port(), "/queues/main"), get_milliseconds(server.port(), "/queues"));
}

}  // namespace eventq::bench
