// postgres_reader.h: Reader on a connection of its own, which is opened on first use and again after it was
// lost.
//
// Each call reads one snapshot: it is one statement, or one REPEATABLE READ transaction. A long list takes
// several snapshots, so that none is held for long.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/columns.h"
#include "store/postgres/connection.h"
#include "store/postgres/reconnector.h"
#include "store/store.h"

namespace eventq::postgres {

class PostgresReader final : public Reader {
 public:
  // `clock` limits the time of scans.
  explicit PostgresReader(std::string url, const Clock& clock = system_clock())
      : reconnector_(std::move(url)), clock_(clock) {}

  Result<std::optional<Event>> get(EventId id) override;
  Result<std::vector<LogEntry>> log(EventId id) override;
  Result<std::optional<Details>> details(EventId id) override;
  Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) override;
  Result<std::vector<QueueDocument>> queues() override;
  Result<std::vector<Checkpoint>> checkpoints(const std::string& queue, std::size_t limit) override;
  Result<std::optional<Recovery>> recovery(const std::string& queue) override;
  Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                             std::size_t limit) override;
  Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                       std::size_t limit) override;
  Result<std::vector<ArchiveFile>> archive_files() override;
  Result<std::vector<std::optional<EventId>>> find(std::span<const std::string> event_ids) override;
  Result<std::vector<QueueLogEntry>> queue_log(const QueueLogFilter& filter) override;
  Result<Working> working() override;
  Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) override;
  Result<std::vector<std::int64_t>> unattended(std::span<const AskedTags> queues) override;

  // As PostgresStore::interrupt(). Threads: any.
  void interrupt(bool interrupted) { reconnector_.interrupt(interrupted); }

  // postgres_list.cc
  Result<WorkerLogPage> worker_log(const WorkerLogFilter& filter) override;
  Result<EventPage> list(const ListFilter& filter) override;
  Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                 std::size_t limit) override;

 private:
  // Runs the calls in one round trip. If the connection was lost since the last call, runs them again on a
  // new one.
  Result<std::vector<Rows>> run(std::vector<StatementCall> calls);
  Result<Rows> run_one(std::string_view sql, Params params = {});
  // As run(), but all calls read the same snapshot.
  Result<std::vector<Rows>> at_one_moment(std::vector<StatementCall> calls);

  // postgres_list.cc: calls `take` with each matching event, in the order of the filter, until it returns
  // false. The first statement reads `first_rows` events. `beside` runs in the same snapshot, and
  // `Beside::take` gets its rows before the first event. Returns the last event read, if the time limit ended
  // a list that scans().
  struct Beside {
    std::vector<StatementCall> calls;
    std::function<void(const Rows&)> take;  // the rows of the first call
  };
  Result<std::optional<EventId>> walk(const ListFilter& filter, std::size_t first_rows, Beside beside,
                                      const std::function<bool(Event&&)>& take);
  // The ids that a list has to read.
  Result<IdRange> walked_range(const ListFilter& filter);
  // Calls `take` with the matching events of `rows`. Returns false when `take` did.
  Result<bool> take_matches(const Rows& rows, const ListFilter& filter,
                            const std::function<bool(Event&&)>& take);
  // Those of the events that the worker picked, by their logs.
  Result<std::set<EventId>> picked_of(const std::vector<Event>& events, const std::string& worker_id);
  // Removes the events whose worker or last error does not match the filter.
  Result<void> keep_matching_logs(std::vector<Event>& events, const ListFilter& filter);
  // Adds what the filter includes. Leaves out events that retention removed since the list was read.
  Result<void> read_included(EventPage& page, const ListIncludes& include);
  Result<void> read_contents(EventPage& page);
  Result<void> read_results(EventPage& page);
  Result<void> read_logs(EventPage& page);

  // postgres_list.cc: runs no statement if no event may have failed. An event may fail between the list and
  // this call; its row then shows the newer message.
  Result<void> read_last_errors(const std::vector<Event>& events, LastErrors& errors);
  Result<void> read_last_errors(const std::vector<std::int64_t>& ids, LastErrors& errors);
  // postgres_list.cc: the results of the events. Runs no statement if no event may have one.
  Result<void> read_results(Correlation& found);

  Reconnector reconnector_;
  const Clock& clock_;
  std::unique_ptr<PgConnection> connection_;
};

}  // namespace eventq::postgres
