// queue_json.h: writes queues, checkpoints, replays and failures as answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "eventq/event.h"
#include "model/policy.h"
#include "model/query.h"

namespace eventq::wire {

// Writes a queue with the settings in force.
enum class QueueEvents : std::uint8_t { left_out, shown };
void write_queue(JsonWriter& json, const QueueDocument& queue, const Policy& policy, QueueEvents events);

void write_checkpoint(JsonWriter& json, const Checkpoint& checkpoint);
void write_checkpoints(JsonWriter& json, const std::vector<Checkpoint>& checkpoints);
void write_recovery(JsonWriter& json, const Recovery& recovery);
void write_superseded(JsonWriter& json, const std::vector<EventId>& events);

// The entries of a queue's log, and where the next page continues when this one has `limit` of them.
void write_queue_log(JsonWriter& json, const std::vector<QueueLogEntry>& entries, std::size_t limit);

// The result of a replay or a retry. `events[i]` is the event made from `matched[i]`; empty for a dry run.
struct RevivalResult {
  const std::vector<EventId>& matched;
  const std::vector<EventId>& events;
  bool dry_run = false;
  bool more = false;
  std::optional<EndedCursor> next = {};  // where the next request continues
};
void write_replay(JsonWriter& json, const RevivalResult& revival);
// `count` is the name of the member with the number of events: "retried", or "redriven" on the old route.
void write_retried(JsonWriter& json, const RevivalResult& revival, std::string_view count);

void write_failures(JsonWriter& json, const std::vector<FailureGroup>& failures);

// Writes the number of events by status as the member `counts`. depth_of() is the number of live events.
void write_counts(JsonWriter& json, const Counts& counts);
[[nodiscard]] std::int64_t depth_of(const Counts& counts);

}  // namespace eventq::wire
