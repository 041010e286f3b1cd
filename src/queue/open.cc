// open.cc: opens a URL as an engine, and an engine or a server as a Queue. Only this file and
// shards/postgres_shard.cc name the concrete stores.
#include "queue/open.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/process_name.h"
#include "core/core.h"
#include "engine/commit_thread.h"
#include "engine/engine.h"
#include "engine/metrics_calls.h"
#include "engine/read_thread.h"
#include "engine/recovered_core.h"
#include "eventq/client.h"
#include "model/policy.h"
#include "model/validate.h"
#include "queue/embedded_queue.h"
#include "retention/archive_files.h"
#include "retention/retention.h"
#include "retention/retention_thread.h"
#include "shards/postgres_shard.h"
#include "shards/router.h"
#include "store/memory/memory_store.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"
#include "store/sqlite/sqlite_store.h"

namespace eventq {
namespace {

// The parts of a StoreEngine, opened and checked, so that its constructor cannot fail.
struct EngineParts {
  std::unique_ptr<Store> store;
  std::unique_ptr<Core> core;
  std::unique_ptr<Reader> reader;            // for the read thread
  std::unique_ptr<Reader> retention_reader;  // for the retention thread
  std::unique_ptr<ArchiveFiles> files;       // null: events are deleted without an archive
};

// An engine on one store in this process: a commit thread, a read thread and a retention thread.
class StoreEngine final : public Engine {
 public:
  StoreEngine(EngineParts parts, const Options& options, const Clock& clock)
      : logger_(options.logger),
        parts_(std::move(parts)),
        retention_(
            *parts_.retention_reader, [this](Command command) { return call(std::move(command)); },
            parts_.files.get(), default_policy(options)),
        metrics_calls_([this](Envelope<Command> request) { commit_thread_.submit(std::move(request)); },
                       [this](Envelope<Command> request) { read_thread_.submit(std::move(request)); }),
        commit_thread_(*parts_.store, *parts_.core, clock, logger_),
        read_thread_(std::move(parts_.reader)),
        retention_thread_([this](TimePoint now) { return retention_.step(now); }, clock, logger_) {}

  ~StoreEngine() override { stop(); }
  StoreEngine(const StoreEngine&) = delete;
  StoreEngine& operator=(const StoreEngine&) = delete;

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override {
    Envelope<Command> request{{&sink, token}, std::move(command)};
    if (std::holds_alternative<MetricsRequest>(request.content.admin)) {
      metrics_calls_.start(std::move(request));
    } else if (request.content.is_read()) {
      read_thread_.submit(std::move(request));
    } else {
      commit_thread_.submit(std::move(request));
    }
  }

  void cancel_wait(AnswerSink& sink, std::uint64_t token) override {
    commit_thread_.cancel_wait({&sink, token});
  }
  void end_all_waits() override { commit_thread_.end_all_waits(); }

  void recheck_clock() override {
    commit_thread_.recheck_clock();
    retention_thread_.recheck_clock();
  }

  // The retention thread first, because it may be waiting for an answer of the commit thread.
  void stop() override {
    retention_thread_.stop();
    commit_thread_.stop();
    read_thread_.stop();
  }

