// admin.cc: see eventq/admin.h. Passes each call to the queue, when the queue is one of ours.
#include "eventq/admin.h"

#include "model/admin_calls.h"

namespace eventq {
namespace {

Error foreign_queue() {
  return {ErrorCode::invalid_argument,
          "Admin needs a queue made by Queue::open() or Client::connect(); this one is another class.",
          "queue"};
}

}  // namespace

Admin::Admin(Queue& queue) : queue_(queue), calls_(dynamic_cast<AdminCalls*>(&queue)) {}

Result<EventList> Admin::list(const EventQuery& query) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->list_events(query);
}

Result<LogEntry> Admin::cancel(EventId id, const Actor& actor) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->intervene(id, EventIntervention::cancel, actor);
}

Result<LogEntry> Admin::retry(EventId id, const Actor& actor) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->intervene(id, EventIntervention::retry, actor);
}

Result<void> Admin::pause(const std::string& queue, const Actor& actor) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->intervene(queue, QueueIntervention::pause, actor);
}

Result<void> Admin::resume(const std::string& queue, const Actor& actor) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->intervene(queue, QueueIntervention::resume, actor);
}

Result<FailureList> Admin::failures(const std::string& queue, std::size_t limit) {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->list_failures(queue, limit);
}

Result<WorkerList> Admin::workers() {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->list_workers();
}

Result<Figures> Admin::metrics() {
  if (calls_ == nullptr) return foreign_queue();
  return calls_->read_figures();
}

}  // namespace eventq
