// memory_store.cc: see memory_store.h.
#include "store/memory/memory_store.h"

#include <mutex>

#include "store/memory/memory_state.h"

namespace eventq::memory {
namespace {

class MemoryStore final : public Store {
 public:
  MemoryStore(const Clock& clock, int shard_index, int shard_count) : clock_(clock) {
    state_.shard_index = shard_index;
    state_.shard_count = shard_count;
  }

  Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now) override {
    return make_transaction(state_, mutex_, now.value_or(clock_.now()));
  }
  Result<std::unique_ptr<Reader>> reader() override { return make_reader(state_, mutex_); }
  Result<StoreSizes> sizes() override { return StoreSizes(); }
  Result<void> tidy() override { return {}; }

 private:
  const Clock& clock_;
  std::mutex mutex_;   // a transaction holds it until its destructor
  MemoryState state_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Store> open_store(const Clock& clock, int shard_index, int shard_count) {
  return std::make_unique<MemoryStore>(clock, shard_index, shard_count);
}

}  // namespace eventq::memory
