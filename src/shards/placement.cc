// placement.cc: see placement.h.
#include "shards/placement.h"

#include <vector>

#include "base/hash.h"
#include "model/shard_of.h"

namespace eventq {
namespace {

using Keys = std::vector<std::string_view>;

Keys keys_of(const Publication& publication, std::string NewEvent::*member) {
  Keys keys;
  for (const NewEvent& event : publication.events) {
    const std::string& key = event.*member;
    if (!key.empty()) keys.push_back(key);
  }
  return keys;
}

// The hash of the first key, if all keys belong to the same shard.
Result<std::optional<std::uint64_t>> agreed(const Keys& keys, int shards, std::string_view name) {
  const std::uint64_t hash = hash64(keys.front());
  for (const std::string_view key : keys) {
    if (shard_of(hash64(key), shards) == shard_of(hash, shards)) continue;
    return Error{ErrorCode::invalid_argument,
                 "The events of one request are stored in one database, but " + std::string(name) + " \"" +
                     std::string(keys.front()) + "\" and \"" + std::string(key) + "\" belong to two of the " +
                     std::to_string(shards) +
                     ". Publish events with different keys in requests of their own.",
                 std::string(name)};
  }
  return std::optional(hash);
}

}  // namespace

Result<std::optional<std::uint64_t>> placement_of(const Publication& publication, int shards) {
  const Keys lines = keys_of(publication, &NewEvent::ordering_key);
  if (!lines.empty()) return agreed(lines, shards, "ordering_key");
  const Keys correlations = keys_of(publication, &NewEvent::correlation_id);
  if (!correlations.empty()) return agreed(correlations, shards, "correlation_id");
  const Keys superseding = keys_of(publication, &NewEvent::supersede_key);
  if (!superseding.empty()) return agreed(superseding, shards, "supersede_key");
  // A repeated request has the same first id, so it reaches the shard that knows it.
  const Keys ids = keys_of(publication, &NewEvent::event_id);
  if (!ids.empty()) return std::optional(hash64(ids.front()));
  if (publication.key) return std::optional(hash64(publication.key->key));
  return std::optional<std::uint64_t>();
}

bool makes_correlation(const Publication& publication) {
  return publication.correlated && publication.events.front().correlation_id.empty();
}

std::string correlation_id_for(int shard, int shards, const std::function<std::string()>& next) {
  for (;;) {
    std::string id = "corr_" + next();
    if (shard_of(hash64(id), shards) == shard) return id;
  }
}

}  // namespace eventq
