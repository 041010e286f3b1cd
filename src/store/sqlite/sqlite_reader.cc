// sqlite_reader.cc: see sqlite_reader.h.
#include "store/sqlite/sqlite_reader.h"

#include <algorithm>
#include <utility>

#include "generated/sqlite_sql.h"
#include "model/names.h"
#include "store/sqlite/rows.h"

namespace eventq::sqlite {
namespace {

// Rows read under one snapshot before it is let go, so that the writer can reuse its log.
constexpr int kRowsPerSnapshot = 5000;

bool shares_tag(const std::vector<std::string>& tags, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  });
}

bool matches(const Event& event, const ListFilter& filter) {
  return (!filter.status || event.status == *filter.status) &&
         (!filter.queue || event.queue == *filter.queue) &&
         (!filter.worker_id || event.worker_id == *filter.worker_id) &&
         (!filter.correlation_id || event.correlation_id == *filter.correlation_id) &&
         (filter.tags.empty() || shares_tag(event.tags, filter.tags));
}

// The counters know queues and statuses, nothing else.
bool has_kept_count(const ListFilter& filter) {
  return filter.tags.empty() && !filter.worker_id && !filter.correlation_id;
}

}  // namespace

Result<std::unique_ptr<Reader>> SqliteReader::open(const std::string& path) {
  auto connection = Connection::open(path, Connection::Mode::read);
  if (!connection) return connection.error();
  auto reader = std::make_unique<SqliteReader>(std::move(*connection));
  if (auto done = reader->connection_.run(sql::open_reader); !done) return done.error();
  const std::pair<Statement*, std::string_view> statements[] = {
      {&reader->load_live_, sql::load_live}, {&reader->load_archived_, sql::load_archived},
      {&reader->event_log_, sql::event_log}, {&reader->list_all_, sql::list_all},
      {&reader->list_live_, sql::list_live}, {&reader->list_archived_, sql::list_archived},
      {&reader->list_rare_, sql::list_rare}, {&reader->read_count_, sql::read_count},
  };
  for (const auto& [statement, text] : statements) {
    auto prepared = Statement::prepare(reader->connection_, text);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return std::unique_ptr<Reader>(std::move(reader));
}

Result<std::optional<Event>> SqliteReader::get(EventId id) {
  // An event that ends between the two looks is in the archive by the second one; one
  // that is reset in between is live again, hence the third.
  for (Statement* statement : {&load_live_, &load_archived_, &load_live_}) {
    const auto row = statement->reset().bind(number(id)).step();
    if (!row) return row.error();
    if (!*row) continue;
    auto stored = read_event(*statement, Transaction::Part::whole);
    statement->reset();
    if (!stored) return stored.error();
    return std::optional(std::move(stored->event));
  }
  return std::optional<Event>();
}

Result<std::vector<LogEntry>> SqliteReader::log(EventId id) { return read_log(event_log_, id); }

Statement& SqliteReader::list_statement(const ListFilter& filter) {
  if (!filter.status) return list_all_;
  if (!has_ended(*filter.status)) return list_live_;
  return *filter.status == Status::completed ? list_archived_ : list_rare_;
}

Result<void> SqliteReader::walk(const ListFilter& filter, const std::function<bool(Event&&)>& take) {
  Statement& statement = list_statement(filter);
  EventId after = filter.after;
  for (;;) {
    statement.reset().bind(number(after));
    if (&statement == &list_rare_) statement.bind(name_of(*filter.status));
    for (int rows = 0;; ++rows) {
      if (rows == kRowsPerSnapshot) break;
      const auto row = statement.step();
      if (!row) return row.error();
      if (!*row) return {};
      auto stored = read_event(statement, Transaction::Part::whole);
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

Result<Page> SqliteReader::list(const ListFilter& filter) {
  Page page;
  const bool kept = has_kept_count(filter);
  if (kept) {
    const auto count = kept_count(filter);
    if (!count) return count.error();
    page.total = *count;
  }

  // Counted from the first match on, before `after` and `offset` cut the list.
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

}  // namespace eventq::sqlite
