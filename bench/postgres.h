// postgres.h: the store on PostgreSQL, beside a queue table written by hand on the same cluster.
#pragma once

namespace eventq::bench {

// Makes clusters of its own, with fsync, and prints:
//   our life cycles per second over those of the plain table, 64 callers and 64 clients
//   one poll among `backlog` waiting events over one among 1000
//   polls beside a transaction of somebody else that stays open over polls without
//   CPU time per life cycle on two shards (two clusters) over one
//   calls for one shard while the other is silent over while it is not, and how soon those for that one fail
void bench_postgres(double warm_up, double seconds, int rounds, int backlog);

}  // namespace eventq::bench
