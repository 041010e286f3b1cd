// worker_latency.cc: see worker_latency.h.
#include "worker_latency.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>

#include "client/http_client.h"
#include "eventq/queue.h"
#include "eventq/worker.h"
#include "measure.h"

namespace eventq::bench {
namespace {

using Moment = std::chrono::steady_clock::time_point;

Moment now() { return std::chrono::steady_clock::now(); }

std::uint32_t micros(Moment from, Moment to) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(to - from).count());
}

// A file that grows by 4 KiB and is synced each time.
class SyncedFile {
 public:
  explicit SyncedFile(const std::string& path)
      : file_(open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600)) {}
  ~SyncedFile() { close(file_); }
  SyncedFile(const SyncedFile&) = delete;
  SyncedFile& operator=(const SyncedFile&) = delete;

  std::uint32_t append() {
    const std::array<char, 4096> block{};
    const Moment start = now();
    if (write(file_, block.data(), block.size()) < 0 || fdatasync(file_) != 0) {
      std::fprintf(stderr, "cannot sync\n");
      std::exit(1);
    }
    return micros(start, now());
  }

 private:
  int file_;
};

}  // namespace

WorkerLatency worker_latency(std::uint16_t port, const std::string& folder, double seconds) {
  const std::string url = "http://127.0.0.1:" + std::to_string(port);
  client::HttpClient http(must(client::parse_url(url)));
  client::HttpRequest health;
  health.target = "/healthz";
  SyncedFile file(folder + "/sync");
  const auto publisher = must(Queue::open(url));
  const auto queue = must(Queue::open(url));
  std::binary_semaphore begun(0);
  Moment begun_at;
  Worker worker(*queue, {.threads = 1});
  worker.on_tag("a", [&](const Event&, const std::stop_token&) {
    begun_at = now();
    begun.release();
    return Handled::done();
  });
  if (const auto started = worker.start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    std::exit(1);
  }
  NewEvent event;
  event.title = "t";
  event.tags = {"a"};
  WorkerLatency result;
  for (const Moment end = now() + std::chrono::microseconds(static_cast<int>(seconds * 1e6)); now() < end;) {
    result.sync_us.push_back(file.append());
    const Moment called = now();
    must(http.call(health));
    const Moment start = now();
    result.round_trip_us.push_back(micros(called, start));
    must(publisher->publish(event));
    result.publish_us.push_back(micros(start, now()));
    begun.acquire();
    result.begin_us.push_back(micros(start, begun_at));
    // Wait until the worker has reported and polls again.
    while (worker.stats().held > 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  worker.stop();
  return result;
}

}  // namespace eventq::bench
