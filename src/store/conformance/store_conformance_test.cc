// store_conformance_test.cc: the stores that run the suite. A store that cannot do something
// says so here, in one line with its reason, not inside a test.
#include "store/conformance/store_conformance.h"

#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/faulty_vfs.h"
#include "support/postgres_cluster.h"
#include "support/temporary_directory.h"

namespace eventq {
namespace {

class MemoryPlace final : public StorePlace {
 public:
  std::unique_ptr<Store> open(const Clock& clock) override { return memory::open_store(clock); }
};

// A file whose syncs are skipped: what they are good for is shown in sqlite_faults_test.cc, and
// here they would cost most of the time.
class SqlitePlace final : public StorePlace {
 public:
  SqlitePlace() { disk_.skip_syncs(); }
  std::unique_ptr<Store> open(const Clock& clock) override {
    return must(sqlite::open_store(directory_.file("store.db"), clock));
  }

 private:
  TemporaryDirectory directory_;
  FaultyVfs disk_;
};

class PostgresPlace final : public StorePlace {
 public:
  std::unique_ptr<Store> open(const Clock& clock) override {
    return postgres::make_store(database_.url(), {}, &clock);
  }

 private:
  TestDatabase database_;
};

template <typename Place>
std::unique_ptr<StorePlace> make() {
  return std::make_unique<Place>();
}

INSTANTIATE_TEST_SUITE_P(AllStores, StoreConformance,
                         testing::Values(StoreKind{"Memory", make<MemoryPlace>},
                                         StoreKind{"Sqlite", make<SqlitePlace>},
                                         StoreKind{"Postgres", make<PostgresPlace>}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace eventq
