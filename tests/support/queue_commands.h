// queue_commands.h: more makers of commands: changes of queues, replays, batches, and waits for an end.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/commands.h"

namespace eventq {

inline Command ask(AdminRequest ask) {
  Command command;
  command.admin = std::move(ask);
  return command;
}

inline Command configure(std::string queue, QueueConfig config) {
  return ask(QueueChange{std::move(queue), QueueChange::Configure{std::move(config)}});
}

inline Command set_status(std::string queue, QueueStatus status, std::string reason = "",
                          std::string by = "") {
  return ask(
      QueueChange{std::move(queue), QueueChange::SetStatus{status}, {std::move(by), std::move(reason)}});
}
inline Command pause(std::string queue) { return set_status(std::move(queue), QueueStatus::paused); }
inline Command drain(std::string queue) { return set_status(std::move(queue), QueueStatus::draining); }
inline Command resume(std::string queue) { return set_status(std::move(queue), QueueStatus::active); }

inline Command make_checkpoint(std::string queue) {
  return ask(QueueChange{std::move(queue), QueueChange::MakeCheckpoint{}});
}

inline Command delete_checkpoint(std::string queue, std::string id) {
  return ask(QueueChange{std::move(queue), QueueChange::DeleteCheckpoint{std::move(id)}});
}

inline Command remove_queue(std::string queue) {
  return ask(QueueChange{std::move(queue), QueueChange::Remove{}});
}

inline Command supersede_key(std::string queue, std::string key, std::string reason = "") {
  return ask(
      QueueChange{std::move(queue), QueueChange::SupersedeKey{std::move(key)}, {"", std::move(reason)}});
}

inline Command replay(EndedFilter filter, std::optional<std::string> checkpoint = {}, bool dry_run = false) {
  return ask(Revival{RevivalKind::replay, std::move(filter), std::move(checkpoint), "", dry_run});
}

// Resets failed events only.
inline Command retry_failed(EndedFilter filter, bool dry_run = false) {
  filter.statuses = {Status::failed};
  return ask(Revival{RevivalKind::retry, std::move(filter), std::nullopt, "fixed", dry_run});
}

// Claims events of one queue, with any tag.
inline Command claim_in(std::string queue, std::string worker_id, std::size_t limit = 1) {
  Command command = claim({}, std::move(worker_id), limit);
  command.claim->selector.queue = std::move(queue);
  return command;
}
inline Command claim_in_or_wait(std::string queue, std::string worker_id, std::size_t limit = 1) {
  Command command = claim_in(std::move(queue), std::move(worker_id), limit);
  command.claim->wait = std::chrono::seconds(20);
  return command;
}

// Waits for up to 20 seconds, as claim_or_wait() does.
inline Command wait_for(decltype(WaitRequest::what) what) {
  Command command;
  command.wait = WaitRequest{std::move(what), std::chrono::seconds(20)};
  return command;
}
inline Command publish_and_wait(NewEvent event) {
  Command command = publish(std::move(event));
  command.wait = WaitRequest{WaitRequest::ThisPublication{}, std::chrono::seconds(20)};
  return command;
}

// A batch with a correlation id; the Core makes one if it is empty.
inline Command batch(std::vector<NewEvent> events, const std::string& correlation_id = "",
                     std::optional<NewEvent> on_complete = {}) {
  for (NewEvent& event : events) event.correlation_id = correlation_id;
  Command command = publish_all(std::move(events));
  command.publication->correlated = true;
  command.publication->on_complete = std::move(on_complete);
  return command;
}

inline Command fail_for_good(Lease lease, std::string message = "") {
  Failure failure;
  failure.message = std::move(message);
  failure.permanent = true;
  return change({std::move(lease), Fail{std::move(failure)}});
}

// The answer to an AdminRequest.
// REQUIRES: its type is Result<T>.
template <typename T>
const Result<T>& admin_answer(const Answer& answer) {
  return std::get<Result<T>>(answer.admin);
}

}  // namespace eventq
