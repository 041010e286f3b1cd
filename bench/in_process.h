// in_process.h: workloads without a network: the disk, the store and the core.
#pragma once

#include <string>

namespace eventq::bench {

// fdatasync() of 4 KiB appended, one after the other.
double syncs_per_second(const std::string& folder, double seconds);

// Whole life cycles (publish, claim, complete), `batch` of each kind sharing a commit.
double cycles_per_second(const std::string& folder, int batch, double seconds);

// Microseconds for one poll that finds an event of its tag, with `pending` others waiting: nine
// tenths of other tags, one tenth for a retry in an hour, all published before. Commits are shared
// by 500 polls, so that the disk's time does not hide the search.
double poll_microseconds(const std::string& folder, int pending);

}  // namespace eventq::bench
