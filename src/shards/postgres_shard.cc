// postgres_shard.cc: see postgres_shard.h.
#include "shards/postgres_shard.h"

#include <atomic>
#include <future>
#include <utility>
#include <vector>

#include "command/one_answer.h"
#include "engine/recovered_core.h"
#include "model/policy.h"
#include "retention/archive_files.h"
#include "retention/retention.h"
#include "retention/retention_thread.h"
#include "shards/thread_shard.h"
#include "store/postgres/connection.h"
#include "store/postgres/notifier.h"
#include "store/postgres/postgres_reader.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/retention_lock.h"

namespace eventq {
namespace {

// While one thread commits, the other collects the next batch; more threads would make smaller batches.
constexpr int kCommitThreads = 2;
constexpr int kReadThreads = 2;
// Retention is not urgent, and an idle server must cost the database little.
constexpr RetentionPauses kPauses{.between_steps = Millis(5), .when_idle = std::chrono::seconds(10)};
// stop() waits this long for statements under way, such as a commit that waits for a standby, then cancels
// them.
constexpr std::chrono::seconds kStopTimeout{5};

struct ShardParts {
  std::string url;
  std::vector<ShardWriter> writers;
  std::vector<std::unique_ptr<Reader>> readers;
  // Of the writers and readers: interrupt() must reach them while the database does not answer.
  std::vector<postgres::PostgresStore*> connected_stores;
  std::vector<postgres::PostgresReader*> connected_readers;
  std::unique_ptr<postgres::PostgresReader> retention_reader;
  std::unique_ptr<ArchiveFiles> files;  // null: removed events are not archived
};

class PostgresShard final : public Shard, private ShardObserver {
 public:
  PostgresShard(ShardParts parts, const Options& options, const Clock& clock)
      : logger_(options.logger),
        clock_(clock),
        own_clock_(options.clock != nullptr),
        parts_(std::move(parts)),
        lock_(parts_.url),
        retention_(
            *parts_.retention_reader, [this](Command command) { return call(std::move(command)); },
            parts_.files.get(), default_policy(options)),
        commit_threads_(postgres::without_password(parts_.url), std::move(parts_.writers),
                        std::move(parts_.readers), clock, logger_) {}

  ~PostgresShard() override { stop(); }
  PostgresShard(const PostgresShard&) = delete;
  PostgresShard& operator=(const PostgresShard&) = delete;

  void start(ShardObserver& observer, int shard) override {
    observer_ = &observer;
    shard_ = shard;
    commit_threads_.start(*this, shard);
    notifier_ = std::make_unique<postgres::Notifier>(
        parts_.url,
        postgres::Notifier::Callbacks{
            .on_hint =
                [this](const postgres::Hint& hint) {
                  observer_->on_activity(shard_, ShardActivity{hint.ready, hint.all, {}, hint.ended});
                },
            .on_health = [this](bool up) { on_health(shard_, up); }},
        logger_);
    // Commits before this sent no hint. Other servers find their events with their periodic checks.
    hint_sender_ = notifier_.get();
    retention_thread_ = std::make_unique<RetentionThread>([this](TimePoint now) { return retire(now); },
                                                          clock_, logger_, kPauses);
  }

  [[nodiscard]] std::string name() const override { return commit_threads_.name(); }
  [[nodiscard]] std::size_t commit_threads() const override { return commit_threads_.commit_threads(); }
  void submit(std::size_t commit_thread, Envelope<Command> request) override {
    commit_threads_.submit(commit_thread, std::move(request));
  }
  void read(Envelope<Command> request) override { commit_threads_.read(std::move(request)); }
  void expect_answers(bool any) override {
    if (!stopping_) notifier_->expect_answers(any);
  }
  void recheck_clock() override {
    commit_threads_.recheck_clock();
    retention_thread_->recheck_clock();
  }

  // The notifier stops last, because it interrupts the threads when the database cannot be reached meanwhile.
  void stop() override {
    if (!notifier_) return;
    stopping_ = true;
    notifier_->expect_answers(true);
    std::promise<void> ended;
    const auto interrupter = std::async(std::launch::async, [this, end = ended.get_future()] {
      if (end.wait_for(kStopTimeout) != std::future_status::ready) interrupt(true);
    });
    retention_thread_->stop();
    lock_.release();
    commit_threads_.stop();
    ended.set_value();
    interrupter.wait();
    hint_sender_ = nullptr;
    notifier_.reset();
  }

