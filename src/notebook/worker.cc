// worker.cc: see worker.h.
#include "notebook/worker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "eventq/limits.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

constexpr Millis kSoon{20};
constexpr Millis kAfterTrouble{1000};
constexpr int kTriesAtOnce = 3;  // after the first: somebody may just have saved the file
constexpr std::size_t kToldMax = 1000;

bool are_apart(const std::vector<std::string>& paths, const std::vector<std::string>& others) {
  return std::none_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return std::any_of(others.begin(), others.end(),
                       [&](const std::string& other) { return overlap(path, other); });
  });
}

std::string cut(std::string message) {
  if (message.size() > limits::kErrorMessage) message.resize(limits::kErrorMessage);
  return message;
}

eventq::Change report_of(const FileEvent& event, const std::string& worker_id, const Verdict& verdict) {
  eventq::Change change{Lease{event.id, worker_id, event.attempt}, Complete{}};
  if (verdict.kind != Verdict::Kind::done) {
    Failure failure;
    failure.message = cut(verdict.message);
    failure.permanent = verdict.kind == Verdict::Kind::never;
    change.what = Fail{std::move(failure)};
  }
  return change;
}

}  // namespace

Worker::Worker(Tools tools, const NotebookRow& row, std::string queue)
    : tools_(std::move(tools)),
      notebook_(row.id),
      settings_(row.settings),
      queue_(std::move(queue)),
      worker_id_(queue_),
      applier_(tools_.folder, tools_.state, tools_.expected, tools_.live, row.id, tools_.clock) {}

Result<void> Worker::recover() {
  const auto undone = applier_.recover();
  if (!undone) return undone.error();
  if (*undone > 0 && tools_.logger) {
    tools_.logger(LogLevel::info, LogLine("what was under way is undone, to be done again")
                                      .add("queue", queue_)
                                      .add("steps", std::to_string(*undone))
                                      .str());
  }
  auto marks = tools_.state.git_marks(notebook_);
  if (!marks) return marks.error();
  tools_.repo.remember(std::move(*marks));
  if (auto put = put_down_last_commit(); !put) return put;
  // Whose content that is, the last process knew.
  const auto pending = tools_.state.pending(notebook_);
  if (!pending) return pending.error();
  for (const PendingChange& change : *pending) others_.insert(change.path);
  if (auto given = give_back_held(); !given) return given;
  return find_retried();
}

// Reports what the last process had done of what it held, and gives back the rest.
Result<void> Worker::give_back_held() {
  const auto applied = tools_.state.applied(notebook_);
  if (!applied) return applied.error();
  const std::set<EventId> done(applied->begin(), applied->end());
  ListFilter held{.status = Status::processing, .queue = queue_, .limit = limits::kPage};
  for (bool more = true; more;) {
    Command command;
    command.list = held;
    const Answer answer = tools_.engine.call(std::move(command));
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
    if (Answer given = tools_.engine.call(std::move(back)); given.error) return *given.error;
  }
  return tools_.state.forget_applied(notebook_, *applied);
}

// The first that waits for a retry holds up the rest.
Result<void> Worker::find_retried() {
  Command command;
  command.list = ListFilter{.status = Status::pending, .queue = queue_, .limit = 1};
  const Answer answer = tools_.engine.call(std::move(command));
  if (answer.error) return *answer.error;
  if (!*answer.page) return answer.page->error();
  if ((*answer.page)->events.empty() || (*answer.page)->events.front().retry_count == 0) return {};
  blocked_by_ = (*answer.page)->events.front().id;
  blocked_until_ = (*answer.page)->events.front().due_at;
  return {};
}

