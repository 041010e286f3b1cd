// state.h: workloads about what stays: a store over time, and after a crash.
#pragma once

namespace eventq::bench {

// Publishes, works and retains for `seconds`, and prints every few of them how large the store,
// the memory and the number of descriptors are. They grow until the retention is reached, then no more.
void bench_soak(double seconds);

// Kills a server with `backlog` pending events, and prints how long the next one takes until it
// serves, and how long a look at the queue takes then.
void bench_recovery(int backlog);

}  // namespace eventq::bench
