// open.cc: from a URL to a running engine, and from an engine, or a server, to a Queue. The one file that
// names the concrete stores.
#include <unistd.h>

#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/process_name.h"
#include "base/steady.h"
#include "base/time_text.h"
#include "eventq/client.h"
#include "model/policy.h"
#include "model/validate.h"
#include "queue/archive_files.h"
#include "queue/core.h"
#include "queue/engine.h"
#include "queue/keeper.h"
#include "queue/lane.h"
#include "queue/queue_impl.h"
#include "queue/read_lane.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace eventq {
namespace {

// A sink for one answer and one waiting thread.
class OneAnswer final : public Sink {
 public:
  void deliver(std::vector<Delivery> deliveries) override {
    promise_.set_value(std::move(deliveries.front().answer));
  }
  Answer wait() { return promise_.get_future().get(); }

 private:
  std::promise<Answer> promise_;
};

CoreOptions core_options(const Options& options) {
  return {default_policy(options), options.queues, options.stale_after, options.start_within};
}

// What an engine is made of, opened and checked.
struct Parts {
  std::unique_ptr<Store> store;
  std::unique_ptr<Core> core;
  std::unique_ptr<Reader> reader;         // of the read lane
  std::unique_ptr<Reader> keeper_reader;  // of the keeper
  std::unique_ptr<ArchiveFiles> files;    // nothing: events leave for nowhere
};

class EngineImpl final : public Engine {
 public:
  EngineImpl(Parts parts, const Options& options, const Clock& clock)
      : logger_(options.logger),
        store_(std::move(parts.store)),
        core_(std::move(parts.core)),
        keeper_reader_(std::move(parts.keeper_reader)),
        files_(std::move(parts.files)),
        retirement_(
            *keeper_reader_, [this](Command command) { return call(std::move(command)); }, files_.get(),
            stored_policies(default_policy(options))),
        lane_(*store_, *core_, clock, logger_),
        read_lane_(std::move(parts.reader)),
        keeper_([this](TimePoint now) { return retirement_.step(now); }, clock, logger_) {}

  ~EngineImpl() override { stop(); }
  EngineImpl(const EngineImpl&) = delete;
  EngineImpl& operator=(const EngineImpl&) = delete;

  void submit(Command command, Sink& sink, std::uint64_t token) override {
    Request request{{&sink, token}, std::move(command)};
    if (request.command.is_read()) {
      read_lane_.submit(std::move(request));
    } else {
      lane_.submit(std::move(request));
    }
  }

  Answer call(Command command) override {
    OneAnswer sink;
    submit(std::move(command), sink, 0);
    return sink.wait();
  }

  void forget(Sink& sink, std::uint64_t token) override { lane_.forget({&sink, token}); }
  void dismiss_waiters() override { lane_.dismiss_waiters(); }

  void poke() override {
    lane_.poke();
    keeper_.poke();
  }

  // The keeper first: it waits for answers of the lane.
  void stop() override {
    keeper_.stop();
    lane_.stop();
    read_lane_.stop();
  }

 private:
  const Logger logger_;
  const std::unique_ptr<Store> store_;
  const std::unique_ptr<Core> core_;
  const std::unique_ptr<Reader> keeper_reader_;
  const std::unique_ptr<ArchiveFiles> files_;
  Retirement retirement_;
  Lane lane_;
  ReadLane read_lane_;
  Keeper keeper_;
};

Result<std::unique_ptr<Store>> open_store(std::string_view url, const Clock& clock) {
  if (url == "memory:") return memory::open_store(clock);
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    return sqlite::open_store(std::string(url.substr(kSqlite.size())), clock);
  }
  return Error{
      ErrorCode::invalid_argument,
      "Cannot open \"" + std::string(url) + "\": a store is named sqlite:PATH, such as sqlite:eventq.db.",
      "store"};
}

Result<std::unique_ptr<Core>> recovered_core(Store& store, const Options& options) {
  auto core = std::make_unique<Core>(store, core_options(options), Uuid7Source::from_entropy());
  const SteadyTime start = steady_now();
  const auto live = core->recover();
  if (!live) return live.error();
  if (options.logger) {
    options.logger(LogLevel::info, LogLine("recovered")
                                       .add("live_events", std::to_string(*live))
                                       .add("took", format_duration(millis_since(start)))
                                       .str());
  }
  return core;
}

// Better known at the start than when the first event leaves.
std::optional<Error> check_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed && std::filesystem::is_directory(folder, failed) && access(folder.c_str(), W_OK | X_OK) == 0) {
    return std::nullopt;
  }
  return Error{ErrorCode::invalid_argument,
               "archive_dir is " + folder + ", which is no folder that can be written to. Name another one.",
               "archive_dir"};
}

Result<Parts> open_parts(std::string_view url, const Options& options, const Clock& clock) {
  Parts parts;
  auto store = open_store(url, clock);
  if (!store) return store.error();
  parts.store = std::move(*store);
  auto core = recovered_core(*parts.store, options);
  if (!core) return core.error();
  parts.core = std::move(*core);
  for (std::unique_ptr<Reader>* to : {&parts.reader, &parts.keeper_reader}) {
    auto reader = parts.store->reader();
    if (!reader) return reader.error();
    *to = std::move(*reader);
  }
  if (options.archive_dir.empty()) return parts;
  if (auto fault = check_folder(options.archive_dir)) return *fault;
  auto files = parts.keeper_reader->archive_files();
  if (!files) return files.error();
  parts.files = std::make_unique<ArchiveFiles>(options.archive_dir, *files);
  return parts;
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(std::string_view url, const Options& options) {
  if (auto fault = validate(options)) return *fault;
  const Clock& clock = options.clock ? *options.clock : system_clock();
  auto parts = open_parts(url, options, clock);
  if (!parts) return parts.error();
  return std::unique_ptr<Engine>(std::make_unique<EngineImpl>(std::move(*parts), options, clock));
}

Result<std::unique_ptr<Queue>> Queue::open(std::string_view url, const Options& options) {
  if (url.starts_with("http")) {
    auto client = Client::connect(url, {.worker_id = options.worker_id, .logger = options.logger});
    if (!client) return client.error();
    return std::unique_ptr<Queue>(std::move(*client));
  }
  auto engine = Engine::open(url, options);
  if (!engine) return engine.error();
  std::string worker_id = options.worker_id.empty() ? process_name() : options.worker_id;
  return std::unique_ptr<Queue>(
      std::make_unique<QueueImpl>(std::move(*engine), std::move(worker_id), default_policy(options)));
}

}  // namespace eventq
