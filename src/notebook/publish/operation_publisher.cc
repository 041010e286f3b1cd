// operation_publisher.cc: see operation_publisher.h.
#include "notebook/publish/operation_publisher.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "eventq/limits.h"
#include "model/names.h"
#include "model/validate.h"
#include "notebook/file_version.h"
#include "notebook/files/note_path.h"
#include "notebook/files/portable_name.h"
#include "notebook/publish/combining.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kSyncsAtOnce = 500;

// Waits for the answers to several commands. They are submitted together so that the queue stores them in one
// commit.
class AnswerCollector final : public AnswerSink {
 public:
  explicit AnswerCollector(std::size_t count) : answers_(count), left_(count) {}

  void deliver(std::vector<Envelope<Answer>> answers) override {
    const std::scoped_lock lock(mutex_);
    for (Envelope<Answer>& answer : answers) answers_[answer.reply_to.token] = std::move(answer.content);
    left_ -= answers.size();
    if (left_ == 0) all_there_.notify_one();  // under the lock, because the waiter destroys this object
  }

  std::vector<Answer> wait() {
    std::unique_lock lock(mutex_);
    all_there_.wait(lock, [this] { return left_ == 0; });
    return std::move(answers_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_there_;
  std::vector<Answer> answers_;
  std::size_t left_;
};

Error not_found(std::int64_t id) {
  return {ErrorCode::not_found,
          "There is no file " + std::to_string(id) + " here; GET /notebooks/{name}/files lists them."};
}

// `path` is where the file will be after all pending operations.
// Errors: conflict when the request says that the file is somewhere else.
Result<void> check_source(const ChangeRequest& request, const std::string& path) {
  if (!request.source_path) return {};
  const auto source = requested_path(*request.source_path);
  if (!source) return Error{source.error().code, source.error().message, "source_path"};
  if (*source == path) return {};
  return Error{
      ErrorCode::conflict,
      "File " + std::to_string(request.file) + " is at \"" + path + "\", not at \"" + *source + "\".",
      "source_path"};
}

NewEvent event_of(const Operation& operation, const std::string& queue, std::string key) {
  NewEvent event;
  event.title = title_of(operation);
  event.tags = {"file", std::string(pattern_of(operation.kind))};
  event.payload = write_operation(operation);
  event.queue = queue;
  event.pattern = pattern_of(operation.kind);
  event.source = source_of(operation);
  event.supersede_key = std::move(key);
  return event;
}

}  // namespace

// Errors: conflict when there will be something at `path`.
Result<void> OperationPublisher::check_free(const std::string& path, const std::string& field) {
  drop_ended(path);
  auto exists = pending_operations_.operations.exists(path);
  if (!exists) {
    const auto row = state_.file_at(notebook_, path);
    if (!row) return row.error();
    exists = row->has_value();
  }
  if (!*exists) return {};
  return Error{ErrorCode::conflict, "There is already a file or folder at " + path + ".", field};
}

// Errors: invalid_argument for a name that other systems cannot hold; conflict when a file or folder beside
// it, or beside a folder above it, differs only in case. A move may change the case of its own name.
Result<void> OperationPublisher::check_portable(const Operation& operation, const std::string& field) {
  if (!portable_) return {};
  if (auto fault = unportable_name(operation.path)) return Error{fault->code, fault->message, field};
  std::vector<std::string> paths = folders_of(operation.path);
  paths.push_back(operation.path);
  for (const std::string& path : paths) {
    auto stored = state_.path_like(notebook_, path);
    if (!stored) return stored.error();
    std::string other = stored->value_or("");
    if (other.empty() || other == operation.source) other = pending_operations_.operations.path_like(path);
    if (other.empty() || other == operation.source) continue;
    std::string message = path;
    message.append(" differs only in case from ").append(other);
    message.append(", and many systems cannot hold both; use ").append(other);
    message.append(
        " or another name. The setting portable_names of the notebook allows both when it is false.");
    return Error{ErrorCode::conflict, std::move(message), field};
  }
  return {};
}

Result<Operation> OperationPublisher::creation_of(const ChangeRequest& request, Operation operation) {
  auto path = requested_path(request.path);
  if (!path) return path.error();
  operation.path = std::move(*path);
  if (auto free = check_free(operation.path, "path"); !free) return free.error();
  if (auto portable = check_portable(operation, "path"); !portable) return portable.error();
  const auto file = reserve_file();
  if (!file) return file.error();
  operation.file = *file;
  return operation;
}

// The first id opens a transaction of the state, which store_reserved() commits for all of them.
Result<std::int64_t> OperationPublisher::reserve_file() {
  if (!reserves_) {
    if (auto begun = state_.begin(); !begun) return begun.error();
    reserves_ = true;
  }
  return state_.reserve_file(notebook_);
}

// The ids must be on disk before an event that has one: after a crash another file would get the same id.
void OperationPublisher::store_reserved(std::vector<Draft>& drafts) {
  if (!std::exchange(reserves_, false)) return;
  const auto stored = state_.commit();
  if (stored) return;
  for (Draft& draft : drafts) {
    if (draft.refused || !draft.reserves) continue;
    draft.refused = stored.error();
    take_back(draft);
  }
}

// A file has an id, and so can be changed, before its creation is applied.
// Errors: not_found, also when a pending operation removes it.
Result<OperationPublisher::TargetFile> OperationPublisher::target_of(std::int64_t file) {
  const auto row = state_.file(notebook_, file);
  if (!row) return row.error();
  PendingOperations& operations = pending_operations_.operations;
  TargetFile target;
  if (*row) {
    drop_ended((*row)->path);
    target = {operations.future_path((*row)->path), (*row)->folder, version_of(**row)};
  } else {
    if (const PendingOperation* creation = operations.creation_of(file)) drop_ended(creation->operation.path);
    const PendingOperation* creation = operations.creation_of(file);
    if (creation != nullptr) target = {operations.future_path(*creation), creation->operation.folder, ""};
  }
  if (target.path.empty()) return not_found(file);
  return target;
}

// The operation of a request, with the path that the file will have when the worker applies it.
Result<Operation> OperationPublisher::operation_of(const ChangeRequest& request) {
  Operation operation{.kind = request.kind,
                      .content = request.content,
                      .metadata = request.metadata,
                      .folder = request.folder};
  if (request.kind == OperationKind::batch_commit) return operation;
  if (request.kind == OperationKind::create) return creation_of(request, std::move(operation));
  auto target = target_of(request.file);
  if (!target) return target.error();
  operation.path = std::move(target->path);
  operation.folder = target->folder;
  if (request.kind == OperationKind::update && operation.folder) {
    return Error{ErrorCode::conflict, operation.path + " is a folder, which has no content."};
  }
  if (request.if_match) {
    if (!has_version(*request.if_match, target->version)) return version_error(operation.path);
    operation.if_match = *request.if_match;
  }
  if (request.kind != OperationKind::move) return operation;

  if (auto agrees = check_source(request, operation.path); !agrees) return agrees.error();
  auto dest = requested_path(request.dest_path);
  if (!dest) return Error{dest.error().code, dest.error().message, "dest_path"};
  operation.source = std::exchange(operation.path, std::move(*dest));
  if (operation.folder && is_within(operation.path, operation.source)) {
    return Error{ErrorCode::invalid_argument, "A folder cannot be moved into itself.", "dest_path"};
  }
  if (auto free = check_free(operation.path, "dest_path"); !free) return free.error();
  if (auto portable = check_portable(operation, "dest_path"); !portable) return portable.error();
  return operation;
}

// The files that will be in `folder` after all pending operations.
Result<std::vector<std::string>> OperationPublisher::files_within(const std::string& folder) {
  const auto rows = state_.files_within(notebook_, folder, FileFilter::files);
  if (!rows) return rows.error();
  std::set<std::string> paths;
  for (const FileRow& row : *rows) paths.insert(row.path);
  pending_operations_.operations.each_within(folder, [&](const std::string& path, bool exists) {
    if (exists) {
      paths.insert(path);
    } else {
      paths.erase(path);
    }
  });
  return std::vector<std::string>(paths.begin(), paths.end());
}

// Only operations on one file are combined; the superseding event replaces the pending one by its
// supersede_key.
void OperationPublisher::add(Operation operation, Draft& draft) {
  const bool may_combine =
      !operation.group && !operation.folder && operation.kind != OperationKind::batch_commit;
  const std::string& begins_at = operation.kind == OperationKind::move ? operation.source : operation.path;
  if (may_combine && add_combined(operation, begins_at, draft)) return;
  std::string key = may_combine ? pending_operations_.operations.free_key(begins_at) : "";
  NewEvent event = event_of(operation, queue_, key);
  if (auto fault = validate(event)) {
    draft.refused = std::move(*fault);
    return;
  }
  draft.events.push_back(std::move(event));
  draft.tickets.push_back(pending_operations_.operations.add(std::move(operation), std::move(key)));
}

// Adds one operation instead of `later` and the pending operation before it. False: both must stay.
bool OperationPublisher::add_combined(const Operation& later, const std::string& begins_at, Draft& draft) {
  const PendingOperation* earlier = pending_operations_.operations.last_at(begins_at);
  // A claimed event cannot be replaced any more, and an event without a key cannot be superseded.
  if (earlier == nullptr || earlier->begun || earlier->key.empty() || earlier->operation.path != begins_at) {
    return false;
  }
  auto combined = combine(earlier->operation, later);
  // Combining moves the change to a later id, so no operation in between may depend on its paths.
  if (!combined || !pending_operations_.operations.is_last(*earlier, *combined)) return false;
  NewEvent event = event_of(*combined, queue_, earlier->key);
  if (validate(event)) return false;  // too large together
  draft.replaced.push_back(*earlier);
  pending_operations_.operations.drop(earlier->ticket);
  draft.events.push_back(std::move(event));
  draft.tickets.push_back(
      pending_operations_.operations.add(std::move(*combined), draft.replaced.back().key));
  return true;
}

// One event per file in the folder; one for the folder itself if it has no files.
Result<void> OperationPublisher::draft_group(Operation operation, Draft& draft) {
  const bool is_move = operation.kind == OperationKind::move;
  const std::string folder = is_move ? operation.source : operation.path;
  auto files = files_within(folder);
  if (!files) return files.error();
  if (files->size() > limits::kBatchEvents) {
    return Error{ErrorCode::too_large, folder + " has " + std::to_string(files->size()) + " files; at most " +
                                           std::to_string(limits::kBatchEvents) +
                                           " can be moved or deleted at once."};
  }
  draft.accepted.group = true;
  draft.accepted.file_count = static_cast<int>(files->size());
  FolderOperation group{folder, is_move ? operation.path : "", std::max(draft.accepted.file_count, 1)};
  operation.group = group;
  if (files->empty()) {
    add(std::move(operation), draft);
    return {};
  }
  for (const std::string& path : *files) {
    Operation one{.kind = operation.kind, .path = path, .group = group, .if_match = operation.if_match};
    if (is_move) one.source = std::exchange(one.path, group.dest + path.substr(folder.size()));
    add(std::move(one), draft);
  }
  return {};
}

// The answer to the first request with the same key; empty: the key is new.
// Errors: conflict when that request was another one.
Result<std::optional<Accepted>> OperationPublisher::first_answer(const ChangeRequest& request) {
  if (!request.key) return std::optional<Accepted>();
  Publication question{.events = {event_of({.kind = request.kind}, queue_, "")}, .key = request.key};
  question.only_replay = true;
  Answer answer = engine_.call({.publication = std::move(question)});
  if (answer.error) return *answer.error;
  if (!*answer.published) {
    const Error& error = answer.published->error();
    return error.code == ErrorCode::not_found ? Result(std::optional<Accepted>()) : error;
  }
  Event& event = (*answer.published)->events.front();
  const auto operation = notebook::operation_of(event);
  if (!operation) return operation.error();
  Accepted accepted{.path = operation->path, .replayed = true};
  accepted.file_id = request.kind == OperationKind::create ? operation->file : request.file;
  if (const auto& group = operation->group) {
    accepted.path = group->dest.empty() ? group->source : group->dest;
    accepted.group = true;
    accepted.correlation_id = event.correlation_id;
    accepted.file_count = operation->folder ? 0 : group->count;
  }
  accepted.event = std::move(event);
  return std::optional(std::move(accepted));
}

// A repeated request is answered first, because the files are no longer as they were for the first one.
OperationPublisher::Draft OperationPublisher::draft(const ChangeRequest& request) {
  auto first = first_answer(request);
  if (first && !*first) return draft_new(request);
  Draft draft;
  if (!first) {
    draft.refused = first.error();
  } else {
    draft.accepted = std::move(**first);
    draft.is_replay = true;
  }
  return draft;
}

OperationPublisher::Draft OperationPublisher::draft_new(const ChangeRequest& request) {
  Draft draft;
  auto operation = operation_of(request);
  if (!operation) {
    draft.refused = operation.error();
    return draft;
  }
  draft.accepted.path = operation->path;
  draft.reserves = operation->file != 0;
  draft.accepted.file_id = draft.reserves ? operation->file : request.file;
  if (operation->folder && operation->kind != OperationKind::create) {
    const auto drafted = draft_group(std::move(*operation), draft);
    if (!drafted) draft.refused = drafted.error();
  } else {
    add(std::move(*operation), draft);
  }
  if (draft.refused) take_back(draft);
  return draft;
}

// The draft was not stored, so the operations that it would have replaced are still pending.
void OperationPublisher::take_back(const Draft& draft) {
  for (const OperationTicket ticket : draft.tickets) pending_operations_.operations.drop(ticket);
  for (const PendingOperation& entry : draft.replaced) pending_operations_.operations.restore(entry);
}

// A user may have cancelled pending events, which the PendingOperations do not notice. Drop those at `path`.
void OperationPublisher::drop_ended(const std::string& path) {
  for (const PendingOperation* last = pending_operations_.operations.last_at(path);
       last != nullptr && last->id && !last->begun; last = pending_operations_.operations.last_at(path)) {
    const Answer answer = engine_.call({.get = *last->id});
    if (answer.error || (*answer.details && !has_ended((*answer.details)->event.status))) return;
    pending_operations_.operations.drop(last->ticket);
  }
}

Result<Accepted> OperationPublisher::settle(Draft& draft, Answer answer) {
  if (answer.error || !*answer.published) {
    take_back(draft);
    return answer.error ? *answer.error : answer.published->error();
  }
  std::vector<Event>& events = (*answer.published)->events;
  for (std::size_t i = 0; i < draft.tickets.size(); ++i) {
    pending_operations_.operations.name(draft.tickets[i], events[i].id);
  }
  Accepted& accepted = draft.accepted;
  accepted.event = std::move(events.front());
  if (accepted.group) accepted.correlation_id = accepted.event.correlation_id;
  return std::move(accepted);
}

// A key that occurs twice ends a batch: the second request needs the answer of the first.
void OperationPublisher::publish(std::vector<ChangeSubmission> submissions) {
  const std::span<ChangeSubmission> all(submissions);
  std::set<std::string> keys;
  std::size_t from = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& key = all[i].request.key;
    if (!key || keys.insert(key->key).second) continue;
    publish_together(all.subspan(from, i - from));
    from = i;
    keys = {key->key};
  }
  publish_together(all.subspan(from));
}

