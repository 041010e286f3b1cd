// postgres_reader.h: Reader on a connection of its own, made when it is needed and again after it was lost.
//
// What one call sees is of one moment: one statement, or a transaction with one snapshot. A long list is read
// in several, so that no snapshot gets old.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/reconnector.h"
#include "store/store.h"

namespace eventq::postgres {

class PostgresReader final : public Reader {
 public:
  explicit PostgresReader(std::string url) : reconnector_(std::move(url)) {}

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
  Result<Working> working() override;
  Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) override;

  // As PostgresStore::interrupt(). From any thread.
  void interrupt(bool interrupted) { reconnector_.interrupt(interrupted); }

  // postgres_list.cc
  Result<EventPage> list(const ListFilter& filter) override;
  Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                 std::size_t limit) override;

 private:
  // Runs them in one round trip. When the connection was lost since the last call, on a new one.
  Result<std::vector<Rows>> run(std::vector<StatementCall> calls);
  Result<Rows> run_one(std::string_view sql, Params params = {});
  // The same in a transaction of their own.
  Result<std::vector<Rows>> at_one_moment(std::vector<StatementCall> calls);

  // postgres_list.cc: calls `take` with each event that matches, in the order of ids, until it returns false.
  // Runs `beside` at the moment of the first look, which is at `first_look` events, and returns its rows.
  Result<std::vector<Rows>> walk(const ListFilter& filter, std::size_t first_look,
                                 std::vector<StatementCall> beside, const std::function<bool(Event&&)>& take);

  Reconnector reconnector_;
  std::unique_ptr<PgConnection> connection_;
};

}  // namespace eventq::postgres
