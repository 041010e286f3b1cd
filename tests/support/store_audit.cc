// store_audit.cc: see store_audit.h.
#include "support/store_audit.h"

#include <sqlite3.h>

#include <memory>
#include <string_view>

#include "base/assert.h"
#include "generated/sqlite_audit.h"
#include "tools/verify/audit.h"

namespace eventq {
namespace {

namespace audit_sql = sqlite::audit_sql;

// The rules that hold for every store, also for one that only a store test wrote.
constexpr std::string_view kStoreRules[] = {
    audit_sql::integrity,
    audit_sql::one_state,
    audit_sql::state_without_body,
    audit_sql::ready_index,
    audit_sql::queue_of_state,
    audit_sql::ready_in_line,
    audit_sql::in_line,
    audit_sql::holds_line,
    audit_sql::supersede_keys,
    audit_sql::failure_causes,
    audit_sql::counted,
    audit_sql::not_counted,
    audit_sql::ids,
};

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
};

std::unique_ptr<sqlite3, Close> open(const std::string& path) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> connection(handle);
  EVENTQ_ASSERT(opened == SQLITE_OK);
  // Closing this connection must not checkpoint, because only the owner may.
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
  for (const std::string_view rule : kStoreRules) {
    for (const std::string& fault : run(connection.get(), std::string(rule))) faults += fault + "\n";
  }
  return faults;
}

std::string audit_queues(const std::string& path) {
  std::string faults;
  const auto add = [&](const sqlite::Violation& violation) {
    faults += std::string(name_of(violation.check)) + ": " + std::to_string(violation.event) + " " +
              violation.text + "\n";
  };
  const auto done = sqlite::audit(path, {.on_violation = add, .on_progress = {}});
  return done ? faults : faults + "error: " + done.error().message;
}

}  // namespace eventq