void OperationPublisher::publish_together(std::span<ChangeSubmission> submissions) {
  std::vector<Result<Accepted>> results;
  {
    const std::scoped_lock lock(pending_operations_.mutex);
    std::vector<Draft> drafts;
    drafts.reserve(submissions.size());
    for (const ChangeSubmission& one : submissions) drafts.push_back(draft(one.request));
    store_reserved(drafts);
    const auto is_new = [](const Draft& draft) { return !draft.refused && !draft.is_replay; };
    const auto sent = std::count_if(drafts.begin(), drafts.end(), is_new);
    AnswerCollector collector(static_cast<std::size_t>(sent));
    std::uint64_t token = 0;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      if (!is_new(drafts[i])) continue;
      Publication all{.events = std::move(drafts[i].events),
                      .key = std::move(submissions[i].request.key),
                      .correlated = drafts[i].accepted.group};
      engine_.submit({.publication = std::move(all)}, collector, token++);
    }
    std::vector<Answer> answers = sent > 0 ? collector.wait() : std::vector<Answer>();
    token = 0;
    for (Draft& draft : drafts) {
      if (is_new(draft)) {
        results.push_back(settle(draft, std::move(answers[token++])));
      } else {
        results.push_back(draft.refused ? Result<Accepted>(*draft.refused) : std::move(draft.accepted));
      }
    }
  }
  // Reply outside of the lock, because a reply may submit the next change.
  for (std::size_t i = 0; i < submissions.size(); ++i) submissions[i].reply(std::move(results[i]));
}

