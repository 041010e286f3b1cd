// postgres_store.cc: see postgres_store.h.
#include "store/postgres/postgres_store.h"

#include <utility>

#include "generated/postgres_sql.h"
#include "store/postgres/postgres_reader.h"
#include "store/postgres/postgres_transaction.h"
#include "store/postgres/reconnector.h"
#include "store/postgres/store_session.h"

namespace eventq::postgres {
namespace {

class PostgresStoreImpl final : public PostgresStore {
 public:
  PostgresStoreImpl(std::string url, ShardPosition position, const Clock* clock)
      : url_(std::move(url)), reconnector_(url_) {
    session_.position = position;
    session_.clock = clock;
  }

  [[nodiscard]] bool shared() const override { return true; }

  Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now) override {
    return begin_with(now, nullptr);
  }
  Result<std::unique_ptr<Transaction>> begin_planned(std::optional<TimePoint> now,
                                                     const TransactionPlan& plan) override {
    return begin_with(now, &plan);
  }

  Result<std::unique_ptr<Reader>> reader() override {
    return std::unique_ptr<Reader>(
        std::make_unique<PostgresReader>(url_, session_.clock != nullptr ? *session_.clock : system_clock()));
  }

  Result<StoreSizes> sizes() override {
    if (auto done = reconnector_.connect(session_.connection); !done) return done.error();
    const auto rows = session_.connection->run_one(sql::read_sizes);
    if (!rows) return rows.error();
    return StoreSizes{rows->number(0, 0), 0, Upkeep{Millis(rows->number(0, 1)), rows->number(0, 2)}};
  }

  Result<void> allow_later(bool allowed) override {
    session_.later_allowed = allowed;
    return {};
  }

  // Autovacuum does this work in PostgreSQL.
  Result<void> tidy() override { return {}; }

  void interrupt(bool interrupted) override { reconnector_.interrupt(interrupted); }

 private:
  Result<std::unique_ptr<Transaction>> begin_with(std::optional<TimePoint> now, const TransactionPlan* plan) {
    const bool used = session_.connection && !session_.connection->broken();
    if (auto done = reconnector_.connect(session_.connection); !done) return done.error();
    auto begun = PostgresTransaction::begin(session_, now, plan);
    if (begun || !used || !session_.connection->broken()) return begun;
    // The connection was lost since the last transaction. Nothing was changed, so a new connection can begin
    // again.
    if (auto done = reconnector_.connect(session_.connection); !done) return done.error();
    return PostgresTransaction::begin(session_, now, plan);
  }

  // Set in the constructor, never changed.
  const std::string url_;

  Reconnector reconnector_;
  StoreSession session_;
};

}  // namespace

std::unique_ptr<PostgresStore> make_store(std::string url, ShardPosition position, const Clock* clock) {
  return std::make_unique<PostgresStoreImpl>(std::move(url), position, clock);
}

}  // namespace eventq::postgres
