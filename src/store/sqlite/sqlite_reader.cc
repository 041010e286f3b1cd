// sqlite_reader.cc: see sqlite_reader.h.
#include "store/sqlite/sqlite_reader.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "eventq/limits.h"
#include "generated/sqlite_sql.h"
#include "model/lifecycle.h"
#include "model/names.h"
#include "model/page.h"
#include "model/tags.h"
#include "store/sqlite/rows.h"

namespace eventq::sqlite {
namespace {

// Rows read in one snapshot. Ending it lets the writer reuse the write-ahead log.
constexpr int kRowsPerSnapshot = 5000;

class SqliteReader final : public Reader {
 public:
  SqliteReader(SqliteConnection&& opened, const Clock& clock)
      : connection_(std::move(opened)), clock_(clock) {}

  [[nodiscard]] const Result<void>& prepared() const { return prepare_.result(); }

  Result<std::optional<Event>> get(EventId id) override {
    return at_one_moment([&] { return read_event_and_result(id); });
  }

  Result<std::vector<LogEntry>> log(EventId id) override { return read_log(event_log_, id); }

  Result<std::optional<Details>> details(EventId id) override {
    return at_one_moment([&] { return read_details(id); });
  }

  Result<EventPage> list(const ListFilter& filter) override {
    PageBuilder page(filter);
    if (page.has_stored_count()) {
      std::optional<std::string_view> status;
      if (filter.status) status = name_of(*filter.status);
      const auto count = number_from(read_count_.with(filter.queue, status));
      if (!count) return count.error();
      page.set_stored_count(*count);
    }
    const auto stopped = walk(page.walked(), [&](Event&& event) { return page.take(std::move(event)); });
    if (!stopped) return stopped.error();
    if (*stopped) page.stop(**stopped);
    EventPage listed = page.finish();
    if (const auto read = read_included(listed, filter.include); !read) return read.error();
    if (const auto read = read_last_errors(listed.events, listed.last_errors); !read) return read.error();
    return listed;
  }

  Result<std::optional<QueueDocument>> queue(const std::string& id, std::size_t events) override {
    return at_one_moment([&]() -> Result<std::optional<QueueDocument>> {
      auto records = read_records(read_queue_, read_counts_, read_totals_, id);
      if (!records) return records.error();
      if (records->empty()) return std::optional<QueueDocument>();
      // The events belong to the same snapshot as the counters, so both agree.
      auto found = first_events(id, events);
      if (!found) return found.error();
      QueueDocument document = document_of(std::move(records->front()));
      document.events = std::move(*found);
      return std::optional(std::move(document));
    });
  }

  Result<std::vector<QueueDocument>> queues() override {
    return at_one_moment([&]() -> Result<std::vector<QueueDocument>> {
      auto records = read_records(read_queue_, read_counts_, read_totals_, std::nullopt);
      if (!records) return records.error();
      std::vector<QueueDocument> documents;
      for (QueueRecord& record : *records) documents.push_back(document_of(std::move(record)));
      return documents;
    });
  }

  Result<std::vector<Checkpoint>> checkpoints(const std::string& queue, std::size_t limit) override {
    return all_rows(read_checkpoints_.with(queue, limit), read_checkpoint<Statement>);
  }

  Result<std::optional<Recovery>> recovery(const std::string& queue) override {
    return one_row(read_recovery_.with(queue), read_recovery_row<Statement>);
  }

  Result<std::optional<Correlation>> correlation(const std::string& id, EventId after,
                                                 std::size_t limit) override {
    return at_one_moment([&]() -> Result<std::optional<Correlation>> {
      const auto row = one_row(find_correlation_.with(id),
                               [&](const Statement& found) { return read_correlation(found, id, 0); });
      if (!row) return row.error();
      if (!*row) return std::optional<Correlation>();
      Correlation found{id, (*row)->total, (*row)->pending, (*row)->completed, (*row)->failed, {}};
      ListFilter filter;
      filter.correlation_id = id;
      filter.after = after;
      // This walk reads at most `limit` rows, because every row of list_correlation.sql matches. So the
      // snapshot that it shares with the counters ends soon.
      auto walked = walk(filter, [&](Event&& event) {
        if (found.events.size() < limit) found.events.push_back(std::move(event));
        return found.events.size() < limit;
      });
      if (!walked) return walked.error();
      if (const auto read = read_last_errors(found.events, found.last_errors); !read) return read.error();
      if (const auto read = read_results(found); !read) return read.error();
      return std::optional(std::move(found));
    });
  }

