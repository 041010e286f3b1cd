// memory_reader.h: reads the store in memory. Each call holds the mutex until it returns.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/memory/memory_state.h"
#include "store/store.h"

namespace eventq::memory {

class MemoryReader final : public Reader {
 public:
  MemoryReader(const MemoryState& state, std::mutex& mutex) : state_(state), mutex_(mutex) {}

  Result<std::optional<Event>> get(EventId id) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<std::optional<Details>> details(EventId id) override;
  Result<EventPage> list(const ListFilter& filter) override;
  Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) override;
  Result<std::vector<QueueDocument>> queues() override;
  Result<std::vector<Checkpoint>> checkpoints(const std::string& queue, std::size_t limit) override;
  Result<std::optional<Recovery>> recovery(const std::string& queue) override;
  Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                 std::size_t limit) override;
  Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                             std::size_t limit) override;
  Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                       std::size_t limit) override;
  Result<std::vector<ArchiveFile>> archive_files() override;
  Result<Working> working() override;
  Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) override;

 private:
  const MemoryState& state_;  // guarded by mutex_
  std::mutex& mutex_;
};

}  // namespace eventq::memory
