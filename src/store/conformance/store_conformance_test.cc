// store_conformance_test.cc: the stores that run the suite. An exception for a store is declared here, in one
// line with its reason, not inside a test.
#include "store/conformance/store_conformance.h"

#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/faulty_vfs.h"
#include "support/postgres_cluster.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

class MemoryLocation final : public StoreLocation {
 public:
  std::unique_ptr<Store> open(const Clock& clock) override { return memory::open_store(clock); }
};

// A SQLite file without syncs, because they would take most of the time. sqlite_faults_test.cc tests syncs.
class SqliteLocation final : public StoreLocation {
 public:
  SqliteLocation() { disk_.skip_syncs(); }
  std::unique_ptr<Store> open(const Clock& clock) override {
    return must(sqlite::open_store(directory_.file("store.db"), clock));
  }

 private:
  TemporaryDirectory directory_;
  FaultyVfs disk_;
};

class PostgresLocation final : public StoreLocation {
 public:
  std::unique_ptr<Store> open(const Clock& clock) override {
    return postgres::make_store(database_.url(), {}, &clock);
  }

 private:
  TestDatabase database_;
};

template <typename Location>
std::unique_ptr<StoreLocation> make() {
  return std::make_unique<Location>();
}

INSTANTIATE_TEST_SUITE_P(AllStores, StoreConformance,
                         testing::Values(StoreKind{"Memory", make<MemoryLocation>},
                                         StoreKind{"Sqlite", make<SqliteLocation>},
                                         StoreKind{"Postgres", make<PostgresLocation>}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace eventq
