// embedded_queue.h: the public Queue on an engine in this process: validates each call, and waits for its
// answer.
//
// Threads: see eventq/queue.h.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/queue.h"
#include "model/admin_calls.h"
#include "model/policy.h"
#include "model/polled_events.h"

namespace eventq {

class EmbeddedQueue final : public Queue, public AdminCalls {
 public:
  // REQUIRES: `defaults` are the defaults of the engine, because settings() resolves with them.
  EmbeddedQueue(std::unique_ptr<Engine> engine, std::string worker_id, const Policy& defaults);

  Result<Event> publish(const NewEvent& event) override;
  Result<std::vector<Event>> publish_batch(std::span<const NewEvent> events) override;
  Result<std::optional<Claim>> poll(const PollRequest& request) override;
  Result<LogEntry> complete(const Lease& lease, const Outcome& outcome) override;
  Result<LogEntry> fail(const Lease& lease, const Failure& failure) override;
  Result<LogEntry> give_back(const Lease& lease, const Return& how) override;
  Result<NextResult> next(const NextRequest& request) override;
  Result<void> sign_off(const std::string& worker_id) override;
  Result<TimePoint> heartbeat(const Lease& lease) override;
  Result<void> finalize(EventId id, const std::vector<std::string>& errors) override;
  Result<void> finalize(EventId id, const Outcome& outcome) override;
  Result<void> finalize(EventId id, Verdict verdict) override;
  Result<Event> wait(EventId id, Millis timeout) override;
  Result<QueueConfig> settings(const std::string& name) override;
  Result<EventId> find(std::string_view event_id) override;
  Result<Event> get(EventId id) override;
  Result<std::vector<LogEntry>> log(EventId id) override;

  // embedded_admin.cc
  Result<EventList> list_events(const EventQuery& query) override;
  Result<LogEntry> intervene(EventId id, EventIntervention what, const Actor& actor) override;
  Result<void> intervene(const std::string& queue, QueueIntervention what, const Actor& actor) override;
  Result<FailureList> list_failures(const std::string& queue, std::size_t limit) override;
  Result<WorkerList> list_workers() override;
  Result<Figures> read_figures() override;

  // For a server on this queue (src/serve): the engine, its defaults, and a sink that lives as long as the
  // engine may deliver to it.
  [[nodiscard]] Engine& engine() { return *engine_; }
  [[nodiscard]] const Policy& defaults() const { return defaults_; }
  void keep_until_stopped(std::unique_ptr<AnswerSink> sink);

 private:
  Result<Changed> change(Change change);
  Result<LogEntry> report(Change change);
  Result<void> finish(EventId id, decltype(Change::what) what);
  Result<Details> details(EventId id);

  // Guarded by mutex_. Before engine_, so that the engine stops first.
  std::mutex mutex_;
  std::vector<std::unique_ptr<AnswerSink>> kept_sinks_;

  // Set in the constructor, never changed.
  const std::unique_ptr<Engine> engine_;
  const Policy defaults_;

  PolledEvents polled_;
};

}  // namespace eventq
