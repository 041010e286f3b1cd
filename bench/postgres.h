// postgres.h: the store on PostgreSQL, compared with a plain queue table on the same cluster.
#pragma once

namespace eventq::bench {

// Starts its own clusters, with fsync, and prints:
//   our life cycles per second over those of the plain table, 64 callers and 64 clients
//   one poll among `backlog` waiting events over one among 1000
//   polls beside an open transaction of another user over polls without one
//   CPU time per life cycle on two shards (two clusters) over one
//   calls for one shard while the other is silent over while it is not; seconds until a call for the silent
//   shard fails
void bench_postgres(double warm_up, double seconds, int rounds, int backlog);

}  // namespace eventq::bench
