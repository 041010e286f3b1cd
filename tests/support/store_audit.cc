// store_audit.cc: see store_audit.h.
#include "support/store_audit.h"

#include <sqlite3.h>

#include <memory>
#include <span>
#include <utility>

#include "base/assert.h"

namespace eventq {
namespace {

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};

// Each gives a line for what is wrong, and none when all is well. These hold whoever uses the store.
const char* const kStoreRules[] = {
    R"(SELECT 'integrity: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok')",

    R"(SELECT 'event ' || b.id || ' has ' || count(s.id) || ' states'
         FROM event_body AS b
         LEFT JOIN (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive) AS s ON s.id = b.id
        GROUP BY b.id HAVING count(s.id) <> 1)",

    R"(SELECT 'state of ' || id || ' has no body'
         FROM (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive)
        WHERE id NOT IN (SELECT id FROM event_body))",

    R"(WITH wanted AS (
         SELECT b.queue, t.value AS tag, b.priority, q.turn, b.id
           FROM event_queue AS q
           JOIN event_body AS b ON b.id = q.id
           JOIN json_each('["' || replace(b.tags, ',', '","') || '"]') AS t
          WHERE q.ready = 1
         UNION ALL
         SELECT b.queue, '', b.priority, q.turn, b.id
           FROM event_queue AS q
           JOIN event_body AS b ON b.id = q.id
          WHERE q.ready = 1 AND b.queue IN (SELECT queue FROM any_tag_queue))
       SELECT 'not in the ready index: ' || id || ' ' || tag
         FROM (SELECT * FROM wanted EXCEPT SELECT queue, tag, priority, turn, id FROM event_ready)
        UNION ALL
       SELECT 'in the ready index: ' || id || ' ' || tag
         FROM (SELECT queue, tag, priority, turn, id FROM event_ready EXCEPT SELECT * FROM wanted))",

    R"(SELECT 'another queue in the state of ' || s.id
         FROM (SELECT id, queue FROM event_queue UNION ALL SELECT id, queue FROM event_archive) AS s
         JOIN event_body AS b ON b.id = s.id
        WHERE b.queue <> s.queue)",

    R"(SELECT 'event ' || q.id || ' has ready ' || q.ready || ' and stands '
               || CASE l.head WHEN 0 THEN 'behind another' WHEN 1 THEN 'at the head' ELSE 'in no line' END
         FROM event_queue AS q
         JOIN event_body AS b ON b.id = q.id
         LEFT JOIN event_line AS l
                ON l.queue = b.queue AND l.ordering_key = b.ordering_key AND l.id = q.id
        WHERE (q.ready = 2) <> (l.head IS 0))",

    R"(SELECT 'in line: ' || l.id || ' ' || l.ordering_key
         FROM event_line AS l
         LEFT JOIN event_body AS b
                ON b.id = l.id AND b.queue = l.queue AND b.ordering_key = l.ordering_key
        WHERE b.id IS NULL
           OR (l.id NOT IN (SELECT id FROM event_queue)
               AND l.id NOT IN (SELECT id FROM event_archive WHERE holds_line = 1)))",

    R"(SELECT 'holds a line, and is ' || a.status || ' or in none: ' || a.id
         FROM event_archive AS a
        WHERE a.holds_line = 1
          AND (a.status <> 'FAILED' OR a.id NOT IN (SELECT id FROM event_line WHERE head = 1)))",

    R"(WITH wanted AS (
         SELECT b.queue, b.supersede_key, b.id
           FROM event_queue AS q
           JOIN event_body AS b ON b.id = q.id
          WHERE b.supersede_key <> '' AND q.status = 'PENDING')
       SELECT 'not to be superseded: ' || id || ' ' || supersede_key
         FROM (SELECT * FROM wanted EXCEPT SELECT queue, supersede_key, id FROM event_supersede)
        UNION ALL
       SELECT 'to be superseded: ' || id || ' ' || supersede_key
         FROM (SELECT queue, supersede_key, id FROM event_supersede EXCEPT SELECT * FROM wanted))",

    R"(WITH wanted AS (
         SELECT queue, cause, count(*) AS n
           FROM event_archive WHERE status = 'FAILED' GROUP BY queue, cause)
       SELECT 'failures not counted: ' || queue || ' ' || coalesce(cause, 'without a cause') || ': ' || n
         FROM (SELECT * FROM wanted EXCEPT SELECT queue, cause, n FROM failure_cause)
        UNION ALL
       SELECT 'failures counted: ' || queue || ' ' || cause || ': ' || n
         FROM (SELECT queue, cause, n FROM failure_cause WHERE n <> 0 EXCEPT SELECT * FROM wanted))",

    R"(SELECT 'counted as ' || queue || ' ' || status || ': ' || n
         FROM (SELECT queue, status, n FROM event_count WHERE n <> 0
               EXCEPT
               SELECT queue, status, count(*) FROM event GROUP BY queue, status))",

    R"(SELECT 'not counted: ' || queue || ' ' || status || ': ' || n
         FROM (SELECT queue, status, count(*) AS n FROM event GROUP BY queue, status
               EXCEPT
               SELECT queue, status, n FROM event_count))",

    R"(SELECT 'ids of ' || name || ' are behind' FROM id_sequence
        WHERE last < (SELECT coalesce(max(id), 0) FROM event_body) AND name = 'event'
           OR last < (SELECT coalesce(max(id), 0) FROM event_log) AND name = 'log')",
};

