// wrapped_store.h: a Store that wraps another one, counts commits and, on request, refuses or delays them, as
// a failing or slow disk would.
//
// Threads: the controls may be used from any thread; the rest as in store.h.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "store/store.h"

namespace eventq {

class WrappedStore final : public Store {
 public:
  explicit WrappedStore(std::unique_ptr<Store> inner) : inner_(std::move(inner)) {}

  // Every begin(), or commit(), fails with this error until it is called with nothing.
  void refuse_begin(std::optional<Error> error) {
    const std::scoped_lock lock(mutex_);
    begin_error_ = std::move(error);
  }
  void refuse_commit(std::optional<Error> error) {
    const std::scoped_lock lock(mutex_);
    commit_error_ = std::move(error);
    commit_succeeds_ = false;
  }

  // Every commit() is done, but returns unknown_outcome.
  void lose_commit_answers() {
    const std::scoped_lock lock(mutex_);
    commit_error_ = Error{ErrorCode::unknown_outcome, "The connection was lost in COMMIT.", ""};
    commit_succeeds_ = true;
  }

  // commit() blocks until let_commits_go().
  void hold_commits() {
    const std::scoped_lock lock(mutex_);
    holds_commits_ = true;
  }
  void let_commits_go() {
    const std::scoped_lock lock(mutex_);
    holds_commits_ = false;
    changed_.notify_all();
  }
  // Returns when a commit() is blocked.
  void await_held_commit() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return commit_is_held_; });
  }

  // The number of successful commits.
  [[nodiscard]] int commits() const {
    const std::scoped_lock lock(mutex_);
    return commits_;
  }

  // Whether the last successful commit waited for the disk.
  [[nodiscard]] Transaction::DiskSync last_sync() const {
    const std::scoped_lock lock(mutex_);
    return last_sync_;
  }

  [[nodiscard]] bool shared() const override { return inner_->shared(); }
  Result<std::unique_ptr<Transaction>> begin(std::optional<TimePoint> now) override {
    return wrap([&] { return inner_->begin(now); });
  }
  Result<std::unique_ptr<Transaction>> begin_planned(std::optional<TimePoint> now,
                                                     const TransactionPlan& plan) override {
    return wrap([&] { return inner_->begin_planned(now, plan); });
  }
  Result<std::unique_ptr<Reader>> reader() override { return inner_->reader(); }
  Result<void> tidy() override { return inner_->tidy(); }
  Result<StoreSizes> sizes() override { return inner_->sizes(); }
  Result<void> allow_later(bool allowed) override { return inner_->allow_later(allowed); }

 private:
  class Wrapped final : public Transaction {
   public:
    Wrapped(WrappedStore& store, std::unique_ptr<Transaction> inner)
        : store_(store), inner_(std::move(inner)) {}

    TimePoint now() const override { return inner_->now(); }
    Result<void> plan(const TransactionPlan& plan) override { return inner_->plan(plan); }
    Result<ChangedQueues> changed_queues() override { return inner_->changed_queues(); }
    Result<std::optional<QueueRecord>> current(std::string_view queue) override {
      return inner_->current(queue);
    }
    Result<void> insert(std::span<Stored> events) override { return inner_->insert(events); }
    Result<std::optional<EventId>> find(std::string_view event_id) override { return inner_->find(event_id); }
    Result<std::optional<KeyRecord>> find_key(std::string_view key) override { return inner_->find_key(key); }
    Result<void> put_key(const KeyRecord& record) override { return inner_->put_key(record); }
    Result<std::size_t> purge_keys(TimePoint created_before, std::size_t limit) override {
      return inner_->purge_keys(created_before, limit);
    }
    Result<std::vector<std::optional<Stored>>> load(std::span<const EventId> ids,
                                                    EventFields fields) override {
      return inner_->load(ids, fields);
    }
    Result<std::vector<LogEntry>> log(EventId id) override { return inner_->log(id); }
    Result<void> save(std::span<Stored> events) override { return inner_->save(events); }
    Result<void> append(std::span<LogEntry> entries) override { return inner_->append(entries); }
    Result<std::vector<Stored>> promote(std::size_t limit) override { return inner_->promote(limit); }
    Result<std::vector<Stored>> claim(const Selector& selector, std::size_t limit) override {
      return inner_->claim(selector, limit);
    }
    Result<std::optional<TimePoint>> next_due() override { return inner_->next_due(); }
    Result<std::optional<TimePoint>> next_due_by(const std::optional<TimePoint>& known) override {
      return inner_->next_due_by(known);
    }
    Result<void> probe() override { return inner_->probe(); }
    Result<void> commit(DiskSync sync) override { return store_.commit(*inner_, sync); }

    Result<void> remove(std::span<const Stored> events) override { return inner_->remove(events); }
    Result<std::optional<Stored>> head_of_line(std::string_view queue, std::string_view key) override {
      return inner_->head_of_line(queue, key);
    }
    Result<std::optional<Stored>> first_behind(std::string_view queue, std::string_view key) override {
      return inner_->first_behind(queue, key);
    }
    Result<std::vector<EventId>> with_supersede_key(std::string_view queue, std::string_view key) override {
      return inner_->with_supersede_key(queue, key);
    }
    Result<Ended> ended(const EndedFilter& filter) override { return inner_->ended(filter); }
    Result<std::vector<Stored>> holding_line(std::string_view queue, std::size_t limit) override {
      return inner_->holding_line(queue, limit);
    }
    Result<std::optional<CorrelationRow>> find_correlation(std::string_view id) override {
      return inner_->find_correlation(id);
    }
    Result<std::vector<CorrelatedEnd>> correlated_ends(std::string_view id, EndsLimit limit) override {
      return inner_->correlated_ends(id, limit);
    }
    Result<void> put_correlation(const CorrelationRow& row) override { return inner_->put_correlation(row); }
    Result<void> put_defaults(const QueueConfig& main, const QueueConfig& others) override {
      return inner_->put_defaults(main, others);
    }
    Result<void> put_queue(const QueueRow& row) override { return inner_->put_queue(row); }
    Result<void> add_queue(const QueueRow& row) override { return inner_->add_queue(row); }
    Result<void> add_totals(std::string_view queue, const Totals& change,
                            std::optional<EventId> last_completed) override {
      return inner_->add_totals(queue, change, last_completed);
    }
    Result<void> add_failed_in_hour(std::int64_t hour, std::int64_t events) override {
      return inner_->add_failed_in_hour(hour, events);
    }
    Result<void> put_checkpoint(const Checkpoint& checkpoint) override {
      return inner_->put_checkpoint(checkpoint);
    }
    Result<std::optional<Checkpoint>> find_checkpoint(std::string_view id) override {
      return inner_->find_checkpoint(id);
    }
    Result<std::int64_t> count_requested(std::string_view queue) override {
      return inner_->count_requested(queue);
    }
    Result<void> delete_checkpoint(std::string_view id) override { return inner_->delete_checkpoint(id); }
    Result<void> remove_queue(std::string_view queue) override { return inner_->remove_queue(queue); }
    Result<void> append_queue_log(const QueueLogEntry& entry) override {
      return inner_->append_queue_log(entry);
    }
    Result<void> put_recovery(const Recovery& recovery) override { return inner_->put_recovery(recovery); }
    Result<void> add_worker(const WorkerRow& change) override { return inner_->add_worker(change); }
    Result<void> put_ask(const WorkerAsk& ask) override { return inner_->put_ask(ask); }
    Result<void> sign_off(std::string_view worker_id) override { return inner_->sign_off(worker_id); }
    Result<void> drop_workers(TimePoint before) override { return inner_->drop_workers(before); }
    Result<void> put_archive_file(const ArchiveFile& file) override { return inner_->put_archive_file(file); }
    Result<std::optional<TimePoint>> oldest_pending(std::string_view queue) override {
      return inner_->oldest_pending(queue);
    }
    Result<Recalled> recall(std::vector<std::string>& repaired) override { return inner_->recall(repaired); }

   private:
    WrappedStore& store_;
    const std::unique_ptr<Transaction> inner_;
  };

  template <typename Begin>
  Result<std::unique_ptr<Transaction>> wrap(const Begin& begin) {
    {
      const std::scoped_lock lock(mutex_);
      if (begin_error_) return *begin_error_;
    }
    auto transaction = begin();
    if (!transaction) return transaction.error();
    return std::unique_ptr<Transaction>(std::make_unique<Wrapped>(*this, std::move(*transaction)));
  }

  Result<void> commit(Transaction& transaction, Transaction::DiskSync sync) {
    std::unique_lock lock(mutex_);
    commit_is_held_ = holds_commits_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !holds_commits_; });
    commit_is_held_ = false;
    if (commit_error_ && !commit_succeeds_) return *commit_error_;
    if (auto done = transaction.commit(sync); !done) return done;
    if (commit_error_) return *commit_error_;
    ++commits_;
    last_sync_ = sync;
    return {};
  }

  // Set in the constructor, never changed.
  const std::unique_ptr<Store> inner_;

  // Guarded by mutex_.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Error> begin_error_;
  std::optional<Error> commit_error_;
  bool commit_succeeds_ = false;
  bool holds_commits_ = false;
  bool commit_is_held_ = false;
  int commits_ = 0;
  Transaction::DiskSync last_sync_ = Transaction::DiskSync::now;
};

}  // namespace eventq
