// audit.cc: see audit.h.
#include "tools/verify/audit.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "generated/sqlite_audit.h"
#include "generated/sqlite_sql.h"
#include "model/line_check.h"
#include "model/log_walk.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/read_only_open.h"

namespace eventq::sqlite {
namespace {

// Events between two calls of on_progress, so that the calls take no measurable time.
constexpr std::int64_t kProgressEvery = 4096;

// A statement that returns one row of text for each fault.
struct Rule {
  std::string_view sql;
  AuditCheck check;
};

// The faults that a query finds. Auditor::replay() and check_lines() find those that need the log in order.
constexpr std::array kRules = {
    Rule{audit_sql::integrity, AuditCheck::sound},
    Rule{audit_sql::one_state, AuditCheck::none_lost},
    Rule{audit_sql::state_without_body, AuditCheck::none_lost},
    Rule{audit_sql::ready_index, AuditCheck::counters_right},
    Rule{audit_sql::queue_of_state, AuditCheck::counters_right},
    Rule{audit_sql::ready_in_line, AuditCheck::order_kept},
    Rule{audit_sql::in_line, AuditCheck::order_kept},
    Rule{audit_sql::holds_line, AuditCheck::order_kept},
    Rule{audit_sql::supersede_keys, AuditCheck::counters_right},
    Rule{audit_sql::failure_causes, AuditCheck::counters_right},
    Rule{audit_sql::counted, AuditCheck::counters_right},
    Rule{audit_sql::not_counted, AuditCheck::counters_right},
    Rule{audit_sql::ids, AuditCheck::counters_right},
    Rule{audit_sql::log_without_event, AuditCheck::none_lost},
    Rule{audit_sql::author_without_entry, AuditCheck::none_lost},
    Rule{audit_sql::detail_without_entry, AuditCheck::none_lost},
    Rule{audit_sql::result_without_end, AuditCheck::none_lost},
    Rule{audit_sql::superseded_by, AuditCheck::none_lost},
    Rule{audit_sql::one_head, AuditCheck::order_kept},
    Rule{audit_sql::not_in_line, AuditCheck::order_kept},
    Rule{audit_sql::in_work_is_head, AuditCheck::order_kept},
    Rule{audit_sql::head_is_first, AuditCheck::order_kept},
    Rule{audit_sql::correlations, AuditCheck::counters_right},
    Rule{audit_sql::promised, AuditCheck::none_lost},
    Rule{audit_sql::lost, AuditCheck::none_lost},
    Rule{audit_sql::published, AuditCheck::counters_right},
    Rule{audit_sql::ends, AuditCheck::counters_right},
    Rule{audit_sql::queue_missing, AuditCheck::counters_right},
    Rule{audit_sql::checkpoint_without_queue, AuditCheck::counters_right},
};

// The columns of all_entries.sql and entries_of.sql, which are the same.
LogStep read_step(const Statement& row) {
  return {.action = std::string(row.text(4)),
          .attempt = static_cast<int>(row.integer(2)),
          .worker_id = std::string(row.text(3)),
          .retries = row.integer(5) != 0,
          .errors = row.integer(6) != 0,
          .id = row.integer(1)};
}

Result<SqliteConnection> open_file(const std::string& path) {
  auto connection = open_read_only(path);
  auto ours = connection ? check_current(*connection) : Result<void>(connection.error());
  if (ours) return connection;
  Error error = ours.error();
  // Errors of opening the file name the path already.
  if (error.code == ErrorCode::corrupt)
    error.message = path + " is no store of this eventq. " + error.message;
  if (error.code == ErrorCode::conflict) error.message = path + ": " + error.message;
  return error;
}

Result<void> each_fault(SqliteConnection& connection, const Rule& rule,
                        const std::function<void(std::string_view)>& on_fault) {
  auto statement = Statement::prepare(connection, rule.sql);
  if (!statement) return statement.error();
  for (;;) {
    const auto row = statement->step();
    if (!row) return row.error();
    if (!*row) return {};
    on_fault(statement->text(0));
  }
}

// One audit of one file.
class Auditor {
 public:
  Auditor(SqliteConnection& connection, const AuditOptions& options)
      : connection_(connection), options_(options) {}

  Result<AuditCounts> run() {
    // The transaction stays open until the connection closes, so that all steps see one snapshot.
    if (auto done = connection_.run(sql::begin_read); !done) return done.error();
    const auto all = read_number(connection_, audit_sql::how_many);
    if (!all) return all.error();
    all_ = *all;
    const auto removed = read_number(connection_, audit_sql::how_many_removed);
    if (!removed) return removed.error();
    counts_.removed = *removed;
    for (const auto step : {&Auditor::replay, &Auditor::check_lines}) {
      if (auto done = (this->*step)(); !done) return done.error();
    }
    for (const Rule& rule : kRules) {
      if (auto done = check(rule); !done) return done.error();
    }
    return counts_;
  }

 private:
  // Violations are passed on one by one, because a damaged store may have millions.
  void find(const Violation& violation) { options_.on_violation(violation); }

  Result<void> go_on(std::int64_t done) {
    if (!options_.on_progress || options_.on_progress(done, all_)) return {};
    return Error{ErrorCode::unavailable, "The audit was stopped before it had read the whole store.", ""};
  }

