// sqlite_reader.h: Reader on its own read-only connection. It keeps snapshots short, because an open snapshot
// prevents the writer from reusing the write-ahead log.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace eventq::sqlite {

class SqliteReader final : public Reader {
 public:
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  explicit SqliteReader(SqliteConnection&& opened) : connection_(std::move(opened)) {}

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
  // Runs `read` in one read transaction, so that its statements see the same snapshot.
  template <typename T>
  Result<T> at_one_moment(const std::function<Result<T>()>& read);
  Result<std::vector<QueueDocument>> read_queues(std::optional<std::string_view> id);
  Result<std::vector<Details>> first_events(const std::string& queue, std::size_t events);
  void bind_list(Statement& statement, const ListFilter& filter, EventId after);
  Statement& list_statement(const ListFilter& filter);
  // Calls `take` with each matching event, ordered by id, until `take` returns false.
  Result<void> walk(const ListFilter& filter, const std::function<bool(Event&&)>& take);
  Result<std::int64_t> kept_count(const ListFilter& filter);

  SqliteConnection connection_;
  Statement begin_, commit_;
  Statement load_live_, load_archived_, event_log_, list_all_, list_live_, list_archived_, list_rare_,
      list_queue_, list_correlation_, read_count_;
  Statement read_queue_, read_counts_, read_totals_, read_checkpoints_, read_recovery_, find_correlation_,
      read_failures_, expired_, read_archive_files_, read_workers_, processing_, holding_;
};

}  // namespace eventq::sqlite
