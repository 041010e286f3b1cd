// state.h: workloads about the state on disk: over time, and after a crash.
#pragma once

namespace eventq::bench {

// Publishes, works and retains for `seconds`. Prints the size of the store and of memory and the number of
// descriptors at ten points. They must stop growing when the first events have left.
void bench_soak(double seconds);

// Kills a server with `backlog` pending events. Prints the time until the next server serves, and the time of
// a GET of the queue after that.
void bench_recovery(int backlog);

}  // namespace eventq::bench
