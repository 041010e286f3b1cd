// notebook_worker.cc: see notebook_worker.h.
#include "notebook/notebook_worker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr Millis kSoon{20};               // the longest pause while an event blocks the others
constexpr Millis kAfterTrouble{1000};     // the shortest pause after an error
constexpr Millis kForeignInterval{1000};  // between two searches for events that other workers hold
constexpr int kTriesAtOnce = 3;           // immediate retries: an editor may just have saved the file
// A worker that never rests deletes its rows in `applied` after this many reports.
constexpr std::size_t kReportedMax = 1000;

// Events with overlapping paths must run one after the other; the others share one journal entry and one
// sync.
bool are_apart(const std::vector<std::string>& paths, const std::vector<std::string>& others) {
  return std::none_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return std::any_of(others.begin(), others.end(),
                       [&](const std::string& other) { return overlap(path, other); });
  });
}

// The outcome when git or the NotebookState refused. A conflict, such as a merge or rebase of the user, may
// last long, so the event fails instead of blocking the events behind it.
ApplyOutcome outcome_of_refusal(const Error& error) {
  return {error.code == ErrorCode::conflict ? OutcomeKind::failed : OutcomeKind::retry, error.message};
}

}  // namespace

NotebookWorker::NotebookWorker(WorkerContext context, const NotebookRow& row, std::string queue)
    : context_(std::move(context)),
      notebook_(row.id),
      settings_(row.settings),
      queue_(std::move(queue)),
      worker_id_(queue_),
      applier_(context_.folder, context_.digests, context_.state, context_.own_writes,
               context_.pending_operations, row, context_.clock) {}

Result<void> NotebookWorker::recover() {
  const auto undone = applier_.recover();
  if (!undone) return undone.error();
  if (*undone > 0 && context_.logger) {
    context_.logger(LogLevel::info, LogLine("notebook undid unfinished steps, to be retried")
                                        .add("queue", queue_)
                                        .add("steps", std::to_string(*undone))
                                        .str());
  }
  auto marks = context_.state.git_marks(notebook_);
  if (!marks) return marks.error();
  context_.repo.remember(std::move(*marks));
  const auto forgotten = context_.clock.now() - settings_.deleted_metadata_retention;
  if (auto expired = context_.state.expire_gone(notebook_, forgotten); !expired) return expired;
  if (auto put = store_last_commit(); !put) return put;
  // The attributes may have changed while no server ran.
  if (auto again = compare_filtered(); !again) return again;
  if (auto noted = note_uncommitted(); !noted) return noted;
  if (auto given = give_back_held(); !given) return given;
  return find_retried();
}

// Which of the pending paths have another program's content is not stored, so assume that all of them do.
Result<void> NotebookWorker::note_uncommitted() {
  const auto pending = context_.state.pending(notebook_);
  if (!pending) return pending.error();
  for (const PendingChange& change : *pending) uncommitted_foreign_.insert(change.path);
  return {};
}

// Reports the events that the last process had applied, and releases the others that it held.
Result<void> NotebookWorker::give_back_held() {
  const auto applied = context_.state.applied(notebook_);
  if (!applied) return applied.error();
  const std::set<EventId> done(applied->begin(), applied->end());
  ListFilter held{.status = Status::processing, .queue = queue_, .limit = limits::kPage};
  for (bool more = true; more;) {
    const Answer answer = context_.engine.call({.list = held});
    if (answer.error) return *answer.error;
    if (!*answer.page) return answer.page->error();
    Command back;
    for (const Event& event : (*answer.page)->events) {
      held.after = event.id;
      eventq::Change change{Lease{event.id, event.worker_id, event.attempts}, Complete{}};
      if (!done.contains(event.id)) change.what = Release{"The worker was started again."};
      back.changes.push_back(std::move(change));
    }
    more = (*answer.page)->events.size() == limits::kPage;
    if (back.changes.empty()) continue;
    if (Answer given = context_.engine.call(std::move(back)); given.error) return *given.error;
  }
  return context_.state.forget_applied(notebook_, *applied);
}

// If the first pending event waits for a retry, it blocks the others.
Result<void> NotebookWorker::find_retried() {
  const ListFilter first{.status = Status::pending, .queue = queue_, .limit = 1};
  const Answer answer = context_.engine.call({.list = first});
  if (answer.error) return *answer.error;
  if (!*answer.page) return answer.page->error();
  for (const Event& event : (*answer.page)->events) {
    if (event.retry_count == 0) continue;
    blocked_by_ = event.id;
    blocked_until_ = event.due_at;
    note_trouble(status_.worker_trouble, "Event " + id_text(event.id) +
                                             " failed before the last start and is retried; later changes "
                                             "wait for it.");
  }
  return {};
}

