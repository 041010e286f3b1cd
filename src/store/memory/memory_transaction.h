// memory_transaction.h: the one transaction of the store in memory.
//
// It changes the MemoryState in place and holds the mutex until its destructor. It saves each value before
// the first change, and the destructor restores those values unless commit() was called.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/memory/memory_state.h"
#include "store/store.h"

namespace eventq::memory {

class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(MemoryState& state, std::mutex& mutex, TimePoint now);
  ~MemoryTransaction() override;
  MemoryTransaction(const MemoryTransaction&) = delete;
  MemoryTransaction& operator=(const MemoryTransaction&) = delete;

  TimePoint now() const override { return now_; }
  Result<void> insert(std::span<Stored> events) override;
  Result<std::optional<EventId>> find(std::string_view event_id) override;
  Result<std::optional<KeyRecord>> find_key(std::string_view key) override;
  Result<void> put_key(const KeyRecord& record) override;
  Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override;
  Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids, EventFields fields) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<void> save(std::span<Stored> events) override;
  Result<void> remove(std::span<const Stored> events) override;
  Result<void> append(std::span<LogEntry> entries) override;
  Result<std::vector<Stored>> promote(std::size_t limit) override;
  Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override;
  Result<std::optional<TimePoint>> next_due() override;
  Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) override;
  Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) override;
  Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) override;
  Result<Ended> ended(const EndedFilter& filter) override;
  Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) override;
  Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) override;
  Result<void> put_correlation(const CorrelationRow& row) override;
  Result<void> put_queue(const QueueRow& row) override;
  Result<void> add_queue(const QueueRow& row) override;
  Result<void> add_totals(std::string_view queue, const Totals& change,
                          std::optional<EventId> last_completed) override;
  Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) override;
  Result<void> put_checkpoint(const Checkpoint& checkpoint) override;
  Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) override;
  Result<void> put_recovery(const Recovery& recovery) override;
  Result<void> add_worker(const WorkerRow& change) override;
  Result<void> put_archive_file(const ArchiveFile& file) override;
  Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) override;
  Result<Recalled> recall(std::vector<std::string>& repaired) override;
  Result<void> probe() override { return {}; }
  Result<void> commit(DiskSync sync) override;

 private:
  void put(Stored& stored);
  MemoryRecords& change_records();
  std::optional<Stored> first_in_line(std::string_view queue, std::string_view key, Line line) const;

  MemoryState& state_;
  const std::scoped_lock<std::mutex> lock_;
  const TimePoint now_;
  bool committed_ = false;
  std::map<EventId, std::optional<Stored>> events_before_;
  std::map<std::pair<EventId, LogId>, std::optional<LogEntry>> log_before_;
  std::map<std::string, std::optional<KeyRecord>> keys_before_;
  std::optional<MemoryRecords> records_before_;
};

}  // namespace eventq::memory
