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
constexpr RetentionThread::Pauses kPauses{.between_steps = Millis(5), .when_idle = std::chrono::seconds(10)};
// stop() waits this long for statements under way, such as a commit that waits for a standby, then cancels
// them.
constexpr std::chrono::seconds kStopTimeout{5};

// Connections that interrupt() must reach while the database does not answer. Owned by the commit threads.
struct PostgresConnections {
  std::vector<postgres::PostgresStore*> stores;
  std::vector<postgres::PostgresReader*> readers;
};

struct ShardParts {
  std::string url;
  std::vector<ShardWriter> writers;
  std::vector<std::unique_ptr<Reader>> readers;
  PostgresConnections connected;
  std::unique_ptr<postgres::PostgresReader> retention_reader;
  std::unique_ptr<ArchiveFiles> files;  // null: removed events are not archived
};

class PostgresShard final : public Shard, private ShardObserver {
 public:
  PostgresShard(ShardParts parts, const Options& options, const Clock& clock)
      : url_(std::move(parts.url)),
        logger_(options.logger),
        clock_(clock),
        own_clock_(options.clock != nullptr),
        connected_(std::move(parts.connected)),
        retention_reader_(std::move(parts.retention_reader)),
        files_(std::move(parts.files)),
        lock_(url_),
        retention_(
            *retention_reader_, [this](Command command) { return call(std::move(command)); }, files_.get(),
            default_policy(options)),
        commit_threads_(postgres::without_password(url_), std::move(parts.writers), std::move(parts.readers),
                        clock, logger_) {}

  ~PostgresShard() override { stop(); }
  PostgresShard(const PostgresShard&) = delete;
  PostgresShard& operator=(const PostgresShard&) = delete;

  void start(ShardObserver& observer, int shard) override {
    observer_ = &observer;
    shard_ = shard;
    commit_threads_.start(*this, shard);
    notifier_ = std::make_unique<postgres::Notifier>(
        url_,
        postgres::Notifier::Callbacks{
            .on_hint =
                [this](const postgres::Hint& hint) {
                  observer_->on_activity(shard_, ShardActivity{hint.ready, hint.all, {}, hint.ended});
                },
            .on_health = [this](bool up) { on_health(shard_, up); }},
        logger_);
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

  // The notifier stops last, because it interrupts the threads when the database goes away meanwhile.
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
    for (postgres::PostgresStore* store : connected_.stores) store->interrupt(interrupted);
    for (postgres::PostgresReader* reader : connected_.readers) reader->interrupt(interrupted);
    retention_reader_->interrupt(interrupted);
    lock_.interrupt(interrupted);
  }

  Result<std::size_t> retire(TimePoint now) {
    const auto held = lock_.hold();
    if (!held) return held.error();
    if (!*held) return std::size_t{0};
    if ((*held)->since && files_) {
      // Another server held the lock before and may have written archive files.
      auto known = retention_reader_->archive_files();
      if (!known) return known.error();
      files_->confirm(*known);
    }
    return retention_.step(own_clock_ ? now : (*held)->now);
  }

  Answer call(Command command) {
    OneAnswer sink;
    commit_threads_.submit(0, Envelope<Command>{{&sink, 0}, std::move(command)});
    return sink.wait();
  }

  // Set in the constructor, never changed.
  const std::string url_;
  const Logger logger_;
  const Clock& clock_;
  const bool own_clock_;  // options.clock is set, so retention uses it, not the database's time
  const PostgresConnections connected_;
  const std::unique_ptr<postgres::PostgresReader> retention_reader_;
  const std::unique_ptr<ArchiveFiles> files_;

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

Result<void> open_commit_threads(ShardParts& parts, const postgres::ShardPosition& place,
                                 const Options& options) {
  for (int commit_thread = 0; commit_thread < kCommitThreads; ++commit_thread) {
    auto store = postgres::make_store(parts.url, place, options.clock);
    CoreOptions core = core_options(options);
    core.maintains = commit_thread == 0;
    core.share = {place.shard_index, place.shard_count};
    auto recovered = recovered_core(*store, std::move(core), commit_thread == 0 ? options.logger : Logger());
    if (!recovered) return recovered.error();
    parts.connected.stores.push_back(store.get());
    parts.writers.push_back({std::move(store), std::move(*recovered)});
  }
  for (int read_thread = 0; read_thread < kReadThreads; ++read_thread) {
    auto reader = std::make_unique<postgres::PostgresReader>(parts.url);
    parts.connected.readers.push_back(reader.get());
    parts.readers.push_back(std::move(reader));
  }
  parts.retention_reader = std::make_unique<postgres::PostgresReader>(parts.url);
  return {};
}

}  // namespace

Result<std::unique_ptr<Shard>> open_postgres_shard(const std::string& url, int shard, int shards,
                                                   const Options& options, const Clock& clock) {
  const postgres::ShardPosition where{shard, shards};
  ShardParts parts;
  parts.url = url;
  if (auto opened = open_commit_threads(parts, where, options); !opened) return opened.error();
  if (!options.archive_dir.empty()) {
    // Each database records its own archive files, so each needs a folder of its own.
    const std::string folder =
        shards == 1 ? options.archive_dir : options.archive_dir + "/shard-" + std::to_string(shard);
    if (auto fault = check_archive_folder(folder)) return *fault;
    auto known = parts.retention_reader->archive_files();
    if (!known) return known.error();
    parts.files = std::make_unique<ArchiveFiles>(folder, *known);
  }
  return std::unique_ptr<Shard>(std::make_unique<PostgresShard>(std::move(parts), options, clock));
}

}  // namespace eventq
