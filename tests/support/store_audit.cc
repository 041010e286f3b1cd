// store_audit.cc: see store_audit.h.
#include "support/store_audit.h"

#include <sqlite3.h>

#include <memory>

#include "base/assert.h"
#include "store/sqlite/audit.h"

namespace eventq {
namespace {

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
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
  const auto faults = sqlite::check_store(path);
  return faults ? *faults : "error: " + faults.error().message;
}

std::string audit_queues(const std::string& path) {
  std::string faults;
  const auto add = [&](const sqlite::Violation& violation) {
    faults += std::string(name_of(violation.proof)) + ": " + std::to_string(violation.event) + " " +
              violation.text + "\n";
  };
  const auto done = sqlite::audit(path, {.on_violation = add, .on_progress = {}});
  return done ? faults : faults + "error: " + done.error().message;
}

}  // namespace eventq