// Makes the reports and takes what comes next, in one commit.
Result<void> Worker::exchange(Take take) {
  Command command;
  command.changes = reports_;
  if (take == Take::yes) {
    command.claim =
        ClaimRequest{.selector = {queue_, {}}, .worker_id = worker_id_, .limit = settings_.batch_size};
  }
  if (command.changes.empty() && !command.claim) return {};
  const std::scoped_lock lock(tools_.live.mutex);
  Answer answer = tools_.engine.call(std::move(command));
  if (answer.error) return *answer.error;
  for (std::size_t i = 0; i < reports_.size(); ++i) {
    const EventId id = reports_[i].lease.id;
    const Result<Changed>& changed = answer.changed[i];
    if (changed && changed->status == Status::pending) {
      tools_.live.events.give_back(id);
      const LogEntry& entry = changed->entry;
      if (blocked_by_ == id && entry.next_retry_at) {
        // The queue's clock may be another than ours.
        blocked_until_ = tools_.clock.now() + (*entry.next_retry_at - entry.created_at);
      }
    } else {
      if (blocked_by_ == id) blocked_by_.reset();
      tools_.live.events.end(id);
      // A report that is refused: a person has ended the event, or has reset it and it comes again.
      if (changed && applied_.erase(id) > 0) told_.push_back(id);
    }
  }
  reports_.clear();
  if (told_.size() >= kToldMax) forget_told();
  came_up_empty_ = answer.claims.empty();
  for (const Claim& claim : answer.claims) {
    const Event& event = claim.event;
    tools_.live.events.begin(event.id);
    auto operation = read_operation(event.pattern, event.payload);
    if (!operation) {
      refuse_unreadable(claim, operation.error());
      continue;
    }
    held_.push_back({event.id, event.attempts, event.event_id, event.correlation_id, std::move(*operation)});
  }
  return {};
}

void Worker::refuse_unreadable(const Claim& claim, const Error& why) {
  const FileEvent event{claim.event.id, claim.event.attempts, claim.event.event_id, "", {}};
  reports_.push_back(report_of(event, worker_id_, {Verdict::Kind::never, why.message}));
}

