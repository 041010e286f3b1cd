// stored_file.cc: see stored_file.h.
#include "crash/stored_file.h"

#include <filesystem>
#include <system_error>

#include "base/numbers.h"
#include "support/store_audit.h"
#include "support/temporary_directory.h"

namespace eventq {

StoredFile read_stored_file(const std::string& path) {
  StoredFile found;
  const TemporaryDirectory copies;
  const std::string copy = copies.file("copy.db");
  std::error_code error;
  std::filesystem::copy_file(path, copy, error);
  if (error) return {"cannot copy " + path + ": " + error.message(), {}};
  // A server killed before its first commit has no log yet.
  if (std::filesystem::exists(path + "-wal")) std::filesystem::copy_file(path + "-wal", copy + "-wal", error);
  if (error) return {"cannot copy the log of " + path + ": " + error.message(), {}};

  found.damage = audit_queues(copy);
  for (const std::string& queue : query(copy, "SELECT id FROM event_queue_state")) {
    const auto live = query(copy, "SELECT count(*) FROM event_queue WHERE queue = '" + queue + "'");
    found.live[queue] = parse_whole<std::int64_t>(live.at(0)).value();
  }
  return found;
}

}  // namespace eventq
