// store_audit.cc: see store_audit.h.
#include "support/store_audit.h"

#include <sqlite3.h>

#include <memory>
#include <utility>

#include "base/assert.h"

namespace eventq {
namespace {

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};

// Each gives a line for what is wrong, and none when all is well.
const char* const kRules[] = {
    R"(SELECT 'integrity: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok')",

    R"(SELECT 'event ' || b.id || ' has ' || count(s.id) || ' states'
         FROM event_body AS b
         LEFT JOIN (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive) AS s ON s.id = b.id
        GROUP BY b.id HAVING count(s.id) <> 1)",

    R"(SELECT 'state of ' || id || ' has no body'
         FROM (SELECT id FROM event_queue UNION ALL SELECT id FROM event_archive)
        WHERE id NOT IN (SELECT id FROM event_body))",

    R"(WITH wanted AS (
         SELECT b.queue, t.value AS tag, b.priority, b.id
           FROM event_queue AS q
           JOIN event_body AS b ON b.id = q.id
           JOIN json_each('["' || replace(b.tags, ',', '","') || '"]') AS t
          WHERE q.ready = 1
         UNION ALL
         SELECT b.queue, '', b.priority, b.id
           FROM event_queue AS q
           JOIN event_body AS b ON b.id = q.id
          WHERE q.ready = 1 AND b.queue IN (SELECT queue FROM any_tag_queue))
       SELECT 'not in the ready index: ' || id || ' ' || tag
         FROM (SELECT * FROM wanted EXCEPT SELECT queue, tag, priority, id FROM event_ready)
        UNION ALL
       SELECT 'in the ready index: ' || id || ' ' || tag
         FROM (SELECT queue, tag, priority, id FROM event_ready EXCEPT SELECT * FROM wanted))",

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

}  // namespace

std::vector<std::string> query(const std::string& path, const std::string& sql) {
  return run(open(path).get(), sql);
}

std::string audit(const std::string& path) {
  const auto connection = open(path);
  std::string faults;
  for (const char* rule : kRules) {
    for (const std::string& fault : run(connection.get(), rule)) faults += fault + "\n";
  }
  return faults;
}

}  // namespace eventq