  Result<std::vector<FailureGroup>> failures(const std::optional<std::string>& queue,
                                             std::size_t limit) override {
    return at_one_moment([&]() -> Result<std::vector<FailureGroup>> {
      auto groups = all_rows(read_failures_.with(queue, limit), read_failure_group<Statement>);
      if (!groups) return groups.error();
      for (FailureGroup& group : *groups) {
        auto error = read_last_error(group.last_event);
        if (!error) return error.error();
        group.sample = std::move(*error).value_or("");
      }
      return groups;
    });
  }

  Result<std::vector<EventId>> expired(const std::string& queue, Status status, TimePoint before,
                                       std::size_t limit) override {
    return all_rows(expired_.with(queue, name_of(status), millis(before), limit), read_id<Statement>);
  }

  Result<std::vector<ArchiveFile>> archive_files() override {
    return all_rows(read_archive_files_.reset(), read_archive_file<Statement>);
  }

  Result<std::vector<std::optional<EventId>>> find(std::span<const std::string> event_ids) override {
    std::vector<std::optional<EventId>> found;
    found.reserve(event_ids.size());
    for (const std::string& event_id : event_ids) {
      auto id = one_row(find_event_.with(event_id), read_id<Statement>);
      if (!id) return id.error();
      found.push_back(*id);
    }
    return found;
  }

  Result<std::vector<QueueLogEntry>> queue_log(const QueueLogFilter& filter) override {
    return all_rows(read_queue_log_.with(filter.queue, log_end(filter), filter.limit),
                    read_queue_log_entry<Statement>);
  }

  Result<WorkerLogPage> worker_log(const WorkerLogFilter& filter) override {
    WorkerLogPage page;
    const TimePoint end = clock_.now() + limits::kScan;
    LogCursor last = filter.before.value_or(kLogEnd);
    for (;;) {
      const auto rows = read_worker_log(filter, last, page);
      if (!rows) return rows.error();
      if (page.next || *rows < kRowsPerSnapshot) return page;
      if (clock_.now() < end) continue;
      page.next = last;
      page.complete = false;
      return page;
    }
  }

  Result<Working> working() override {
    return at_one_moment([&]() -> Result<Working> {
      auto workers = all_rows(read_workers_.reset(), read_worker<Statement>);
      if (!workers) return workers.error();
      // All events of processing.sql are live, because both statements read the same snapshot.
      auto processing = all_rows(processing_.reset(), [&](const Statement& row) -> Result<Stored> {
        const auto loaded = load_live_.with(row.integer(0)).step();
        if (!loaded) return loaded.error();
        auto stored = read_event(load_live_, Transaction::EventFields::state);
        load_live_.reset();
        return stored;
      });
      if (!processing) return processing.error();
      return Working{std::move(*workers), std::move(*processing)};
    });
  }

  Result<std::int64_t> holding(const std::string& worker_id, const std::string& queue) override {
    return number_from(holding_.with(worker_id, queue));
  }

  Result<std::vector<std::int64_t>> unattended(std::span<const AskedTags> queues) override {
    std::vector<std::int64_t> counts;
    for (const AskedTags& asked : queues) {
      const auto count = at_one_moment([&] { return count_unattended(asked); });
      if (!count) return count.error();
      counts.push_back(*count);
    }
    return counts;
  }

 private:
  static Result<Stored> read_whole(const Statement& row) {
    return read_event(row, Transaction::EventFields::all);
  }

  // Goes from tag to tag, and through the events of the tags that no worker asks for.
  Result<std::int64_t> count_unattended(const AskedTags& asked) {
    const auto is_asked = [&](const std::string& tag) { return std::ranges::binary_search(asked.tags, tag); };
    std::int64_t count = 0;
    std::string tag;
    for (std::size_t left = kUnattendedScan; left > 0; --left) {
      const auto next = one_row(next_ready_tag_.with(asked.queue, tag),
                                [](const Statement& row) { return std::string(row.text(0)); });
      if (!next) return next.error();
      if (!*next) break;
      tag = **next;
      if (is_asked(tag)) continue;
      const auto events = all_rows(ready_tags_.with(asked.queue, tag, left),
                                   [](const Statement& row) { return split_tags(row.text(0)); });
      if (!events) return events.error();
      for (const std::vector<std::string>& tags : *events) {
        // An event with several tags is counted with the first of them only.
        const bool first = *std::ranges::min_element(tags) == tag;
        if (first && std::ranges::none_of(tags, is_asked)) ++count;
        if (count == static_cast<std::int64_t>(limits::kUnattended)) return count;
      }
      left -= std::min(left - 1, events->size());
    }
    return count;
  }