// Releases events that another worker holds. validate_claimed_queue() refuses such claims, but an older
// eventq or an SQL statement may have made one, and all later changes would wait for its end.
void NotebookWorker::take_back_foreign() {
  const TimePoint now = context_.clock.now();
  const bool was_checked = foreign_checked_at_ && now >= *foreign_checked_at_;
  if (was_checked && now - *foreign_checked_at_ < kForeignInterval) return;
  foreign_checked_at_ = now;
  const Answer answer = context_.engine.call(
      {.list = ListFilter{.status = Status::processing, .queue = queue_, .limit = limits::kPage}});
  if (answer.error || !*answer.page) return;  // the next exchange() reports the error of the queue
  Command back;
  for (const Event& event : (*answer.page)->events) {
    if (event.worker_id == worker_id_) continue;
    note_trouble(status_.worker_trouble, "Worker " + event.worker_id + " had claimed event " +
                                             id_text(event.id) +
                                             ", which is for the notebook only; it was taken back.");
    back.changes.push_back({Lease{event.id, event.worker_id, event.attempts},
                            Release{"Only the notebook's own worker applies its changes."}});
  }
  if (!back.changes.empty()) (void)context_.engine.call(std::move(back));
}

// Sends the reports and claims the next events in one command, so both are in one commit of the queue. The
// lock is held because the publisher must not combine with an event that is being claimed. After an error
// reports_ is unchanged, so the next call sends the same reports again.
Result<void> NotebookWorker::exchange(Take take) {
  Command command;
  command.changes = reports_;
  if (take == Take::yes) {
    command.claim =
        ClaimRequest{.selector = {queue_, {}}, .worker_id = worker_id_, .limit = settings_.batch_size};
  }
  // An empty command would still cost a commit of the queue.
  if (command.changes.empty() && !command.claim) return {};
  const std::scoped_lock lock(context_.pending_operations.mutex);
  Answer answer = context_.engine.call(std::move(command));
  if (answer.error) return *answer.error;
  for (std::size_t i = 0; i < reports_.size(); ++i) take_answer(reports_[i].lease.id, answer.changed[i]);
  reports_.clear();
  if (reported_.size() >= kReportedMax) forget_reported();
  came_up_empty_ = answer.claims.empty();  // also without a claim; is_torn() reads it only after a claim
  for (const Claim& claim : answer.claims) take_claim(claim.event);
  return {};
}

// What the queue answered to the report on this event.
void NotebookWorker::take_answer(EventId id, const Result<Changed>& changed) {
  if (changed && changed->status == Status::pending) {
    context_.pending_operations.operations.give_back(id);
    const LogEntry& entry = changed->entry;
    if (blocked_by_ == id && entry.next_retry_at) {
      // The queue may use another clock, so only the difference of its times is used.
      blocked_until_ = context_.clock.now() + (*entry.next_retry_at - entry.created_at);
    }
    return;
  }
  if (blocked_by_ == id) blocked_by_.reset();
  context_.pending_operations.operations.end(id);
  // A refused report means that a user ended the event, or reset it so that it will be claimed again.
  if (changed && applied_.erase(id) > 0) reported_.push_back(id);
}

void NotebookWorker::take_claim(const Event& event) {
  context_.pending_operations.operations.begin(event.id);
  auto operation = operation_of(event);
  if (operation) {
    claimed_.push_back(
        {event.id, event.attempts, event.event_id, event.correlation_id, std::move(*operation)});
  } else {
    report({{event.id, event.attempts}}, {OutcomeKind::failed, operation.error().message});
  }
}

