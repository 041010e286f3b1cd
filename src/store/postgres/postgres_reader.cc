// postgres_reader.cc: see postgres_reader.h. Lists are in postgres_list.cc.
#include "store/postgres/postgres_reader.h"

#include <map>
#include <utility>

#include "generated/postgres_sql.h"
#include "model/names.h"
#include "store/postgres/rows.h"

namespace eventq::postgres {
namespace {

// The row of read_event.sql.
Result<std::optional<Event>> take_event(const Rows& rows) {
  constexpr int kResultColumn = EventColumn::payload + 1;
  if (rows.empty()) return std::optional<Event>();
  auto stored = read_event(rows, 0, Transaction::EventFields::all);
  if (!stored) return stored.error();
  stored->event.result = RowView{rows, 0}.text(kResultColumn);
  return std::optional(std::move(stored->event));
}

// Joins events with their log entries.
Result<std::vector<Details>> take_details(const Rows& events, const Rows& logs) {
  auto entries = read_log(logs);
  if (!entries) return entries.error();
  // The statement returns the entries of all events together, those of one event in order.
  std::map<EventId, std::vector<LogEntry>> by_event;
  for (LogEntry& entry : *entries) by_event[entry.id].push_back(std::move(entry));
  std::vector<Details> found;
  for (std::size_t row = 0; row < events.size(); ++row) {
    auto stored = read_event(events, row, Transaction::EventFields::all);
    if (!stored) return stored.error();
    const EventId id = stored->event.id;
    found.push_back({std::move(stored->event), std::move(by_event[id])});
  }
  return found;
}

}  // namespace

Result<std::vector<Rows>> PostgresReader::run(std::vector<StatementCall> calls) {
  const bool used = connection_ && !connection_->broken();
  if (auto done = reconnector_.connect(connection_); !done) return done.error();
  if (!used) return connection_->run(std::move(calls));
  // The server may have closed an idle connection. Reads change nothing, so they can run again on a new one.
  auto rows = connection_->run(calls);
  if (rows || !connection_->broken()) return rows;
  if (auto done = reconnector_.connect(connection_); !done) return done.error();
  return connection_->run(std::move(calls));
}

Result<Rows> PostgresReader::run_one(std::string_view sql, Params params) {
  return only(run(calls_of(StatementCall{sql, std::move(params)})));
}

Result<std::vector<Rows>> PostgresReader::at_one_moment(std::vector<StatementCall> calls) {
  calls.insert(calls.begin(), StatementCall{sql::begin_read});
  calls.push_back({sql::commit});
  auto rows = run(std::move(calls));
  if (rows) {
    rows->erase(rows->begin());
    rows->pop_back();
  } else if (connection_ && !connection_->broken()) {
    // Without ROLLBACK the server would refuse the next BEGIN. If ROLLBACK fails, the connection is broken
    // and will be replaced.
    static_cast<void>(connection_->run_one(sql::rollback));
  }
  return rows;
}

Result<std::optional<Event>> PostgresReader::get(EventId id) {
  const auto rows = run_one(sql::read_event, params_of(number(id)));
  if (!rows) return rows.error();
  return take_event(*rows);
}

Result<std::vector<LogEntry>> PostgresReader::log(EventId id) {
  const auto rows = run_one(sql::event_log, params_of(number(id)));
  if (!rows) return rows.error();
  return read_log(*rows);
}

Result<std::optional<Details>> PostgresReader::details(EventId id) {
  const auto rows =
      at_one_moment({{sql::read_event, params_of(number(id))}, {sql::event_log, params_of(number(id))}});
  if (!rows) return rows.error();
  auto event = take_event(rows->at(0));
  if (!event) return event.error();
  if (!*event) return std::optional<Details>();
  auto entries = read_log(rows->at(1));
  if (!entries) return entries.error();
  return std::optional(Details{std::move(**event), std::move(*entries)});
}

Result<std::optional<QueueDocument>> PostgresReader::queue(const std::string& id, std::size_t events) {
  std::vector<StatementCall> calls;
  read_records(calls, {id});
  for (const std::string_view sql : {sql::first_events, sql::first_logs}) {
    calls.push_back({sql, params_of(id, events, kClaimBytes)});
  }
  const auto rows = at_one_moment(std::move(calls));
  if (!rows) return rows.error();
  auto records = take_records(std::span(*rows).first(kRecordCalls));
  if (!records) return records.error();
  if (records->empty()) return std::optional<QueueDocument>();
  auto found = take_details(rows->at(kRecordCalls), rows->at(kRecordCalls + 1));
  if (!found) return found.error();
  QueueDocument document = document_of(std::move(records->front()));
  document.events = std::move(*found);
  return std::optional(std::move(document));
}

Result<std::vector<QueueDocument>> PostgresReader::queues() {
  std::vector<StatementCall> calls;
  read_records(calls, {});
  const auto rows = at_one_moment(std::move(calls));
  if (!rows) return rows.error();
  auto records = take_records(*rows);
  if (!records) return records.error();
  std::vector<QueueDocument> documents;
  documents.reserve(records->size());
  for (QueueRecord& record : *records) documents.push_back(document_of(std::move(record)));
  return documents;
}

Result<std::vector<Checkpoint>> PostgresReader::checkpoints(const std::string& queue, std::size_t limit) {
  return all_rows(run_one(sql::read_checkpoints, params_of(queue, limit)), read_checkpoint<RowView>);
}

Result<std::optional<Recovery>> PostgresReader::recovery(const std::string& queue) {
  const auto rows = run_one(sql::read_recovery, params_of(queue));
  if (!rows) return rows.error();
  return rows->empty() ? std::nullopt : std::optional(read_recovery_row(RowView{*rows, 0}));
}

Result<std::vector<FailureGroup>> PostgresReader::failures(const std::optional<std::string>& queue,
                                                           std::size_t limit) {
  auto groups = all_rows(run_one(sql::read_failures, params_of(queue, limit)), read_failure_group<RowView>);
  if (!groups) return groups.error();
  std::vector<std::int64_t> ids;
  ids.reserve(groups->size());
  for (const FailureGroup& group : *groups) ids.push_back(number(group.last_event));
  LastErrors errors;
  if (const auto read = read_last_errors(ids, errors); !read) return read.error();
  for (FailureGroup& group : *groups) group.sample = std::move(errors[group.last_event]);
  return groups;
}

Result<std::vector<EventId>> PostgresReader::expired(const std::string& queue, Status status,
                                                     TimePoint before, std::size_t limit) {
  return all_rows(run_one(sql::expired, params_of(queue, name_of(status), millis(before), limit)),
                  read_id<RowView>);
}

Result<std::vector<ArchiveFile>> PostgresReader::archive_files() {
  return all_rows(run_one(sql::read_archive_files), read_archive_file<RowView>);
}

Result<std::vector<std::optional<EventId>>> PostgresReader::find(std::span<const std::string> event_ids) {
  const std::vector<std::string> names(event_ids.begin(), event_ids.end());
  const auto rows = run_one(sql::find_event, params_of(names));
  if (!rows) return rows.error();
  std::map<std::string_view, EventId> by_name;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    by_name.emplace(rows->text(row, 0), static_cast<EventId>(rows->number(row, 1)));
  }
  std::vector<std::optional<EventId>> found;
  found.reserve(names.size());
  for (const std::string& name : names) {
    const auto at = by_name.find(name);
    found.push_back(at == by_name.end() ? std::nullopt : std::optional(at->second));
  }
  return found;
}