  // The first column of the only row, such as a count.
  static Result<std::int64_t> number_from(Statement& statement) {
    const auto found = one_row(statement, [](const Statement& row) { return row.integer(0); });
    if (!found) return found.error();
    return found->value_or(0);
  }

  // Runs `read` in one read transaction, so that its statements see the same snapshot.
  template <typename Read>
  auto at_one_moment(const Read& read) -> decltype(read()) {
    if (const auto begun = begin_.execute(); !begun) return begun.error();
    auto result = read();
    // The commit only ends the snapshot, because `read` wrote nothing.
    if (const auto ended = commit_.execute(); !ended) return ended.error();
    return result;
  }

  // An event is in one of two tables, so the caller must be in at_one_moment().
  Result<std::optional<Event>> read_event_and_result(EventId id) {
    for (Statement* statement : {&load_live_, &load_archived_}) {
      auto stored = one_row(statement->with(number(id)), read_whole);
      if (!stored) return stored.error();
      if (!*stored) continue;
      Event& event = (*stored)->event;
      auto result = read_result(event);
      if (!result) return result.error();
      event.result = std::move(*result);
      return std::optional(std::move(event));
    }
    return std::optional<Event>();
  }

  Result<std::string> read_result(const Event& event) {
    if (!may_have_result(event)) return std::string();
    auto result = one_row(read_result_.with(number(event.id)),
                          [](const Statement& row) { return std::string(row.text(0)); });
    if (!result) return result.error();
    return std::move(*result).value_or("");
  }

  // Reads results until they have kClaimBytes.
  Result<void> read_results(Correlation& found) {
    std::size_t bytes = 0;
    for (Event& event : found.events) {
      auto result = read_result(event);
      if (!result) return result.error();
      if (bytes >= kClaimBytes && !result->empty()) {
        found.left_out.insert(event.id);
        continue;
      }
      bytes += result->size();
      event.result = std::move(*result);
    }
    return {};
  }

  Result<std::optional<Details>> read_details(EventId id) {
    auto event = read_event_and_result(id);
    if (!event) return event.error();
    if (!*event) return std::optional<Details>();
    auto entries = log(id);
    if (!entries) return entries.error();
    return std::optional(Details{std::move(**event), std::move(*entries)});
  }

  // Reads the ids first and then event by event, so that only kClaimBytes of payloads are in memory.
  Result<std::vector<Details>> first_events(const std::string& queue, std::size_t events) {
    std::vector<EventId> ids;
    const IdRange all = range_of({});
    list_queue_.with(number(all.after), number(all.before), queue);
    while (ids.size() < events) {
      const auto row = list_queue_.step();
      if (!row) return row.error();
      if (!*row) break;
      ids.push_back(read_id(list_queue_));
    }
    list_queue_.reset();
    std::vector<Details> found;
    std::size_t bytes = 0;
    for (const EventId id : ids) {
      auto details = read_details(id);
      if (!details) return details.error();
      if (!*details) continue;
      bytes += (*details)->event.payload.size();
      for (LogEntry& entry : (*details)->log) entry.error_detail.clear();
      found.push_back(std::move(**details));
      if (bytes >= kClaimBytes) break;
    }
    return found;
  }

  // Adds the entries of the worker among the next kRowsPerSnapshot entries before `last`, and moves `last` to
  // the last one read. Returns how many were read. Sets page.next when the page is full.
  Result<int> read_worker_log(const WorkerLogFilter& filter, LogCursor& last, WorkerLogPage& page) {
    worker_log_.with(number(last.event), static_cast<std::int64_t>(last.entry));
    int rows = 0;
    while (rows < kRowsPerSnapshot && !page.next) {
      const auto row = worker_log_.step();
      if (!row) return row.error();
      if (!*row) break;
      ++rows;
      last = {EventId{worker_log_.integer(1)}, LogId{worker_log_.integer(0)}};
      if (worker_log_.text(3) != filter.worker_id) continue;
      auto entry = read_entry_row(worker_log_);
      if (!entry) return entry.error();
      page.entries.push_back(std::move(*entry));
      if (page.entries.size() == filter.limit) page.next = last;
    }
    worker_log_.reset();
    return rows;
  }

  Result<std::optional<std::string>> read_last_error(EventId id) {
    return one_row(last_error_.with(number(id)),
                   [](const Statement& row) { return std::string(row.text(0)); });
  }

