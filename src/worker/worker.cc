// worker.cc: see eventq/worker.h.
#include "eventq/worker.h"

#include <utility>

#include "base/assert.h"
#include "worker/runtime.h"

namespace eventq {

Worker::Worker(Queue& queue, WorkerOptions options)
    : runtime_(std::make_shared<Runtime>(queue, std::move(options))) {}

Worker::~Worker() { stop(); }

Worker& Worker::on_tag(std::string tag, Handler handler) {
  EVENTQ_ASSERT(!runtime_->started());
  runtime_->handlers.on_tag(std::move(tag), std::move(handler));
  return *this;
}

Worker& Worker::on_pattern(std::string pattern, Handler handler) {
  EVENTQ_ASSERT(!runtime_->started());
  runtime_->handlers.on_pattern(std::move(pattern), std::move(handler));
  return *this;
}

Result<void> Worker::start() { return Runtime::start(runtime_); }

bool Worker::stop() { return runtime_->stop(); }

Worker::Stats Worker::stats() const { return runtime_->stats(); }

}  // namespace eventq