Result<std::vector<QueueLogEntry>> PostgresReader::queue_log(const QueueLogFilter& filter) {
  return all_rows(run_one(sql::read_queue_log, params_of(filter.queue, log_end(filter), filter.limit)),
                  read_queue_log_entry<RowView>);
}

Result<Working> PostgresReader::working() {
  const auto rows = at_one_moment({{sql::read_workers, params_of(millis(TimePoint()))}, {sql::processing}});
  if (!rows) return rows.error();
  return take_working(rows->at(0), rows->at(1));
}

Result<std::int64_t> PostgresReader::holding(const std::string& worker_id, const std::string& queue) {
  const auto rows = run_one(sql::holding, params_of(worker_id, queue));
  if (!rows) return rows.error();
  return rows->number(0, 0);
}

Result<std::vector<std::int64_t>> PostgresReader::unattended(std::span<const AskedTags> queues) {
  std::vector<std::string> names, asked_tags;
  std::vector<std::int64_t> places;  // from 1
  for (const AskedTags& asked : queues) {
    names.push_back(asked.queue);
    places.insert(places.end(), asked.tags.size(), std::ssize(names));
    asked_tags.insert(asked_tags.end(), asked.tags.begin(), asked.tags.end());
  }
  return all_rows(
      run_one(sql::unattended, params_of(names, places, asked_tags, limits::kUnattended, kUnattendedScan)),
      [](const RowView& row) { return row.integer(0); });
}

}  // namespace eventq::postgres
