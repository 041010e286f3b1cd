// retention.cc: see retention.h.
#include "retention/retention.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace eventq {
namespace {

constexpr Status kEnded[] = {Status::completed, Status::completed_with_errors, Status::failed,
                             Status::superseded, Status::cancelled};

// About the bytes that an event takes in memory: its payload and error texts. The other fields are small.
std::size_t weight(const Details& details) {
  std::size_t bytes = details.event.payload.size();
  for (const LogEntry& entry : details.log) {
    if (entry.error_message) bytes += entry.error_message->size();
    for (const std::string& error : entry.errors) bytes += error.size();
  }
  return bytes;
}

}  // namespace

Retention::Retention(Reader& reader, CallEngine call, ArchiveFiles* files, const Policy& defaults)
    : reader_(reader), call_(std::move(call)), files_(files), defaults_(defaults) {}

Result<std::size_t> Retention::step(TimePoint now) {
  if (auto settled = settle(); !settled) return settled.error();
  auto found = find(now);
  if (!found) return found.error();
  Removal removal{std::move(found->events), std::nullopt};
  if (files_ != nullptr) {
    if (auto archived = archive(removal, now); !archived) return archived.error();
  }
  if (!removal.events.empty()) return remove(std::move(removal));
  if (found->fault) return *found->fault;
  return std::size_t{0};
}

// After a commit with unknown outcome the store may or may not have the new size of the archive file. A later
// commit that succeeds (the probe) makes the answer final, and then the reader can tell. Until then append()
// must not run, because it cuts the file at the size it believes in.
Result<void> Retention::settle() {
  if (!in_doubt_) return {};
  if (Answer answer = call_({.probe = true}); answer.error) return std::move(*answer.error);
  const auto stored = reader_.archive_files();
  if (!stored) return stored.error();
  files_->confirm(*stored);
  in_doubt_ = false;
  return {};
}

Result<Retention::ExpiredEvents> Retention::find(TimePoint now) {
  auto queues = reader_.queues();
  if (!queues) return queues.error();
  const auto next = std::find_if(queues->begin(), queues->end(),
                                 [&](const QueueDocument& queue) { return queue.row.id > last_queue_; });
  // queues() is sorted by name, so this resumes behind the queue that filled the last step.
  std::rotate(queues->begin(), next, queues->end());

  ExpiredEvents found;
  last_queue_.clear();
  for (const QueueDocument& queue : *queues) {
    if (auto searched = find_in(queue, now, found); !searched) return searched.error();
    if (found.events.size() < kStep) continue;
    last_queue_ = queue.row.id;
    break;
  }
  return found;
}

Result<void> Retention::find_in(const QueueDocument& queue, TimePoint now, ExpiredEvents& found) {
  const auto ended = [&](Status status) { return queue.counts.at(static_cast<std::size_t>(status)) > 0; };
  // The document has the counters, so a queue without ended events costs no query.
  if (std::none_of(std::begin(kEnded), std::end(kEnded), ended)) return {};
  const QueueRow& row = queue.row;
  const auto policy = policy_of(row, defaults_);
  if (!policy) {
    found.fault = policy.error();
    found.fault->message = "Queue " + row.id + ": " + found.fault->message;
    return {};
  }
  for (const Status status : kEnded) {
    const std::size_t left = kStep - found.events.size();
    if (left == 0) return {};
    if (!ended(status)) continue;
    const auto expired = reader_.expired(row.id, status, now - retention(*policy, status), left);
    if (!expired) return expired.error();
    found.events.insert(found.events.end(), expired->begin(), expired->end());
  }
  return {};
}

// Writes events to the archive, and leaves in `removal` only those that were written: few large events fill a
// step before kStep does.
Result<void> Retention::archive(Removal& removal, TimePoint now) {
  std::vector<Details> events;
  std::size_t bytes = 0;
  for (const EventId id : removal.events) {
    auto details = reader_.details(id);
    if (!details) return details.error();
    if (!*details) continue;
    bytes += weight(**details);
    events.push_back(std::move(**details));
    if (bytes >= kClaimBytes) break;
  }
  removal.events.clear();
  if (events.empty()) return {};
  auto file = files_->append(events, now);
  if (!file) return file.error();
  for (const Details& details : events) removal.events.push_back(details.event.id);
  removal.file = std::move(*file);
  return {};
}

Result<std::size_t> Retention::remove(Removal removal) {
  const std::optional<ArchiveFile> file = removal.file;
  Answer answer = call_({.admin = std::move(removal)});
  if (answer.error) {
    in_doubt_ = file && answer.error->code == ErrorCode::unknown_outcome;
    return std::move(*answer.error);
  }
  const auto* const removed = std::get_if<Removed>(&answer.admin);
  if (removed == nullptr) {
    return Error{ErrorCode::internal, "A removal was answered without saying how many events it removed."};
  }
  // If an event was reset meanwhile, the Core removed none of them. Without confirm() the next append() cuts
  // off what this step wrote.
  if (file && removed->events > 0) files_->confirm(*file);
  return removed->events;
}

}  // namespace eventq