// These are kept by the queue above the store.
const char* const kQueueRules[] = {
    R"(SELECT 'event ' || id || ' is ' || status || ' and superseded by ' || superseded_by
         FROM event_archive WHERE superseded_by IS NOT NULL AND (status <> 'SUPERSEDED' OR superseded_by <= id))",

    R"(SELECT 'line ' || queue || ' ' || ordering_key || ' has ' || sum(head) || ' heads'
         FROM event_line GROUP BY queue, ordering_key HAVING sum(head) <> 1)",

    R"(SELECT 'not in line: ' || q.id || ' ' || b.ordering_key
         FROM event_queue AS q
         JOIN event_body AS b ON b.id = q.id
        WHERE b.ordering_key <> '' AND q.id NOT IN (SELECT id FROM event_line))",

    R"(SELECT 'in work, and not at the head of its line: ' || q.id
         FROM event_queue AS q
         JOIN event_line AS l ON l.id = q.id
        WHERE q.status = 'PROCESSING' AND l.head <> 1)",

    // The first published, unless a younger one is in work.
    R"(SELECT 'waits at the head of its line before an older one: ' || q.id
         FROM event_queue AS q
         JOIN event_line AS l ON l.id = q.id
        WHERE q.status = 'PENDING' AND l.head = 1
          AND EXISTS (SELECT 1 FROM event_line AS o
                       WHERE o.queue = l.queue AND o.ordering_key = l.ordering_key AND o.id < l.id))",

    // What was removed is still in the totals.
    R"(WITH rows AS (
         SELECT correlation_id AS id, count(*) AS kept, sum(status IN ('PENDING', 'PROCESSING')) AS pending,
                sum(status IN ('COMPLETED', 'COMPLETED_WITH_ERRORS')) AS completed,
                sum(status = 'FAILED') AS failed
           FROM event WHERE correlation_id <> '' GROUP BY correlation_id)
       SELECT 'correlation ' || coalesce(r.id, c.id) || ' is counted as ' || coalesce(c.total, 0) || ' '
              || coalesce(c.kept, 0) || ' ' || coalesce(c.pending, 0) || ' ' || coalesce(c.completed, 0) || ' '
              || coalesce(c.failed, 0) || ' and has ' || coalesce(r.kept, 0) || ' '
              || coalesce(r.pending, 0) || ' ' || coalesce(r.completed, 0) || ' ' || coalesce(r.failed, 0)
         FROM (SELECT id FROM rows UNION SELECT id FROM correlation) AS k
         LEFT JOIN rows AS r ON r.id = k.id
         LEFT JOIN correlation AS c ON c.id = k.id
        WHERE r.id IS NULL OR c.id IS NULL OR c.kept <> r.kept OR c.pending <> r.pending
           OR c.total < c.kept OR c.completed < r.completed OR c.failed < r.failed
           OR (c.total = c.kept AND (c.completed <> r.completed OR c.failed <> r.failed)))",

    R"(SELECT 'correlation ' || id || ' has ended, and what was to follow has not been published'
         FROM correlation WHERE pending = 0 AND on_complete <> '')",

    R"(SELECT 'queue ' || b.queue || ' has ' || count(*) || ' events and published ' || coalesce(t.published, 0)
         FROM event_body AS b
         LEFT JOIN queue_total AS t ON t.queue = b.queue
        GROUP BY b.queue HAVING count(*) > coalesce(t.published, 0))",

    R"(SELECT 'queue ' || t.queue || ' counts fewer ends than it has'
         FROM queue_total AS t
        WHERE t.completed < (SELECT count(*) FROM event
                              WHERE queue = t.queue AND status IN ('COMPLETED', 'COMPLETED_WITH_ERRORS'))
           OR t.failed_for_good < (SELECT count(*) FROM event WHERE queue = t.queue AND status = 'FAILED')
           OR t.superseded < (SELECT count(*) FROM event WHERE queue = t.queue AND status = 'SUPERSEDED')
           OR t.cancelled < (SELECT count(*) FROM event WHERE queue = t.queue AND status = 'CANCELLED'))",

    R"(SELECT 'there is no queue ' || queue
         FROM (SELECT DISTINCT queue FROM event_body) WHERE queue NOT IN (SELECT id FROM event_queue_state))",
};

std::unique_ptr<sqlite3, Close> open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> connection(handle);
  EVENTQ_ASSERT(opened == SQLITE_OK);
  // The owner checkpoints, nobody else.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  return connection;
}

std::vector<std::string> run(sqlite3* connection, const std::string& sql) {
  std::vector<std::string> rows;
  const auto take = [](void* into, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(into)->emplace_back(values[0] == nullptr ? "NULL" : values[0]);
    return 0;
  };
  const int ran = sqlite3_exec(connection, sql.c_str(), take, &rows, nullptr);
  if (ran != SQLITE_OK) rows.push_back(std::string("error: ") + sqlite3_errmsg(connection));
  return rows;
}

std::string check(sqlite3* connection, std::span<const char* const> rules) {
  std::string faults;
  for (const char* rule : rules) {
    for (const std::string& fault : run(connection, rule)) faults += fault + "\n";
  }
  return faults;
}

}  // namespace

std::vector<std::string> query(const std::string& path, const std::string& sql) {
  return run(open(path).get(), sql);
}

std::string audit(const std::string& path) {
  const auto connection = open(path);
  return check(connection.get(), kStoreRules);
}

std::string audit_queues(const std::string& path) {
  const auto connection = open(path);
  return check(connection.get(), kStoreRules) + check(connection.get(), kQueueRules);
}

}  // namespace eventq
