// open.cc: from a URL to a running engine, and from an engine to a Queue. The one file that
// names the concrete stores.
#include <unistd.h>

#include <array>
#include <future>
#include <string>
#include <utility>

#include "model/validate.h"
#include "queue/core.h"
#include "queue/engine.h"
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

class EngineImpl final : public Engine {
 public:
  EngineImpl(std::unique_ptr<Store> store, std::unique_ptr<Reader> reader, const Options& options,
             const Clock& clock)
      : logger_(options.logger),
        store_(std::move(store)),
        core_(*store_, {options.retry, options.lease, options.max_retries, options.max_attempts},
              Uuid7Source::from_entropy()),
        lane_(*store_, core_, clock, logger_),
        read_lane_(std::move(reader)) {}

  void submit(Command command, Sink& sink, std::uint64_t token) override {
    Request request{{&sink, token}, std::move(command)};
    if (request.command.get || request.command.list) {
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
  void poke() override { lane_.poke(); }

  void stop() override {
    lane_.stop();
    read_lane_.stop();
  }

 private:
  const Logger logger_;
  const std::unique_ptr<Store> store_;
  Core core_;
  Lane lane_;
  ReadLane read_lane_;
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

std::string default_worker_id() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return "localhost:" + std::to_string(getpid());
  return std::string(host.data()) + ":" + std::to_string(getpid());
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(std::string_view url, const Options& options) {
  if (auto fault = validate(options)) return *fault;
  const Clock& clock = options.clock ? *options.clock : system_clock();
  auto store = open_store(url, clock);
  if (!store) return store.error();
  auto reader = (*store)->reader();
  if (!reader) return reader.error();
  return std::unique_ptr<Engine>(
      std::make_unique<EngineImpl>(std::move(*store), std::move(*reader), options, clock));
}

Result<std::unique_ptr<Queue>> Queue::open(std::string_view url, const Options& options) {
  auto engine = Engine::open(url, options);
  if (!engine) return engine.error();
  std::string worker_id = options.worker_id.empty() ? default_worker_id() : options.worker_id;
  return std::unique_ptr<Queue>(std::make_unique<QueueImpl>(std::move(*engine), std::move(worker_id)));
}

}  // namespace eventq
