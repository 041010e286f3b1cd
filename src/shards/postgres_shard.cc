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

// While one commits, another gathers the next batch; more of them make smaller batches.
constexpr int kCommitThreads = 2;
constexpr int kReadThreads = 2;
// Old events may stay a little longer; an idle server shall cost little.
constexpr RetentionThread::Pauses kPauses{.between_steps = Millis(5), .when_idle = std::chrono::seconds(10)};
// What hangs at the end, such as a commit that waits for a standby, is let go of then.
constexpr std::chrono::seconds kStopPatience{5};

// What can hang on a database that does not answer. Owned by the commit threads.
struct Connected {
  std::vector<postgres::PostgresStore*> stores;
  std::vector<postgres::PostgresReader*> readers;
};

struct ShardParts {
  std::string url;
  std::vector<ThreadShard::Writer> writers;
  std::vector<std::unique_ptr<Reader>> readers;
  Connected connected;
  std::unique_ptr<postgres::PostgresReader> retention_reader;
  std::unique_ptr<ArchiveFiles> files;  // nothing: events leave for nowhere
};

class PostgresShard final : public Shard, private Shard::Watcher {
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

  void start(Shard::Watcher& watcher, int place) override {
    watcher_ = &watcher;
    place_ = place;
    commit_threads_.start(*this, place);
    notifier_ = std::make_unique<postgres::Notifier>(
        url_,
        postgres::Notifier::Callbacks{
            .on_hint =
                [this](const postgres::Hint& hint) {
                  watcher_->on_hint(place_, Hint{hint.ready, hint.all, {}, hint.ended});
                },
            .on_health = [this](bool up) { on_health(place_, up); }},
        logger_);
    teller_ = notifier_.get();
    retention_thread_ = std::make_unique<RetentionThread>([this](TimePoint now) { return retire(now); },
                                                          clock_, logger_, kPauses);
  }

  [[nodiscard]] std::string name() const override { return commit_threads_.name(); }
  [[nodiscard]] std::size_t commit_threads() const override { return commit_threads_.commit_threads(); }
  void submit(std::size_t commit_thread, Envelope<Command> request) override {
    commit_threads_.submit(commit_thread, std::move(request));
  }
  void read(Envelope<Command> request) override { commit_threads_.read(std::move(request)); }
  void care(bool anybody) override {
    if (!stopping_) notifier_->care(anybody);
  }
  void recheck_clock() override {
    commit_threads_.recheck_clock();
    retention_thread_->recheck_clock();
  }

  // The notifier last: it interrupts whatever hangs.
  void stop() override {
    if (!notifier_) return;
    stopping_ = true;
    notifier_->care(true);
    std::promise<void> ended;
    const auto impatience = std::async(std::launch::async, [this, end = ended.get_future()] {
      if (end.wait_for(kStopPatience) != std::future_status::ready) interrupt(true);
    });
    retention_thread_->stop();
    lock_.release();
    commit_threads_.stop();
    ended.set_value();
    impatience.wait();
    teller_ = nullptr;
    notifier_.reset();
  }

 private:
  // From the commit threads: for those who wait here, and those who wait elsewhere.
  void on_hint(int place, const Hint& hint) override {
    watcher_->on_hint(place, hint);
    if (postgres::Notifier* teller = teller_) teller->tell({hint.ready, hint.all, !hint.ended.empty()});
  }

  // Those who asked are answered first, then what hangs is let go of.
  void on_health(int place, bool up) override {
    if (!up) watcher_->on_health(place, false);
    interrupt(!up);
    if (up) watcher_->on_health(place, true);
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
      // Whoever had it before may have written to them.
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
  const bool own_clock_;  // the clock is the database's, too
  const Connected connected_;
  const std::unique_ptr<postgres::PostgresReader> retention_reader_;
  const std::unique_ptr<ArchiveFiles> files_;

  // Set by start().
  Shard::Watcher* watcher_ = nullptr;
  int place_ = 0;

  postgres::RetentionLock lock_;  // touched by the retention thread's thread only, as is retention_
  Retention retention_;
  ThreadShard commit_threads_;
  std::unique_ptr<postgres::Notifier> notifier_;
  std::atomic<postgres::Notifier*> teller_ = nullptr;  // the notifier, for the commit threads' threads
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<RetentionThread> retention_thread_;
};

Result<void> open_commit_threads(ShardParts& parts, const postgres::Place& place, const Options& options) {
  for (int commit_thread = 0; commit_thread < kCommitThreads; ++commit_thread) {
    auto store = postgres::make_store(parts.url, place, options.clock);
    CoreOptions core = core_options(options);
    core.maintains = commit_thread == 0;
    core.shard = place.place;
    core.shards = place.of;
    auto recovered = recovered_core(*store, std::move(core), commit_thread == 0 ? options.logger : Logger());
    if (!recovered) return recovered.error();
    parts.connected.stores.push_back(store.get());
    parts.writers.push_back({std::move(store), std::move(*recovered)});
  }
  for (int commit_thread = 0; commit_thread < kReadThreads; ++commit_thread) {
    auto reader = std::make_unique<postgres::PostgresReader>(parts.url);
    parts.connected.readers.push_back(reader.get());
    parts.readers.push_back(std::move(reader));
  }
  parts.retention_reader = std::make_unique<postgres::PostgresReader>(parts.url);
  return {};
}

}  // namespace

Result<std::unique_ptr<Shard>> open_postgres_shard(const std::string& url, int place, int of,
                                                   const Options& options, const Clock& clock) {
  const postgres::Place where{place, of};
  ShardParts parts;
  parts.url = url;
  if (auto opened = open_commit_threads(parts, where, options); !opened) return opened.error();
  if (!options.archive_dir.empty()) {
    // Each database knows its own files.
    const std::string folder =
        of == 1 ? options.archive_dir : options.archive_dir + "/shard-" + std::to_string(place);
    if (auto fault = check_archive_folder(folder)) return *fault;
    auto known = parts.retention_reader->archive_files();
    if (!known) return known.error();
    parts.files = std::make_unique<ArchiveFiles>(folder, *known);
  }
  return std::unique_ptr<Shard>(std::make_unique<PostgresShard>(std::move(parts), options, clock));
}

}  // namespace eventq
