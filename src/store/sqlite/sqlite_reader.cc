// sqlite_reader.cc: see sqlite_reader.h.
#include "store/sqlite/sqlite_reader.h"

#include <algorithm>
#include <utility>

#include "generated/sqlite_sql.h"
#include "model/names.h"
#include "model/tags.h"
#include "store/sqlite/rows.h"

namespace eventq::sqlite {
namespace {

// Rows read in one snapshot. Ending it lets the writer reuse the write-ahead log.
constexpr int kRowsPerSnapshot = 5000;

bool matches(const Event& event, const ListFilter& filter) {
  return (!filter.status || event.status == *filter.status) &&
         (!filter.queue || event.queue == *filter.queue) &&
         (!filter.worker_id || event.worker_id == *filter.worker_id) &&
         (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
         has_any(event.tags, filter.tags);
}

// The counters exist per queue and status only.
bool has_kept_count(const ListFilter& filter) {
  return filter.tags.empty() && !filter.worker_id && !filter.correlation_id;
}

}  // namespace

Result<std::unique_ptr<Reader>> SqliteReader::open(const std::string& path) {
  auto connection = SqliteConnection::open(path, SqliteConnection::OpenMode::read);
  if (!connection) return connection.error();
  auto reader = std::make_unique<SqliteReader>(std::move(*connection));
  if (auto done = reader->connection_.run(sql::open_reader); !done) return done.error();
  const std::pair<Statement*, std::string_view> statements[] = {
      {&reader->load_live_, sql::load_live},
      {&reader->load_archived_, sql::load_archived},
      {&reader->event_log_, sql::event_log},
      {&reader->list_all_, sql::list_all},
      {&reader->list_live_, sql::list_live},
      {&reader->list_archived_, sql::list_archived},
      {&reader->list_rare_, sql::list_rare},
      {&reader->read_count_, sql::read_count},
      {&reader->begin_, sql::begin_read},
      {&reader->commit_, sql::commit},
      {&reader->list_queue_, sql::list_queue},
      {&reader->list_correlation_, sql::list_correlation},
      {&reader->read_queue_, sql::read_queue},
      {&reader->read_counts_, sql::read_counts},
      {&reader->read_totals_, sql::read_totals},
      {&reader->read_checkpoints_, sql::read_checkpoints},
      {&reader->read_recovery_, sql::read_recovery},
      {&reader->find_correlation_, sql::find_correlation},
      {&reader->read_failures_, sql::read_failures},
      {&reader->expired_, sql::expired},
      {&reader->read_archive_files_, sql::read_archive_files},
      {&reader->read_workers_, sql::read_workers},
      {&reader->processing_, sql::processing},
      {&reader->holding_, sql::holding},
  };
  for (const auto& [statement, text] : statements) {
    auto prepared = Statement::prepare(reader->connection_, text);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return std::unique_ptr<Reader>(std::move(reader));
}

Result<std::optional<Event>> SqliteReader::get(EventId id) {
  // Each statement has its own snapshot. An event that ends between the first two is found in the archive;
  // one that is also reset between the last two is found by the third.
  for (Statement* statement : {&load_live_, &load_archived_, &load_live_}) {
    const auto row = statement->reset().bind(number(id)).step();
    if (!row) return row.error();
    if (!*row) continue;
    auto stored = read_event(*statement, Transaction::EventFields::all);
    statement->reset();
    if (!stored) return stored.error();
    return std::optional(std::move(stored->event));
  }
  return std::optional<Event>();
}

Result<std::vector<LogEntry>> SqliteReader::log(EventId id) { return read_log(event_log_, id); }

template <typename T>
Result<T> SqliteReader::at_one_moment(const std::function<Result<T>()>& read) {
  if (const auto begun = begin_.reset().run(); !begun) return begun.error();
  auto result = read();
  // The commit only ends the snapshot, because `read` wrote nothing.
  if (const auto ended = commit_.reset().run(); !ended) return ended.error();
  return result;
}

Result<std::optional<Details>> SqliteReader::details(EventId id) {
  return at_one_moment<std::optional<Details>>([&]() -> Result<std::optional<Details>> {
    auto event = get(id);
    if (!event) return event.error();
    if (!*event) return std::optional<Details>();
    auto entries = log(id);
    if (!entries) return entries.error();
    return std::optional(Details{std::move(**event), std::move(*entries)});
  });
}

Statement& SqliteReader::list_statement(const ListFilter& filter) {
  if (filter.correlation_id) return list_correlation_;
  if (!filter.status) return list_all_;
  if (!has_ended(*filter.status)) return filter.queue ? list_queue_ : list_live_;
  return *filter.status == Status::completed ? list_archived_ : list_rare_;
}

void SqliteReader::bind_list(Statement& statement, const ListFilter& filter, EventId after) {
  statement.reset().bind(number(after));
  if (&statement == &list_rare_) statement.bind(name_of(*filter.status));
  if (&statement == &list_queue_) statement.bind(std::string_view(*filter.queue));
  if (&statement == &list_correlation_) statement.bind(std::string_view(*filter.correlation_id));
}

Result<void> SqliteReader::walk(const ListFilter& filter, const std::function<bool(Event&&)>& take) {
  Statement& statement = list_statement(filter);
  EventId after = filter.after;
  for (;;) {
    bind_list(statement, filter, after);
    for (int rows = 0;; ++rows) {
      if (rows == kRowsPerSnapshot) break;  // bind_list() resets the statement, which ends the snapshot
      const auto row = statement.step();
      if (!row) return row.error();
      if (!*row) return {};
      auto stored = read_event(statement, Transaction::EventFields::all);
      if (!stored) {
        statement.reset();
        return stored.error();
      }
      after = stored->event.id;
      if (matches(stored->event, filter) && !take(std::move(stored->event))) {
        statement.reset();
        return {};
      }
    }
  }
}

Result<std::int64_t> SqliteReader::kept_count(const ListFilter& filter) {
  std::optional<std::string_view> status;
  if (filter.status) status = name_of(*filter.status);
  const auto row = read_count_.reset().bind(filter.queue).bind(status).step();
  if (!row) return row.error();
  const std::int64_t count = read_count_.integer(0);
  read_count_.reset();
  return count;
}

Result<EventPage> SqliteReader::list(const ListFilter& filter) {
  EventPage page;
  const bool kept = has_kept_count(filter);
  if (kept) {
    const auto count = kept_count(filter);
    if (!count) return count.error();
    page.total = *count;
  }

  // Without a counter, the total is counted from the first id, because it ignores `after` and `offset`.
  ListFilter all = filter;
  if (!kept) all.after = EventId{};
  std::int64_t matched = 0;
  std::int64_t skipped = 0;
  const auto walked = walk(all, [&](Event&& event) {
    ++matched;
    const bool behind = event.id > filter.after;
    if (behind && skipped < filter.offset) {
      ++skipped;
    } else if (behind && page.events.size() < filter.limit) {
      page.events.push_back(std::move(event));
    }
    const bool full = page.events.size() == filter.limit;
    return !(full && (kept || matched >= kCountedMax));
  });
  if (!walked) return walked.error();
  if (!kept) {
    page.total = matched;
    page.total_exact = matched < kCountedMax;
  }
  return page;
}

// The documents of one queue, or of all, without events.
Result<std::vector<QueueDocument>> SqliteReader::read_queues(std::optional<std::string_view> id) {
  std::vector<QueueDocument> documents;
  read_queue_.reset().bind(id);
  for (;;) {
    const auto row = read_queue_.step();
    if (!row) return row.error();
    if (!*row) break;
    auto queue = read_queue_row(read_queue_);
    if (!queue) return queue.error();
    documents.push_back(
        {.row = std::move(*queue), .counts = {}, .totals = {}, .checkpoint_id = {}, .events = {}});
  }
  for (QueueDocument& document : documents) {
    auto counts = counts_of(read_counts_, document.row.id);
    if (!counts) return counts.error();
    auto totals = totals_of(read_totals_, document.row.id);
    if (!totals) return totals.error();
    document.counts = *counts;
    document.totals = totals->first;
    document.checkpoint_id = std::move(totals->second);
  }
  return documents;
}

Result<std::vector<Details>> SqliteReader::first_events(const std::string& queue, std::size_t events) {
  std::vector<EventId> ids;
  list_queue_.reset().bind(std::int64_t{0}).bind(std::string_view(queue));
  while (ids.size() < events) {
    const auto row = list_queue_.step();
    if (!row) return row.error();
    if (!*row) break;
    ids.push_back(static_cast<EventId>(list_queue_.integer(0)));
  }
  list_queue_.reset();
  std::vector<Details> found;
  std::size_t bytes = 0;
  for (const EventId id : ids) {
    auto event = get(id);
    if (!event) return event.error();
    if (!*event) continue;
    auto entries = log(id);
    if (!entries) return entries.error();
    bytes += (*event)->payload.size();
    found.push_back({std::move(**event), std::move(*entries)});
    if (bytes >= kClaimBytes) break;
  }
  return found;
}

Result<std::optional<QueueDocument>> SqliteReader::queue(const std::string& id, std::size_t events) {
  return at_one_moment<std::optional<QueueDocument>>([&]() -> Result<std::optional<QueueDocument>> {
    auto documents = read_queues(id);
    if (!documents) return documents.error();
    if (documents->empty()) return std::optional<QueueDocument>();
    auto found = first_events(id, events);
    if (!found) return found.error();
    documents->front().events = std::move(*found);
    return std::optional(std::move(documents->front()));
  });
}

Result<std::vector<QueueDocument>> SqliteReader::queues() {
  return at_one_moment<std::vector<QueueDocument>>([&] { return read_queues(std::nullopt); });
}

Result<std::vector<Checkpoint>> SqliteReader::checkpoints(const std::string& queue, std::size_t limit) {
  std::vector<Checkpoint> found;
  read_checkpoints_.reset().bind(std::string_view(queue)).bind(static_cast<std::int64_t>(limit));
  for (;;) {
    const auto row = read_checkpoints_.step();
    if (!row) return row.error();
    if (!*row) return found;
    found.push_back(read_checkpoint(read_checkpoints_));
  }
}

Result<std::optional<Recovery>> SqliteReader::recovery(const std::string& queue) {
  Statement& row = read_recovery_;
  const auto there = row.reset().bind(std::string_view(queue)).step();
  if (!there) return there.error();
  if (!*there) return std::optional<Recovery>();
  Recovery found{.id = std::string(row.text(1)),
                 .queue = std::string(row.text(0)),
                 .checkpoint_id = std::string(row.text(2)),
                 .events_recovered = row.integer(3),
                 .started_at = time_point(row.integer(4)),
                 .completed_at = time_point(row.integer(5)),
                 .status = std::string(row.text(6))};
  row.reset();
  return std::optional(std::move(found));
}

Result<std::optional<Correlation>> SqliteReader::correlation(const std::string& id, EventId after,
                                                             std::size_t limit) {
  return at_one_moment<std::optional<Correlation>>([&]() -> Result<std::optional<Correlation>> {
    const auto row = find_correlation_.reset().bind(std::string_view(id)).step();
    if (!row) return row.error();
    if (!*row) return std::optional<Correlation>();
    Correlation found{.id = id,
                      .total = find_correlation_.integer(0),
                      .pending = find_correlation_.integer(1),
                      .completed = find_correlation_.integer(2),
                      .failed = find_correlation_.integer(3),
                      .events = {}};
    find_correlation_.reset();
    ListFilter filter;
    filter.correlation_id = id;
    filter.after = after;
    auto walked = walk(filter, [&](Event&& event) {
      if (found.events.size() < limit) found.events.push_back(std::move(event));
      return found.events.size() < limit;
    });
    if (!walked) return walked.error();
    return std::optional(std::move(found));
  });
}

Result<std::vector<FailureGroup>> SqliteReader::failures(const std::optional<std::string>& queue,
                                                         std::size_t limit) {
  std::vector<FailureGroup> found;
  Statement& row = read_failures_;
  std::optional<std::string_view> name;
  if (queue) name = *queue;
  row.reset().bind(name).bind(static_cast<std::int64_t>(limit));
  for (;;) {
    const auto there = row.step();
    if (!there) return there.error();
    if (!*there) return found;
    found.push_back({std::string(row.text(0)), std::string(row.text(1)), row.integer(2),
                     time_point(row.integer(3)), time_point(row.integer(4)),
                     static_cast<EventId>(row.integer(5))});
  }
}

Result<std::vector<EventId>> SqliteReader::expired(const std::string& queue, Status status, TimePoint before,
                                                   std::size_t limit) {
  std::vector<EventId> found;
  expired_.reset()
      .bind(std::string_view(queue))
      .bind(name_of(status))
      .bind(millis(before))
      .bind(static_cast<std::int64_t>(limit));
  for (;;) {
    const auto row = expired_.step();
    if (!row) return row.error();
    if (!*row) return found;
    found.push_back(static_cast<EventId>(expired_.integer(0)));
  }
}

Result<std::vector<ArchiveFile>> SqliteReader::archive_files() {
  std::vector<ArchiveFile> found;
  read_archive_files_.reset();
  for (;;) {
    const auto row = read_archive_files_.step();
    if (!row) return row.error();
    if (!*row) return found;
    found.push_back({std::string(read_archive_files_.text(0)), read_archive_files_.integer(1)});
  }
}

Result<Working> SqliteReader::working() {
  return at_one_moment<Working>([&]() -> Result<Working> {
    Working working;
    for (read_workers_.reset();;) {
      const auto row = read_workers_.step();
      if (!row) return row.error();
      if (!*row) break;
      working.workers.push_back(read_worker(read_workers_));
    }
    for (processing_.reset();;) {
      const auto row = processing_.step();
      if (!row) return row.error();
      if (!*row) return working;
      const std::int64_t id = processing_.integer(0);
      if (const auto loaded = load_live_.reset().bind(id).step(); !loaded) return loaded.error();
      auto stored = read_event(load_live_, Transaction::EventFields::state);
      load_live_.reset();
      if (!stored) return stored.error();
      working.processing.push_back(std::move(*stored));
    }
  });
}

Result<std::int64_t> SqliteReader::holding(const std::string& worker_id, const std::string& queue) {
  const auto row = holding_.reset().bind(std::string_view(worker_id)).bind(std::string_view(queue)).step();
  if (!row) return row.error();
  const std::int64_t held = holding_.integer(0);
  holding_.reset();
  return held;
}

}  // namespace eventq::sqlite
