// audit.h: judges the file of a store, from outside: replays its log and compares what was counted.
//
// The file is only read, at one moment of it, and never checkpointed: a server may be running on it, or
// have died on it. Events are read one by one with their log, so that memory does not grow with the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::sqlite {

// What a store promises.
enum class AuditCheck : std::uint8_t {
  sound,           // SQLite finds nothing wrong with the file
  none_lost,       // every event published is live, has ended, or was removed after its end
  finished_once,   // one end in every life; a reset begins a new one
  leases_apart,    // attempts follow each other, and only the holder reports
  order_kept,      // of those with one ordering_key, each only after the one before it ended
  counters_right,  // counters and indexes are those of the rows
};
std::string_view name_of(AuditCheck check);  // "none lost"

struct Violation {
  AuditCheck check{};
  std::int64_t event = 0;  // 0: of no single one
  std::int64_t entry = 0;  // of the log; 0: of no single one
  std::string text;
};

// What was looked at.
struct AuditCounts {
  std::int64_t events = 0;
  std::int64_t live = 0;
  std::int64_t ended = 0;
  std::int64_t removed = 0;  // by retention
  std::int64_t entries = 0;
  std::int64_t claims = 0;
  std::int64_t ends = 0;
  std::int64_t resets = 0;
  std::int64_t lines = 0;
  std::int64_t in_lines = 0;  // events
  std::int64_t rules = 0;
};

struct AuditOptions {
  std::function<void(const Violation&)> on_violation;                    // each as it is found
  std::function<bool(std::int64_t done, std::int64_t all)> on_progress;  // may be empty; false: stop
};

// Errors: not_found; corrupt when the file is no store of this version; unavailable, also when stopped.
Result<AuditCounts> audit(const std::string& path, const AuditOptions& options);

// The first thing that SQLite finds wrong with the file, whatever its schema; empty when there is none.
Result<std::string> check_sound(const std::string& path);

}  // namespace eventq::sqlite