 private:
  const Logger logger_;
  EngineParts parts_;
  Retention retention_;
  MetricsCalls metrics_calls_;
  CommitThread commit_thread_;
  ReadThread read_thread_;
  RetentionThread retention_thread_;
};

Result<std::unique_ptr<Store>> open_store(std::string_view url, const Clock& clock) {
  if (url == "memory:") return memory::open_store(clock);
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    return sqlite::open_store(std::string(url.substr(kSqlite.size())), clock);
  }
  return Error{
      ErrorCode::invalid_argument,
      "Cannot open \"" + postgres::without_password(std::string(url)) +
          "\": a store is named sqlite:PATH, such as sqlite:eventq.db, or postgres://USER@HOST/DATABASE.",
      "store"};
}

// Opens everything that can fail. The archive comes last, because the store has the sizes of its files.
Result<EngineParts> open_parts(std::string_view url, const Options& options, const Clock& clock) {
  EngineParts parts;
  auto store = open_store(url, clock);
  if (!store) return store.error();
  parts.store = std::move(*store);
  auto core = recovered_core(*parts.store, core_options(options), options.logger);
  if (!core) return core.error();
  parts.core = std::move(*core);
  // Two readers, because each belongs to one thread.
  for (std::unique_ptr<Reader>* to : {&parts.reader, &parts.retention_reader}) {
    auto reader = parts.store->reader();
    if (!reader) return reader.error();
    *to = std::move(*reader);
  }
  if (options.archive_dir.empty()) return parts;
  auto files = open_archive(options.archive_dir, *parts.retention_reader);
  if (!files) return files.error();
  parts.files = std::move(*files);
  return parts;
}

bool is_postgres(std::string_view url) {
  return url.starts_with("postgres://") || url.starts_with("postgresql://");
}

Result<std::unique_ptr<Engine>> open_router(std::span<const std::string> urls, const Options& options) {
  for (const std::string& url : urls) {
    if (is_postgres(url)) continue;
    return Error{
        ErrorCode::invalid_argument,
        "Several stores make one queue only if all of them are postgres: databases; \"" + url + "\" is not.",
        "store"};
  }
  // Before any shard is opened, because recovery writes: databases that are not one set stay unchanged.
  const auto databases = postgres::check_schema(urls);
  if (!databases) return databases.error();
  const Clock& clock = options.clock ? *options.clock : system_clock();
  std::vector<std::unique_ptr<Shard>> shards;
  for (const std::string& url : urls) {
    auto shard = open_postgres_shard(url, static_cast<int>(shards.size()), static_cast<int>(urls.size()),
                                     options, clock);
    if (!shard) return shard.error();
    shards.push_back(std::move(*shard));
  }
  RouterOptions router_options{.stale_after = options.stale_after};
  // If the databases run on this machine, they share its cores with us. More commit threads than cores would
  // then not run in parallel, and would only make the batches smaller.
  if (std::ranges::all_of(*databases, &postgres::DatabaseState::here)) {
    router_options.commit_threads = std::thread::hardware_concurrency();
  }
  return std::unique_ptr<Engine>(std::make_unique<Router>(std::move(shards), clock, router_options));
}

}  // namespace

Result<std::unique_ptr<Engine>> open_engine(std::span<const std::string> urls, const Options& options) {
  if (auto fault = validate(options)) return *fault;
  if (urls.empty()) {
    return Error{ErrorCode::invalid_argument, "No store is named. Name one, such as sqlite:eventq.db.",
                 "store"};
  }
  // One PostgreSQL database is opened as a queue with one shard, because other servers may share it.
  if (urls.size() > 1 || is_postgres(urls.front())) return open_router(urls, options);
  const Clock& clock = options.clock ? *options.clock : system_clock();
  auto parts = open_parts(urls.front(), options, clock);
  if (!parts) return parts.error();
  return std::unique_ptr<Engine>(std::make_unique<StoreEngine>(std::move(*parts), options, clock));
}

Result<std::unique_ptr<Queue>> Queue::open(std::string_view url, const Options& options) {
  if (url.starts_with("http")) {
    auto client = Client::connect(url, {.worker_id = options.worker_id, .logger = options.logger});
    if (!client) return client.error();
    return std::unique_ptr<Queue>(std::move(*client));
  }
  const std::string urls[] = {std::string(url)};
  return open(urls, options);
}

Result<std::unique_ptr<Queue>> Queue::open(std::span<const std::string> urls, const Options& options) {
  auto engine = open_engine(urls, options);
  if (!engine) return engine.error();
  std::string worker_id = options.worker_id.empty() ? process_name() : options.worker_id;
  return std::unique_ptr<Queue>(
      std::make_unique<EmbeddedQueue>(std::move(*engine), std::move(worker_id), default_policy(options)));
}

}  // namespace eventq