// True while the blocking event is not among the claimed ones. Then all of them are released.
bool NotebookWorker::must_wait() {
  if (!blocked_by_) return false;
  const bool has_come =
      std::any_of(claimed_.begin(), claimed_.end(), [&](const FileEvent& e) { return e.id == *blocked_by_; });
  if (has_come) {
    blocked_by_.reset();
    std::sort(claimed_.begin(), claimed_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return false;
  }
  // A user may have cancelled the blocking event.
  const Answer answer = context_.engine.call({.get = *blocked_by_});
  if (answer.error || (*answer.details && !has_ended((*answer.details)->event.status))) {
    release_blocked(context_.clock.now());
    return true;
  }
  blocked_by_.reset();
  return false;
}

// Releases the claimed events, because the blocking event comes first. REQUIRES: blocked_by_ is set.
void NotebookWorker::release_blocked(TimePoint until) {
  const auto by = static_cast<std::int64_t>(*blocked_by_);
  release_claimed("Waits for event " + std::to_string(by) + ", which is retried first.");
  blocked_until_ = std::max(blocked_until_, until);
}

void NotebookWorker::release_claimed(const std::string& why) {
  for (const FileEvent& event : claimed_) {
    reports_.push_back({Lease{event.id, worker_id_, event.attempt}, Release{why}});
  }
  claimed_.clear();
}

// The event at `from`, or the complete group that starts there; empty: the group is not complete yet.
std::optional<ApplyUnit> NotebookWorker::unit_at(std::size_t from) const {
  const FileEvent& first = claimed_[from];
  if (!first.operation.group) return ApplyUnit{first};
  ApplyUnit unit;
  for (std::size_t i = from; i < claimed_.size() && claimed_[i].correlation_id == first.correlation_id; ++i) {
    unit.push_back(claimed_[i]);
  }
  if (unit.size() < static_cast<std::size_t>(first.operation.group->count)) return std::nullopt;
  return unit;
}

void NotebookWorker::report(const ApplyUnit& unit, const ApplyOutcome& outcome) {
  for (const FileEvent& event : unit) {
    eventq::Change& report =
        reports_.emplace_back(eventq::Change{Lease{event.id, worker_id_, event.attempt}, Complete{}});
    if (outcome.kind == OutcomeKind::done) {
      applied_.insert(event.id);
    } else {
      report.what = Fail{{.status_code = outcome.status_code,
                          .message = cut_utf8(outcome.message, limits::kErrorMessage),
                          .permanent = outcome.kind == OutcomeKind::failed}};
    }
  }
  if (outcome.kind == OutcomeKind::retry) {
    note_trouble(status_.worker_trouble, outcome.message);
    if (!blocked_by_) blocked_by_ = unit.front().id;
  }
}

// Applies the longest run of events from `from` on whose paths do not overlap; returns the index after it.
std::size_t NotebookWorker::work_on_run(std::size_t from) {
  std::vector<ApplyUnit> run;
  std::vector<std::string> paths;
  std::size_t to = from;
  while (to < claimed_.size()) {
    const FileEvent& event = claimed_[to];
    const bool alone = event.operation.group || event.operation.kind == OperationKind::batch_commit;
    // Groups and commits run alone, because a group can fail as a whole and a commit must contain all earlier
    // events.
    if (alone && to > from) break;
    auto unit = unit_at(to);
    if (!unit) break;
    if (!alone) {
      const auto more = notebook::paths_of(event.operation);
      if (!are_apart(more, paths)) break;
      paths.insert(paths.end(), more.begin(), more.end());
    }
    to += unit->size();
    run.push_back(std::move(*unit));
    if (alone) break;
  }
  if (run.empty()) return from;
  // Events that were applied before, but not reported, are only reported.
  std::vector<ApplyUnit> left;
  for (ApplyUnit& unit : run) {
    if (applied_.contains(unit.front().id)) {
      report(unit, {});
    } else if (unit.front().operation.kind == OperationKind::batch_commit) {
      const auto made = commit();
      report(unit, made ? ApplyOutcome{} : outcome_of_refusal(made.error()));
    } else {
      left.push_back(std::move(unit));
    }
  }
  if (!left.empty()) apply_units(std::move(left));
  return to;
}

void NotebookWorker::apply_units(std::vector<ApplyUnit> units, int tries) {
  const auto safe = commit_foreign_content(units);
  auto outcomes = safe ? applier_.apply(units, *safe) : safe.error();
  if (!outcomes && units.size() > 1) {
    // One unit may have caused the error for all, so apply each alone.
    for (ApplyUnit& unit : units) apply_units({std::move(unit)}, tries);
    return;
  }
  if (!outcomes) outcomes = std::vector{outcome_of_refusal(outcomes.error())};
  for (std::size_t i = 0; i < units.size(); ++i) {
    if ((*outcomes)[i].kind == OutcomeKind::retry && tries < kTriesAtOnce) {
      apply_units({std::move(units[i])}, tries + 1);
      continue;
    }
    report(units[i], (*outcomes)[i]);
    note_foreign_content(units[i]);
  }
}

// Whether the group at `from` can no longer become complete: events with higher ids follow it, or no more
// events arrive.
bool NotebookWorker::is_torn(std::size_t from) {
  const std::string& correlation = claimed_[from].correlation_id;
  const auto behind = static_cast<std::int64_t>(claimed_[from].id) + claimed_[from].operation.group->count;
  const bool others_follow = std::any_of(claimed_.begin(), claimed_.end(), [&](const FileEvent& event) {
    return event.correlation_id != correlation && static_cast<std::int64_t>(event.id) >= behind;
  });
  return others_follow || (came_up_empty_ && !is_paused());
}

bool NotebookWorker::is_paused() {
  const Answer answer = context_.engine.call({.admin = QueueQuery{queue_, 0}});
  const auto* document = std::get_if<Result<QueueDocument>>(&answer.admin);
  return document == nullptr || !*document || (*document)->row.status == QueueStatus::paused;
}

void NotebookWorker::work() {
  std::size_t at = 0;
  while (at < claimed_.size() && !blocked_by_) {
    const std::size_t next = work_on_run(at);
    if (next == at && !is_torn(at)) break;  // the rest of the group has not been claimed yet
    if (next == at) {
      {
        const std::scoped_lock lock(context_.pending_operations.mutex);
        context_.pending_operations.operations.end_group(*claimed_[at].operation.group);
      }
      report({claimed_[at]},
             {OutcomeKind::failed, "Other events of its folder's operation are missing, so none was done."});
    }
    // A torn group counts as handled, one event at a time.
    at = std::max(next, at + 1);
  }
  claimed_.erase(claimed_.begin(), claimed_.begin() + static_cast<std::ptrdiff_t>(at));
  if (blocked_by_) release_blocked(context_.clock.now() + settings_.retry_backoff);
}

Millis NotebookWorker::run_once() {
  const bool is_blocked = blocked_by_ && context_.clock.now() < blocked_until_;
  const bool was_busy = !reports_.empty();
  const std::size_t held_before = claimed_.size();
  if (auto done = exchange(is_blocked ? Take::no : Take::yes); !done) {
    note_trouble(status_.worker_trouble, done.error().message);
    return std::max(settings_.poll_interval, kAfterTrouble);
  }
  commit_if_time();  // after the reports were sent, so that no caller waits for the commit
  const bool has_work = claimed_.size() > held_before;
  if (!is_blocked && !must_wait()) work();
  // Without new work and without reports the worker rests until the poll interval or a hint.
  const bool is_busy = was_busy || has_work || !reports_.empty();
  if (!is_busy) {
    if (!blocked_by_) note_trouble(status_.worker_trouble, "");
    forget_reported();
    take_back_foreign();
  }
  if (!reports_.empty()) return Millis(0);
  if (blocked_by_) return std::min(kSoon, settings_.poll_interval);
  return is_busy ? Millis(0) : settings_.poll_interval;
}

// The queue has the reports, so the rows in `applied` are not needed any more. An error here only keeps them
// longer.
void NotebookWorker::forget_reported() {
  if (reported_.empty()) return;
  (void)context_.state.forget_applied(notebook_, reported_);
  reported_.clear();
}

Millis NotebookWorker::wait_because(const std::string& why) {
  note_trouble(status_.worker_trouble, why);
  return kAfterTrouble;
}

void NotebookWorker::finish(bool may_commit) {
  release_claimed("The worker stops.");
  if (auto done = exchange(Take::no); !done) note_trouble(status_.worker_trouble, done.error().message);
  forget_reported();
  if (!may_commit) return;
  if (auto made = commit(); !made) note_trouble(status_.commit_trouble, made.error().message);
}

void NotebookWorker::note_trouble(std::string& trouble, const std::string& message) {
  const std::scoped_lock lock(status_mutex_);
  if (trouble == message) return;
  trouble = message;
  if (context_.logger && !message.empty()) {
    context_.logger(LogLevel::warning,
                    LogLine("notebook is stalled").add("queue", queue_).add("why", message).str());
  }
}

WorkerStatus NotebookWorker::status() const {
  const std::scoped_lock lock(status_mutex_);
  return status_;
}

}  // namespace eventq::notebook
