// worker_latency.h: the time from publish() to a handler of eventq::Worker, over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eventq::bench {

// One value each per event, measured one after the other, so that a busy disk affects all of them.
struct WorkerLatency {
  std::vector<std::uint32_t> sync_us;        // fdatasync() of 4 KiB appended
  std::vector<std::uint32_t> round_trip_us;  // GET /healthz by client::HttpClient
  std::vector<std::uint32_t> publish_us;     // until publish() returns
  std::vector<std::uint32_t> begin_us;       // from the call of publish() to the first line of the handler
};

// Publishes one event at a time to one waiting eventq::Worker.
// REQUIRES: `folder` is on the same disk as the server's store.
WorkerLatency worker_latency(std::uint16_t port, const std::string& folder, double seconds);

}  // namespace eventq::bench
