// test_store.h: a fresh store of the kind that is tested: a SQLite file, or with EVENTQ_TEST_STORE=postgres a
// database.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "support/postgres_cluster.h"
#include "support/temporary_directory.h"

namespace eventq {

inline bool tests_postgres() {
  const char* store = std::getenv("EVENTQ_TEST_STORE");
  return store != nullptr && std::string_view(store) == "postgres";
}

class TestStore {
 public:
  TestStore() {
    if (tests_postgres()) database_.emplace();
  }

  [[nodiscard]] std::string url() const { return database_ ? database_->url() : "sqlite:" + path(); }
  // REQUIRES: it is a SQLite file.
  [[nodiscard]] std::string path() const { return directory_.file("eventq.db"); }

 private:
  const TemporaryDirectory directory_;
  std::optional<TestDatabase> database_;
};

}  // namespace eventq
