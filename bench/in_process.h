// in_process.h: workloads without a network: the disk, the store and the core.
#pragma once

#include <string>

namespace eventq::bench {

// Appends 4 KiB and calls fdatasync(), again and again.
double syncs_per_second(const std::string& folder, double seconds);

// Whole life cycles (publish, claim, complete). One commit has `batch` commands of one kind.
double cycles_per_second(const std::string& folder, int batch, double seconds);

// Microseconds for one poll that claims an event of its tag while `pending` older events wait: nine tenths
// have other tags, one tenth has a retry in an hour. 500 polls share a commit, so that the search is measured
// and not the disk.
double poll_microseconds(const std::string& folder, int pending);

}  // namespace eventq::bench