  Result<void> read_last_errors(const std::vector<Event>& events, LastErrors& errors) {
    for (const Event& event : events) {
      auto error = last_error(event);
      if (!error) return error.error();
      if (*error) errors.emplace(event.id, std::move(**error));
    }
    return {};
  }

  // The message of the last failure; empty: there is none.
  Result<std::optional<std::string>> last_error(const Event& event) {
    if (!may_have_failed(event)) return std::optional<std::string>();
    return read_last_error(event.id);
  }

  // Adds what the filter includes, event by event, so that little more than kClaimBytes are in memory. Leaves
  // out events that retention removed since the list was read.
  Result<void> read_included(EventPage& page, const ListIncludes& include) {
    if (!include.any()) return {};
    std::set<EventId> removed;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < page.events.size(); ++i) {
      if (bytes >= kClaimBytes) {
        end_page_behind(page, i);
        break;
      }
      Event& event = page.events[i];
      if (include.payload) {
        const auto found = read_content(event);
        if (!found) return found.error();
        if (!*found) removed.insert(event.id);
      }
      if (include.result) {
        auto result = read_result(event);
        if (!result) return result.error();
        event.result = std::move(*result);
      }
      if (include.logs) {
        auto entries = log(event.id);
        if (!entries) return entries.error();
        page.logs.emplace(event.id, std::move(*entries));
      }
      bytes += included_bytes(page, event);
    }
    drop_removed(page, removed);
    return {};
  }

  // Returns false if the event does not exist anymore.
  Result<bool> read_content(Event& event) {
    const auto found = one_row(read_content_.with(number(event.id)), [&](const Statement& row) {
      event.description = row.optional_text(0);
      event.payload = row.text(1);
      return true;
    });
    if (!found) return found.error();
    return found->has_value();
  }

  // The statement whose index fits the filter best. Ended events other than completed ones are rare, so a
  // list of them has an index of its own.
  Statement& list_statement(const ListFilter& filter, const IdRange& range) {
    const bool up = filter.order == ListOrder::ascending;
    const auto in_range = [&](Statement& ascending, Statement& descending, const auto&... key) -> Statement& {
      return (up ? ascending : descending).with(number(range.after), number(range.before), key...);
    };
    if (filter.event_id) return in_range(list_event_id_, list_event_id_, *filter.event_id);
    if (filter.correlation_id) {
      return in_range(list_correlation_, list_correlation_down_, *filter.correlation_id);
    }
    if (!filter.status) return in_range(list_all_, list_all_down_);
    if (!has_ended(*filter.status)) {
      return filter.queue ? in_range(list_queue_, list_queue_down_, *filter.queue)
                          : in_range(list_live_, list_live_down_);
    }
    if (*filter.status == Status::completed) return in_range(list_archived_, list_archived_down_);
    return in_range(list_rare_, list_rare_down_, name_of(*filter.status));
  }

  // The ids that a list has to read.
  Result<IdRange> walked_range(const ListFilter& filter) {
    IdRange range = range_of(filter);
    if (!is_list_by_time(filter)) return range;
    if (filter.since) {
      const auto around = created_around(with_disorder_before(*filter.since));
      if (!around) return around.error();
      range.after = std::max(range.after, around->after);
    }
    if (filter.until) {
      const auto around = created_around(with_disorder_after(*filter.until));
      if (!around) return around.error();
      range.before = std::min(range.before, around->before);
    }
    return range;
  }

  Result<IdRange> created_around(TimePoint time) {
    const auto found =
        one_row(created_around_.with(millis(time), limits::kEventId + 1), [](const Statement& row) {
          return IdRange{EventId{row.integer(0)}, EventId{row.integer(1)}};
        });
    if (!found) return found.error();
    return **found;
  }

  Result<bool> is_match(const Event& event, const ListFilter& filter) {
    if (!matches(event, filter)) return false;
    if (filter.error) {
      const auto error = last_error(event);
      if (!error) return error.error();
      if (!matches_error(error->value_or(""), filter)) return false;
    }
    const PickedBy picked = filter.worker_id ? picked_by(event, *filter.worker_id) : PickedBy::yes;
    if (picked != PickedBy::see_log) return picked == PickedBy::yes;
    const auto found = number_from(picked_by_.with(number(event.id), *filter.worker_id));
    if (!found) return found.error();
    return *found != 0;
  }