  // Both cursors are ordered by event id, so one pass joins each event with its log.
  Result<void> replay() {
    auto events = Statement::prepare(connection_, audit_sql::all_events);
    if (!events) return events.error();
    auto entries = Statement::prepare(connection_, audit_sql::all_entries);
    if (!entries) return entries.error();
    auto entry = entries->step();
    std::vector<LogStep> log;
    for (;;) {
      const auto event = events->step();
      if (!event) return event.error();
      if (!*event) return {};
      const std::int64_t id = events->integer(0);
      log.clear();
      while (entry && *entry && entries->integer(0) <= id) {
        // log_without_event.sql reports the entries of events that do not exist.
        if (entries->integer(0) == id) log.push_back(read_step(*entries));
        entry = entries->step();
      }
      if (!entry) return entry.error();
      judge(*events, log);
      if (++counts_.events % kProgressEvery != 0) continue;
      if (auto more = go_on(counts_.events); !more) return more;
    }
  }

  void judge(const Statement& row, const std::vector<LogStep>& log) {
    const std::int64_t id = row.integer(0);
    for (const LogStep& step : log) {
      counts_.claims += step.action == "PICKED" ? 1 : 0;
      counts_.resets += step.action == "RESET" ? 1 : 0;
      counts_.ends += ends_life(step) ? 1 : 0;  // counts ends before a reset, too
    }
    counts_.entries += static_cast<std::int64_t>(log.size());
    if (row.is_null(2)) return;  // no state; one_state.sql reports it
    const WalkEnd is{std::string(row.text(2)), static_cast<int>(row.integer(3)),
                     static_cast<int>(row.integer(4)), static_cast<int>(row.integer(5)),
                     std::string(row.text(6))};
    const bool live = is.status == "PENDING" || is.status == "PROCESSING";
    (live ? counts_.live : counts_.ended) += 1;

    const Walk walk = walk_log(
        log,
        {.max_retries = static_cast<int>(row.integer(1)), .max_attempts = std::nullopt, .permanent = true});
    if (walk.fault) {
      const AuditCheck broken =
          walk.broken == BrokenPromise::one_end ? AuditCheck::finished_once : AuditCheck::leases_apart;
      return find({broken, id, walk.entry, *walk.fault});
    }
    // The log holds every step, so replaying it must end in the state that the row has.
    if (is == walk.end) return;
    find({is.status == walk.end.status ? AuditCheck::counters_right : AuditCheck::none_lost, id,
          log.empty() ? 0 : log.back().id,
          "is " + describe(is) + ", but its log leads to " + describe(walk.end)});
  }

  Result<void> check_lines() {
    auto events = Statement::prepare(connection_, audit_sql::all_lines);
    if (!events) return events.error();
    auto entries = Statement::prepare(connection_, audit_sql::entries_of);
    if (!entries) return entries.error();
    std::optional<LineCheck> line;
    std::pair<std::string, std::string> key;
    for (;;) {
      const auto row = events->step();
      if (!row) return row.error();
      if (!*row) return {};
      std::pair<std::string, std::string> next(events->text(1), events->text(2));
      // all_lines.sql is ordered by line, so a new key begins the next line.
      if (!line || key != next) {
        key = std::move(next);
        line.emplace();
        counts_.lines += 1;
      }
      counts_.in_lines += 1;
      const std::int64_t id = events->integer(0);
      // One query per event: the rows are ordered by line here, so one pass over the log as in replay() is
      // not possible.
      auto log = read_log(*entries, id);
      if (!log) return log.error();
      for (LineFault& fault : line->add(id, *log)) {
        find({AuditCheck::order_kept, id, fault.entry,
              "of queue " + key.first + ", ordering_key " + key.second + ", " + fault.text});
      }
      if (counts_.in_lines % kProgressEvery != 0) continue;
      if (auto more = go_on(counts_.events); !more) return more;
    }
  }

  static Result<std::vector<LogStep>> read_log(Statement& entries, std::int64_t id) {
    return all_rows(entries.with(id), read_step);
  }

  Result<void> check(const Rule& rule) {
    counts_.rules += 1;
    const auto checked = each_fault(connection_, rule, [&](std::string_view fault) {
      find({rule.check, 0, 0, std::string(fault)});
    });
    return checked ? go_on(counts_.events) : checked;
  }

  SqliteConnection& connection_;
  const AuditOptions& options_;
  AuditCounts counts_;
  std::int64_t all_ = 0;
};

}  // namespace

std::string_view name_of(AuditCheck check) {
  switch (check) {
    case AuditCheck::sound: return "file sound";
    case AuditCheck::none_lost: return "none lost";
    case AuditCheck::finished_once: return "none finished twice";
    case AuditCheck::leases_apart: return "no overlapping leases";
    case AuditCheck::order_kept: return "order kept";
    case AuditCheck::counters_right: return "counters equal rows";
  }
  return "";
}

Result<AuditCounts> audit(const std::string& path, const AuditOptions& options) {
  auto connection = open_file(path);
  if (!connection) return connection.error();
  return Auditor(*connection, options).run();
}

Result<std::string> check_sound(const std::string& path) {
  auto connection = open_read_only(path);
  if (!connection) return connection.error();
  std::string first;
  const auto checked =
      each_fault(*connection, {audit_sql::integrity, AuditCheck::sound}, [&](std::string_view fault) {
        if (first.empty()) first = fault;
      });
  if (!checked) return checked.error();
  return first;
}

}  // namespace eventq::sqlite
