// merge.h: the answers of several shards to one question, as one answer. Pure.
#pragma once

#include <vector>

#include "command/command.h"

namespace eventq {

// The command to send to each shard, so that their answers can be merged.
[[nodiscard]] Command for_each_shard(const Command& read, int shards);

// One shard's answer; for metrics and workers, one from each of its commit threads.
struct ShardAnswer {
  int shard = 0;
  std::vector<Answer> commit_threads;
};

// Merges answers to a read, to MetricsRequest or to WorkersRequest. A shard that could not be asked is named
// in `missing`. The merged answer is an error if every shard failed, or if nothing was found while a missing
// shard may have it. REQUIRES: the answers are in the order of their shards.
[[nodiscard]] Answer merge(const Command& question, std::vector<ShardAnswer> answers);

// Merges the results of a change that was made on every shard, in the order of the shards.
[[nodiscard]] QueueChanged merge(std::vector<QueueChanged> changes);

}  // namespace eventq