Result<void> OperationPublisher::publish(const std::vector<Operation>& syncs) {
  for (std::size_t from = 0; from < syncs.size(); from += kSyncsAtOnce) {
    const std::scoped_lock lock(pending_operations_.mutex);
    Draft draft;
    const std::size_t to = std::min(from + kSyncsAtOnce, syncs.size());
    for (std::size_t i = from; i < to; ++i) add(syncs[i], draft);
    if (draft.refused) {
      take_back(draft);
      return *draft.refused;
    }
    Answer answer = engine_.call({.publication = Publication{.events = std::move(draft.events)}});
    if (auto settled = settle(draft, std::move(answer)); !settled) return settled.error();
  }
  return {};
}

Result<void> OperationPublisher::load_one(EventId id, Status status) {
  const Answer answer = engine_.call({.get = id});
  if (answer.error) return *answer.error;
  if (!*answer.details) return {};  // the event ended and was deleted meanwhile
  const Event& event = (*answer.details)->event;
  auto operation = notebook::operation_of(event);
  if (!operation) return {};  // the worker will fail the event with the reason
  const OperationTicket ticket =
      pending_operations_.operations.add(std::move(*operation), event.supersede_key);
  pending_operations_.operations.name(ticket, id);
  if (status == Status::processing) pending_operations_.operations.begin(id);
  return {};
}

Result<void> OperationPublisher::load() {
  const std::scoped_lock lock(pending_operations_.mutex);
  std::vector<std::pair<EventId, Status>> found;
  for (const Status status : {Status::pending, Status::processing}) {
    ListFilter filter{.status = status, .queue = queue_, .limit = limits::kPage};
    for (bool more = true; more;) {
      const Answer answer = engine_.call({.list = filter});
      if (answer.error) return *answer.error;
      if (!*answer.page) return answer.page->error();
      const std::vector<Event>& events = (*answer.page)->events;
      for (const Event& event : events) found.emplace_back(event.id, status);
      more = events.size() == filter.limit;
      if (more) filter.after = events.back().id;
    }
  }
  // Tickets must follow the order of ids, which is the order in which the worker runs the events.
  std::sort(found.begin(), found.end());
  for (const auto& [id, status] : found) {
    if (auto loaded = load_one(id, status); !loaded) return loaded;
  }
  return {};
}

}  // namespace eventq::notebook
