// merge.h: the answers of several shards to one question, as one answer. Pure.
#pragma once

#include <vector>

#include "command/command.h"

namespace eventq {

// What to ask each of several shards, so that their answers can be merged.
[[nodiscard]] Command for_each_shard(const Command& read, int shards);

// One shard's answer; of metrics and workers, those of all its commit threads.
struct ShardAnswer {
  int shard = 0;
  std::vector<Answer> commit_threads;
};

// Merges answers to a read, to MetricsRequest or to WorkersRequest, in the order of their shards. A shard
// that cannot be asked is named in `missing`. An error is that of all of them, or of a shard without which
// the answer would be wrong: nothing was found, but the missing one may have it.
[[nodiscard]] Answer merge(const Command& question, std::vector<ShardAnswer> answers);

// The states of one queue, as the answer to a change made on every shard, in order.
[[nodiscard]] QueueChanged merge(std::vector<QueueChanged> changes);

}  // namespace eventq