  // Calls `take` with each matching event, in the order of the filter, until `take` returns false. In
  // at_one_moment() all rows come from its snapshot. Returns the last event read if the time limit, which a
  // list that scans() has, ended the walk.
  Result<std::optional<EventId>> walk(const ListFilter& filter, const std::function<bool(Event&&)>& take) {
    auto range = walked_range(filter);
    if (!range) return range.error();
    const TimePoint end = clock_.now() + limits::kScan;
    EventId last{};
    for (;;) {
      Statement& statement = list_statement(filter, *range);
      // A long list takes several snapshots: list_statement() resets the statement, which ends one, and
      // `range` makes the next one continue behind the last event.
      for (int rows = 0; rows < kRowsPerSnapshot; ++rows) {
        const auto row = statement.step();
        if (!row) return row.error();
        if (!*row) return std::optional<EventId>();
        auto stored = read_whole(statement);
        if (!stored) return ended(statement, stored.error());
        last = stored->event.id;
        const auto match = is_match(stored->event, filter);
        if (!match) return ended(statement, match.error());
        if (*match && !take(std::move(stored->event))) return ended(statement, std::optional<EventId>());
      }
      range->skip(filter.order, last);
      if (filter.scans() && clock_.now() >= end) return ended(statement, std::optional(last));
    }
  }

  // Ends the snapshot of a walk.
  static Result<std::optional<EventId>> ended(Statement& statement, Result<std::optional<EventId>> result) {
    statement.reset();
    return result;
  }

  SqliteConnection connection_;
  const Clock& clock_;
  Preparer prepare_{connection_};
  Statement load_live_ = prepare_(sql::load_live);
  Statement load_archived_ = prepare_(sql::load_archived);
  Statement event_log_ = prepare_(sql::event_log);
  Statement read_result_ = prepare_(sql::read_result);
  Statement last_error_ = prepare_(sql::last_error);
  Statement worker_log_ = prepare_(sql::worker_log);
  Statement picked_by_ = prepare_(sql::picked_by);
  Statement list_all_ = prepare_(sql::list_all);
  Statement list_all_down_ = prepare_(sql::list_all_down);
  Statement list_live_ = prepare_(sql::list_live);
  Statement list_live_down_ = prepare_(sql::list_live_down);
  Statement list_archived_ = prepare_(sql::list_archived);
  Statement list_archived_down_ = prepare_(sql::list_archived_down);
  Statement list_rare_ = prepare_(sql::list_rare);
  Statement list_rare_down_ = prepare_(sql::list_rare_down);
  Statement created_around_ = prepare_(sql::created_around);
  Statement read_content_ = prepare_(sql::read_content);
  Statement read_count_ = prepare_(sql::read_count);
  Statement begin_ = prepare_(sql::begin_read);
  Statement commit_ = prepare_(sql::commit);
  Statement list_queue_ = prepare_(sql::list_queue);
  Statement list_queue_down_ = prepare_(sql::list_queue_down);
  Statement list_correlation_ = prepare_(sql::list_correlation);
  Statement list_correlation_down_ = prepare_(sql::list_correlation_down);
  Statement list_event_id_ = prepare_(sql::list_event_id);
  Statement find_event_ = prepare_(sql::find_event);
  Statement read_queue_ = prepare_(sql::read_queue);
  Statement read_counts_ = prepare_(sql::read_counts);
  Statement read_totals_ = prepare_(sql::read_totals);
  Statement read_checkpoints_ = prepare_(sql::read_checkpoints);
  Statement read_recovery_ = prepare_(sql::read_recovery);
  Statement read_queue_log_ = prepare_(sql::read_queue_log);
  Statement find_correlation_ = prepare_(sql::find_correlation);
  Statement read_failures_ = prepare_(sql::read_failures);
  Statement expired_ = prepare_(sql::expired);
  Statement read_archive_files_ = prepare_(sql::read_archive_files);
  Statement read_workers_ = prepare_(sql::read_workers);
  Statement processing_ = prepare_(sql::processing);
  Statement holding_ = prepare_(sql::holding);
  Statement next_ready_tag_ = prepare_(sql::next_ready_tag);
  Statement ready_tags_ = prepare_(sql::ready_tags);
};

}  // namespace

Result<std::unique_ptr<Reader>> open_reader(const std::string& path, const Clock& clock) {
  auto connection = SqliteConnection::open(path, SqliteConnection::OpenMode::read);
  if (!connection) return connection.error();
  if (auto done = connection->run(sql::open_reader); !done) return done.error();
  auto reader = std::make_unique<SqliteReader>(std::move(*connection), clock);
  if (auto done = reader->prepared(); !done) return done.error();
  return std::unique_ptr<Reader>(std::move(reader));
}

}  // namespace eventq::sqlite
