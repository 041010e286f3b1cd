// local_server.cc: see local_server.h.
#include "support/local_server.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "http/api/service.h"
#include "model/policy.h"
#include "support/open_engine.h"
#include "support/test_store.h"

namespace eventq {
namespace {

// Longer than any step takes, and shorter than the time limit of a test.
constexpr std::chrono::seconds kLimit{60};

}  // namespace

class LocalServer::CountingEngine final : public Engine {
 public:
  explicit CountingEngine(std::unique_ptr<Engine> inner) : inner_(std::move(inner)) {}

  void submit(Command command, AnswerSink& sink, std::uint64_t token) override {
    inner_->submit(std::move(command), sink, token);
    const std::scoped_lock lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  Answer call(Command command) override { return inner_->call(std::move(command)); }
  void cancel_wait(AnswerSink& sink, std::uint64_t token) override { inner_->cancel_wait(sink, token); }
  void end_all_waits() override { inner_->end_all_waits(); }
  void recheck_clock() override { inner_->recheck_clock(); }
  void stop() override { inner_->stop(); }

  std::size_t count() {
    const std::scoped_lock lock(mutex_);
    return count_;
  }
  bool await(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLimit, [&] { return count_ >= count; });
  }

 private:
  const std::unique_ptr<Engine> inner_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

LocalServer::LocalServer(std::string store, Options options, http::ApiExtension extension)
    : store_(std::move(store)), options_(std::move(options)), extension_(std::move(extension)) {
  EVENTQ_ASSERT(options_.clock != nullptr);
  start();
}

LocalServer::~LocalServer() { stop(); }

std::uint16_t LocalServer::port() const { return server_->port(); }

void LocalServer::restart() {
  stop();
  start();
}

// The first empty command may share a transaction with earlier commands, and be answered before them. Events
// that this transaction made ready go to waiting claims in the next one, with the second command. The third
// is in a later transaction, so all answers of the one before have been delivered. On PostgreSQL a
// notification is between the two, a claim is retried in any commit thread, and retried once more when its
// time is over: six are enough there.
void settle(Engine& engine) {
  const int batches = tests_postgres() ? 6 : 3;
  engine.recheck_clock();
  for (int i = 0; i < batches; ++i) {
    const Answer answer = engine.call({});
    EVENTQ_ASSERT(!answer.error);
  }
}

void LocalServer::settle() { eventq::settle(*engine_); }

std::size_t LocalServer::commands() const { return engine_->count(); }

void LocalServer::await_commands(std::size_t count) {
  const bool reached = engine_->await(count);
  EVENTQ_ASSERT(reached);
}

void LocalServer::start() {
  engine_ = std::make_unique<CountingEngine>(open_engine(store_, options_).value());
  service_ = http::make_service(*engine_, 1, *options_.clock, http::Hosts::loopback, default_policy(options_),
                                extension_);
  server_ = http::Server::start({.port = 0}, *service_).value();
}

void LocalServer::stop() {
  server_->close_listener();
  engine_->end_all_waits();
  const bool drained = server_->drain(kLimit);
  EVENTQ_ASSERT(drained);
  engine_->stop();
  server_->stop();
  server_.reset();
  service_.reset();
  engine_.reset();
}

}  // namespace eventq
