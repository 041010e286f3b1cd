// worker_latency.h: how soon a worker behind HTTP begins, with the library that users have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eventq::bench {

// Each taken once per event, one after the other, so that a busy disk is busy for all of them.
struct WorkerLatency {
  std::vector<std::uint32_t> sync_us;        // fdatasync() of 4 KiB appended
  std::vector<std::uint32_t> round_trip_us;  // GET /healthz by the client's own connections
  std::vector<std::uint32_t> publish_us;     // until publish() returns
  std::vector<std::uint32_t> begin_us;       // from the call of publish() to the first line of the handler
};

// One event at a time to one eventq::Worker that waits for it. `folder` is on the disk of the server's store.
WorkerLatency worker_latency(std::uint16_t port, const std::string& folder, double seconds);

}  // namespace eventq::bench
