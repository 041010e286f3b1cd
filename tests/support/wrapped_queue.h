// wrapped_queue.h: a Queue that passes every call to another one, so that a test can override some of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/queue.h"

namespace eventq {

class WrappedQueue : public Queue {
 public:
  explicit WrappedQueue(Queue& inner) : inner_(inner) {}

  Result<Event> publish(const NewEvent& event) override { return inner_.publish(event); }
  Result<std::vector<Event>> publish_batch(std::span<const NewEvent> events) override {
    return inner_.publish_batch(events);
  }
  Result<std::optional<Claim>> poll(const PollRequest& request) override { return inner_.poll(request); }
  Result<LogEntry> complete(const Lease& lease, const Outcome& outcome) override {
    return inner_.complete(lease, outcome);
  }
  Result<LogEntry> fail(const Lease& lease, const Failure& failure) override {
    return inner_.fail(lease, failure);
  }
  Result<LogEntry> give_back(const Lease& lease, const Return& how) override {
    return inner_.give_back(lease, how);
  }
  Result<NextResult> next(const NextRequest& request) override { return inner_.next(request); }
  Result<void> sign_off(const std::string& worker_id) override { return inner_.sign_off(worker_id); }
  Result<TimePoint> heartbeat(const Lease& lease) override { return inner_.heartbeat(lease); }
  Result<void> finalize(EventId id, const std::vector<std::string>& errors) override {
    return inner_.finalize(id, errors);
  }
  Result<void> finalize(EventId id, const Outcome& outcome) override { return inner_.finalize(id, outcome); }
  Result<void> finalize(EventId id, Verdict verdict) override { return inner_.finalize(id, verdict); }
  Result<Event> wait(EventId id, Millis timeout) override { return inner_.wait(id, timeout); }
  Result<QueueConfig> settings(const std::string& name) override { return inner_.settings(name); }
  Result<EventId> find(std::string_view event_id) override { return inner_.find(event_id); }
  Result<Event> get(EventId id) override { return inner_.get(id); }
  Result<std::vector<LogEntry>> log(EventId id) override { return inner_.log(id); }

 private:
  Queue& inner_;
};

}  // namespace eventq
