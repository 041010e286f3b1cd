// queue_json.h: queues and what is done to them, as answers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json_writer.h"
#include "eventq/event.h"
#include "model/policy.h"
#include "model/query.h"

namespace eventq::wire {

// A queue with the settings in force.
enum class QueueEvents : std::uint8_t { left_out, shown };
void write_queue(JsonWriter& json, const QueueDocument& queue, const Policy& policy, QueueEvents events);

void write_checkpoint(JsonWriter& json, const Checkpoint& checkpoint);
void write_checkpoints(JsonWriter& json, const std::vector<Checkpoint>& checkpoints);
void write_recovery(JsonWriter& json, const Recovery& recovery);
void write_superseded(JsonWriter& json, const std::vector<EventId>& events);

// Finished events revival back: `events[i]` is what became of `matched[i]`; none of a dry run.
struct RevivalResult {
  const std::vector<EventId>& matched;
  const std::vector<EventId>& events;
  bool dry_run = false;
  bool more = false;
  std::optional<EndedCursor> next = {};  // where to go on
};
void write_replay(JsonWriter& json, const RevivalResult& revival);
void write_redrive(JsonWriter& json, const RevivalResult& revival);

void write_failures(JsonWriter& json, const std::vector<FailureGroup>& failures);

// Events by status, as the member `counts`, and how many of them are live.
void write_counts(JsonWriter& json, const Counts& counts);
[[nodiscard]] std::int64_t depth_of(const Counts& counts);

}  // namespace eventq::wire