// True while the event that is to be retried first is not among those taken. Then they are all given back.
bool Worker::must_wait() {
  if (!blocked_by_) return false;
  const bool has_come =
      std::any_of(held_.begin(), held_.end(), [&](const FileEvent& e) { return e.id == *blocked_by_; });
  if (has_come) {
    blocked_by_.reset();
    std::sort(held_.begin(), held_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return false;
  }
  // It may have been cancelled.
  Command command;
  command.get = Command::Get{*blocked_by_, false};
  const Answer answer = tools_.engine.call(std::move(command));
  const bool is_live =
      answer.error || (*answer.details && ((*answer.details)->event.status == Status::pending ||
                                           (*answer.details)->event.status == Status::processing));
  if (is_live) {
    hold_back(0, *blocked_by_, tools_.clock.now());
    return true;
  }
  blocked_by_.reset();
  return false;
}

// Gives back all that is held from there on.
void Worker::hold_back(std::size_t from, EventId by, TimePoint until) {
  for (std::size_t i = from; i < held_.size(); ++i) {
    reports_.push_back({Lease{held_[i].id, worker_id_, held_[i].attempt},
                        Release{"Waits for event " + std::to_string(static_cast<std::int64_t>(by)) +
                                ", which is retried first."}});
  }
  held_.resize(from);
  blocked_by_ = by;
  blocked_until_ = std::max(blocked_until_, until);
}

// The event at `from`, or the whole group that begins there; empty: not all of the group has come.
std::optional<Part> Worker::part_at(std::size_t from) const {
  const FileEvent& first = held_[from];
  if (!first.operation.group) return Part{first};
  Part part;
  for (std::size_t i = from; i < held_.size() && held_[i].correlation_id == first.correlation_id; ++i) {
    part.push_back(held_[i]);
  }
  if (part.size() < static_cast<std::size_t>(first.operation.group->count)) return std::nullopt;
  return part;
}

void Worker::settle(const Part& part, const Verdict& verdict) {
  for (const FileEvent& event : part) {
    if (verdict.kind == Verdict::Kind::done) applied_.insert(event.id);
    reports_.push_back(report_of(event, worker_id_, verdict));
  }
  if (verdict.kind == Verdict::Kind::later) {
    note_trouble(news_.worker_trouble, verdict.message);
    if (!blocked_by_) blocked_by_ = part.front().id;
  }
}

Verdict Worker::apply_commit() {
  const auto made = commit();
  if (made) return {};
  // Who merges or rebases is not soon done.
  const bool never = made.error().code == ErrorCode::conflict;
  return {never ? Verdict::Kind::never : Verdict::Kind::later, made.error().message};
}

// Works on what is held from there on as far as it can be done at once; returns behind it.
std::size_t Worker::work_on_run(std::size_t from) {
  std::vector<Part> run;
  std::vector<std::string> paths;
  std::size_t to = from;
  while (to < held_.size()) {
    const FileEvent& event = held_[to];
    const bool alone = event.operation.group || event.operation.kind == Operation::Kind::batch_commit;
    if (alone && to > from) break;
    auto part = part_at(to);
    if (!part) break;
    if (!alone) {
      const auto more = notebook::paths_of(event.operation);
      if (!are_apart(more, paths)) break;
      paths.insert(paths.end(), more.begin(), more.end());
    }
    to += part->size();
    run.push_back(std::move(*part));
    if (alone) break;
  }
  if (run.empty()) return from;
  // What was done before, but not reported, is only reported.
  std::vector<Part> left;
  for (Part& part : run) {
    if (applied_.contains(part.front().id)) {
      settle(part, {});
    } else if (part.front().operation.kind == Operation::Kind::batch_commit) {
      settle(part, apply_commit());
    } else {
      left.push_back(std::move(part));
    }
  }
  if (!left.empty()) apply_parts(std::move(left));
  return to;
}

void Worker::apply_parts(std::vector<Part> parts, int tries) {
  auto verdicts = Result<std::vector<Verdict>>(std::vector<Verdict>());
  if (auto safe = save_others_work(parts); !safe) {
    verdicts = safe.error();
  } else {
    verdicts = applier_.apply(parts, *safe);
  }
  if (!verdicts && parts.size() > 1) {
    // One may keep the others from being put down: each by itself.
    for (Part& part : parts) apply_parts({std::move(part)}, tries);
    return;
  }
  if (!verdicts) {
    const bool never = verdicts.error().code == ErrorCode::conflict;
    verdicts =
        std::vector<Verdict>{{never ? Verdict::Kind::never : Verdict::Kind::later, verdicts.error().message}};
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if ((*verdicts)[i].kind == Verdict::Kind::later && tries < kTriesAtOnce) {
      apply_parts({std::move(parts[i])}, tries + 1);
      continue;
    }
    settle(parts[i], (*verdicts)[i]);
    note_others_work(parts[i]);
  }
}

void Worker::note_others_work(const Part& part) {
  for (const FileEvent& event : part) {
    const Operation& operation = event.operation;
    const bool moved = operation.kind == Operation::Kind::move && others_.contains(operation.source);
    if (operation.kind == Operation::Kind::sync || moved) others_.insert(operation.path);
  }
}

// What somebody else wrote and no commit has yet is committed before it is replaced or deleted. Returns what
// the files were then.
Result<SafeToReplace> Worker::save_others_work(const std::vector<Part>& parts) {
  SafeToReplace safe;
  SafeToReplace theirs;
  std::vector<PendingChange> changes;
  for (const Part& part : parts) {
    for (const FileEvent& event : part) {
      const Operation& operation = event.operation;
      const bool replaces = operation.kind == Operation::Kind::update && operation.content;
      if (!replaces && operation.kind != Operation::Kind::remove) continue;
      const auto there = tools_.folder.look(operation.path);
      if (!there) continue;  // that it cannot be done will be told
      const auto is_theirs = is_others_work(operation.path, *there);
      if (!is_theirs) return is_theirs.error();
      safe.emplace(operation.path, *there);
      if (!*is_theirs) continue;
      theirs.emplace(operation.path, *there);
      changes.push_back({0, operation.path, event.event_id, event.correlation_id, tools_.clock.now()});
    }
  }
  if (theirs.empty()) return safe;
  if (auto put = tools_.state.add_all_pending(notebook_, changes); !put) return put.error();
  if (auto made = commit(theirs); !made) return made.error();
  // Whatever becomes of the change, the next commit has the file as it is then.
  if (auto put = tools_.state.add_all_pending(notebook_, changes); !put) return put.error();
  return safe;
}

Result<bool> Worker::is_others_work(const std::string& path, const FileState& there) {
  if (others_.contains(path)) return true;
  const auto row = tools_.state.file_at(notebook_, path);
  if (!row) return row.error();
  return !*row || (*row)->state != there;
}

// The group at `from` will not be complete: something else is behind what has come of it, or nothing more
// comes.
bool Worker::is_torn(std::size_t from) {
  const std::string& correlation = held_[from].correlation_id;
  const auto behind = static_cast<std::int64_t>(held_[from].id) + held_[from].operation.group->count;
  const bool others_follow = std::any_of(held_.begin(), held_.end(), [&](const FileEvent& event) {
    return event.correlation_id != correlation && static_cast<std::int64_t>(event.id) >= behind;
  });
  return others_follow || (came_up_empty_ && !is_paused());
}

bool Worker::is_paused() {
  Command command;
  command.admin = QueueQuery{queue_, 0};
  const Answer answer = tools_.engine.call(std::move(command));
  const auto* document = std::get_if<Result<QueueDocument>>(&answer.admin);
  return document == nullptr || !*document || (*document)->row.status == QueueStatus::paused;
}

void Worker::work() {
  std::size_t at = 0;
  while (at < held_.size() && !blocked_by_) {
    const std::size_t next = work_on_run(at);
    if (next == at && !is_torn(at)) break;  // the rest of the group is on its way
    if (next == at) {
      {
        const std::scoped_lock lock(tools_.live.mutex);
        tools_.live.events.end_group(*held_[at].operation.group);
      }
      settle({held_[at]},
             {Verdict::Kind::never, "Other events of its folder's operation are missing, so none was done."});
    }
    at = std::max(next, at + 1);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(at));
  if (blocked_by_) hold_back(0, *blocked_by_, tools_.clock.now() + settings_.retry_backoff);
}

Millis Worker::turn() {
  const bool is_blocked = blocked_by_ && tools_.clock.now() < blocked_until_;
  const bool was_busy = !reports_.empty();
  const std::size_t held_before = held_.size();
  if (auto done = exchange(is_blocked ? Take::no : Take::yes); !done) {
    note_trouble(news_.worker_trouble, done.error().message);
    return std::max(settings_.poll_interval, kAfterTrouble);
  }
  commit_if_time();  // when nobody waits for a report
  const bool has_work = held_.size() > held_before;
  if (!is_blocked && !must_wait()) work();
  const bool is_busy = was_busy || has_work || !reports_.empty();
  if (!is_busy) rest();
  if (!reports_.empty()) return Millis(0);
  if (blocked_by_) return std::min(kSoon, settings_.poll_interval);
  return is_busy ? Millis(0) : settings_.poll_interval;
}

// There is nothing to do at the moment.
void Worker::rest() {
  if (!blocked_by_) note_trouble(news_.worker_trouble, "");
  forget_told();
}

// Events whose report has arrived need not be remembered. If that fails they are only kept longer.
void Worker::forget_told() {
  if (told_.empty()) return;
  (void)tools_.state.forget_applied(notebook_, told_);
  told_.clear();
}

Millis Worker::hold(const std::string& why) {
  note_trouble(news_.worker_trouble, why);
  return kAfterTrouble;
}

void Worker::wind_up(bool may_commit) {
  if (!held_.empty()) {
    for (const FileEvent& event : held_) {
      reports_.push_back({Lease{event.id, worker_id_, event.attempt}, Release{"The worker stops."}});
    }
    held_.clear();
  }
  if (auto told = exchange(Take::no); !told) note_trouble(news_.worker_trouble, told.error().message);
  forget_told();
  if (!may_commit) return;
  if (auto made = commit(); !made) note_trouble(news_.commit_trouble, made.error().message);
}

void Worker::note_trouble(std::string& trouble, const std::string& message) {
  const std::scoped_lock lock(news_mutex_);
  if (trouble == message) return;
  trouble = message;
  if (tools_.logger && !message.empty()) {
    tools_.logger(LogLevel::warning,
                  LogLine("notebook waits").add("queue", queue_).add("why", message).str());
  }
}

WorkerNews Worker::news() const {
  const std::scoped_lock lock(news_mutex_);
  return news_;
}

}  // namespace eventq::notebook
