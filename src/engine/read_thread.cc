// read_thread.cc: see read_thread.h.
#include "engine/read_thread.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/overloaded.h"
#include "core/core.h"

namespace eventq {
namespace {

Error no_queue(const std::string& id) {
  return {ErrorCode::not_found,
          "There is no queue \"" + id + "\"; `eventq queue ls` or GET /queues lists the queues.", "queue"};
}

Error no_recovery(const std::string& queue) {
  return {ErrorCode::not_found, "Queue \"" + queue + "\" did not exist when the server started.", "queue"};
}

// Turns an empty result into the error missing(id).
template <typename T, typename MakeError, typename Id>
Result<T> found(Result<std::optional<T>> result, const MakeError& missing, const Id& id) {
  if (!result) return result.error();
  if (!*result) return missing(id);
  return std::move(**result);
}

}  // namespace

ReadThread::ReadThread(std::unique_ptr<Reader> reader)
    : reader_(std::move(reader)), thread_([this] { loop(); }) {}

ReadThread::~ReadThread() { stop(); }

void ReadThread::submit(Envelope<Command> request) {
  std::unique_lock lock(mutex_);
  if (ended_) {
    lock.unlock();
    refuse_closed(request.reply_to);
    return;
  }
  requests_.push_back(std::move(request));
  work_.notify_one();
}

void ReadThread::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void ReadThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return !requests_.empty() || stopping_; });
    ended_ = requests_.empty();  // stop() lets the thread answer what was submitted
    if (ended_) return;
    const Envelope<Command> request = std::move(requests_.front());
    requests_.pop_front();
    lock.unlock();
    std::vector<Envelope<Answer>> answers;
    answers.push_back({request.reply_to, answer(request.content)});
    deliver(std::move(answers));
    lock.lock();
  }
}

Answer ReadThread::answer(const Command& command) {
  Answer answer;
  if (command.get) answer.details = found(reader_->details(*command.get), no_event, *command.get);
  if (command.list) answer.page = reader_->list(*command.list);
  std::visit(Overloaded{
                 [&](const QueueQuery& it) {
                   answer.admin = found(reader_->queue(it.id, it.events), no_queue, it.id);
                 },
                 [&](const QueuesQuery&) { answer.admin = reader_->queues(); },
                 [&](const CheckpointsQuery& it) { answer.admin = checkpoints(it); },
                 [&](const RecoveryQuery& it) {
                   answer.admin = found(reader_->recovery(it.queue), no_recovery, it.queue);
                 },
                 [&](const CorrelationQuery& it) {
                   answer.admin =
                       found(reader_->correlation(it.id, it.after, it.limit), no_correlation, it.id);
                 },
                 [&](const FailuresQuery& it) { answer.admin = reader_->failures(it.queue, it.limit); },
                 [&](const HoldingQuery& it) { answer.admin = reader_->holding(it.worker_id, it.queue); },
                 [&](const UnattendedQuery& it) { answer.admin = reader_->unattended(it.queues); },
                 [&](const EventIdsQuery& it) { answer.admin = find(it); },
                 [&](const WorkerLogQuery& it) { answer.admin = reader_->worker_log(it.filter); },
                 [&](const QueueLogQuery& it) { answer.admin = queue_log(it.filter); },
                 [](const auto&) {},
             },
             command.admin);
  return answer;
}

Result<FoundEvents> ReadThread::find(const EventIdsQuery& ask) {
  const auto ids = reader_->find(ask.event_ids);
  if (!ids) return ids.error();
  FoundEvents found;
  for (const std::optional<EventId>& id : *ids) {
    found.events.push_back(id ? std::vector{*id} : std::vector<EventId>());
  }
  return found;
}

// The log of a deleted queue can still be read.
Result<std::vector<QueueLogEntry>> ReadThread::queue_log(const QueueLogFilter& filter) {
  auto entries = reader_->queue_log(filter);
  if (!entries || !entries->empty() || !filter.before.empty()) return entries;
  const auto queue = found(reader_->queue(filter.queue, 0), no_queue, filter.queue);
  if (!queue) return queue.error();
  return entries;
}

Result<std::vector<Checkpoint>> ReadThread::checkpoints(const CheckpointsQuery& ask) {
  const auto queue = found(reader_->queue(ask.queue, 0), no_queue, ask.queue);
  if (!queue) return queue.error();
  return reader_->checkpoints(ask.queue, ask.limit);
}

}  // namespace eventq
