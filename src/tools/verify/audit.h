// audit.h: checks the file of a store: replays the log of each event and compares counters with rows.
//
// The audit reads one snapshot and never checkpoints, so it can run beside a server, or after one was killed.
// It reads events one by one with their log, so memory does not grow with the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "eventq/error.h"

namespace eventq::sqlite {

// The guarantees of a store.
enum class AuditCheck : std::uint8_t {
  sound,           // SQLite's integrity check passes
  none_lost,       // every published event is live, has ended, or was removed after its end
  finished_once,   // an event ends once; a reset allows another end
  leases_apart,    // attempts do not overlap, and only the holder reports
  order_kept,      // an event of a line starts only after the one before it ended
  counters_right,  // counters and indexes agree with the rows
};
std::string_view name_of(AuditCheck check);  // "none lost"

struct Violation {
  AuditCheck check{};
  std::int64_t event = 0;  // 0: the violation concerns no single event
  std::int64_t entry = 0;  // of the log; 0: the violation concerns no single entry
  std::string text;
};

// How much was checked, which `eventq verify` prints beside each AuditCheck.
struct AuditCounts {
  std::int64_t events = 0;
  std::int64_t live = 0;
  std::int64_t ended = 0;
  std::int64_t removed = 0;  // removed by retention
  std::int64_t entries = 0;
  std::int64_t claims = 0;
  std::int64_t ends = 0;
  std::int64_t resets = 0;
  std::int64_t lines = 0;
  std::int64_t in_lines = 0;  // events with an ordering_key
  std::int64_t rules = 0;     // SQL statements run; each finds one kind of fault in the rows
};

struct AuditOptions {
  std::function<void(const Violation&)> on_violation;                    // called for each violation
  std::function<bool(std::int64_t done, std::int64_t all)> on_progress;  // may be empty; return false to stop
};

// Errors: not_found; corrupt when the file is not a store of this version; conflict when it holds part of an
// unfinished move; unavailable, also when stopped.
Result<AuditCounts> audit(const std::string& path, const AuditOptions& options);

// The first fault that SQLite's integrity check finds, for a file of any schema; empty when it finds none.
Result<std::string> check_sound(const std::string& path);

}  // namespace eventq::sqlite