 private:
  // Called by the commit threads: wakes callers here, and sends a hint to other servers.
  void on_activity(int shard, const ShardActivity& activity) override {
    observer_->on_activity(shard, activity);
    if (postgres::Notifier* sender = hint_sender_) {
      sender->notify({activity.ready, activity.all_ready, !activity.ended.empty()});
    }
  }

  // The router answers its callers before the statements are interrupted, so that their late errors are
  // ignored.
  void on_health(int shard, bool up) override {
    if (!up) observer_->on_health(shard, false);
    interrupt(!up);
    if (up) observer_->on_health(shard, true);
  }

  void interrupt(bool interrupted) {
    for (postgres::PostgresStore* store : parts_.connected_stores) store->interrupt(interrupted);
    for (postgres::PostgresReader* reader : parts_.connected_readers) reader->interrupt(interrupted);
    parts_.retention_reader->interrupt(interrupted);
    lock_.interrupt(interrupted);
  }

  Result<std::size_t> retire(TimePoint now) {
    const auto held = lock_.hold();
    if (!held) return held.error();
    if (!*held) return std::size_t{0};
    if ((*held)->since && parts_.files) {
      // Another server held the lock before and may have written archive files.
      auto stored = parts_.retention_reader->archive_files();
      if (!stored) return stored.error();
      parts_.files->confirm(*stored);
    }
    return retention_.step(own_clock_ ? now : (*held)->now);
  }

  Answer call(Command command) {
    OneAnswer sink;
    commit_threads_.submit(0, Envelope<Command>{{&sink, 0}, std::move(command)});
    return sink.wait();
  }

  // Set in the constructor, never changed.
  const Logger logger_;
  const Clock& clock_;
  const bool own_clock_;  // options.clock is set, so retention uses it, not the database's time

  ShardParts parts_;  // without writers and readers, which commit_threads_ owns

  // Set by start().
  ShardObserver* observer_ = nullptr;
  int shard_ = 0;

  postgres::RetentionLock lock_;  // used by the retention thread only, as is retention_
  Retention retention_;
  ThreadShard commit_threads_;
  std::unique_ptr<postgres::Notifier> notifier_;
  std::atomic<postgres::Notifier*> hint_sender_ = nullptr;  // notifier_, for the commit threads
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<RetentionThread> retention_thread_;
};

Result<void> open_connections(ShardParts& parts, const postgres::ShardPosition& position,
                              const Options& options) {
  for (int commit_thread = 0; commit_thread < kCommitThreads; ++commit_thread) {
    auto store = postgres::make_store(parts.url, position, options.clock);
    CoreOptions core = core_options(options);
    core.maintains = commit_thread == 0;
    core.share = {position.shard_index, position.shard_count};
    // Every commit thread recovers the same rows, so one of them logs it.
    auto recovered = recovered_core(*store, std::move(core), commit_thread == 0 ? options.logger : Logger());
    if (!recovered) return recovered.error();
    parts.connected_stores.push_back(store.get());
    parts.writers.push_back({std::move(store), std::move(*recovered)});
  }
  for (int read_thread = 0; read_thread < kReadThreads; ++read_thread) {
    auto reader = std::make_unique<postgres::PostgresReader>(parts.url);
    parts.connected_readers.push_back(reader.get());
    parts.readers.push_back(std::move(reader));
  }
  parts.retention_reader = std::make_unique<postgres::PostgresReader>(parts.url);
  return {};
}

}  // namespace

Result<std::unique_ptr<Shard>> open_postgres_shard(const std::string& url, int shard, int shards,
                                                   const Options& options, const Clock& clock) {
  ShardParts parts{.url = url};
  if (auto opened = open_connections(parts, {shard, shards}, options); !opened) return opened.error();
  if (!options.archive_dir.empty()) {
    // Each database records its own archive files, so each needs a folder of its own.
    const std::string folder =
        shards == 1 ? options.archive_dir : options.archive_dir + "/shard-" + std::to_string(shard);
    auto files = open_archive(folder, *parts.retention_reader);
    if (!files) return files.error();
    parts.files = std::move(*files);
  }
  return std::unique_ptr<Shard>(std::make_unique<PostgresShard>(std::move(parts), options, clock));
}

}  // namespace eventq
