// notebook.cc: see notebook.h.
#include "notebook/notebook.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <utility>

#include "base/log.h"
#include "model/validate.h"
#include "notebook/files/note_path.h"
#include "notebook/git/git_blobs.h"
#include "notebook/git/git_pack.h"
#include "notebook/import.h"
#include "notebook/watch/change_detection.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kAllCommits = 1'000'000'000;
constexpr std::size_t kPathsShown = 5;  // of the files that no commit takes
constexpr std::size_t kContent = 64 * 1024 * 1024;
constexpr std::int64_t kDepth = 1'000'000;  // other programs may change every file of the folder at once

constexpr std::chrono::seconds kRescanPause{5};
constexpr Millis kImportPause{100};
// Leases need not expire: there is one worker, and after a restart it releases the events that it held
// before.
constexpr std::chrono::hours kLease{24};

bool is_ignore_file(const std::string& path) { return path == ".gitignore" || path.ends_with("/.gitignore"); }

Error closed() { return {ErrorCode::unavailable, "The server is stopping."}; }

QueueConfig config_of(const NotebookSettings& settings) {
  QueueConfig config;
  config.lease = kLease;
  config.max_queue_depth = kDepth;
  config.high_watermark = kDepth / 10 * 8;
  config.batch_size = static_cast<int>(settings.batch_size);
  config.max_retries = settings.max_retries;
  config.retry = RetryPolicy{.kind = RetryPolicy::Kind::exponential, .base = settings.retry_backoff};
  config.completed_retention = settings.completed_retention;
  config.failed_retention = settings.failed_retention;
  return config;
}

Result<void> configure(Engine& engine, const std::string& queue, const NotebookSettings& settings) {
  const Actor actor{"", "The settings of the notebook at the server's start."};
  const Answer answer =
      engine.call({.admin = QueueChange{queue, QueueChange::Configure{config_of(settings)}, actor}});
  if (answer.error) return *answer.error;
  const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
  if (!changed) return changed.error();
  return {};
}

}  // namespace

// Four connections to one SQLite file, because a connection belongs to one thread at a time and to one
// transaction. Each has its own mutex or strand, so reads do not wait for the worker's transactions.
Result<Notebook::StateConnections> Notebook::open_states(const std::string& path) {
  auto publisher = NotebookState::open(path);
  if (!publisher) return publisher.error();
  auto worker = NotebookState::open(path);
  if (!worker) return worker.error();
  auto detection = NotebookState::open(path);
  if (!detection) return detection.error();
  auto reader = NotebookState::open(path);
  if (!reader) return reader.error();
  return StateConnections{std::move(*publisher), std::move(*worker), std::move(*detection),
                          std::move(*reader)};
}

Result<std::shared_ptr<Notebook>> Notebook::open(const NotebookContext& context, const NotebookRow& row) {
  auto folder = Folder::open(row.path, context.mask);
  if (!folder) return folder.error();
  // Recovery and the Applier rename files through kOwnFolder.
  if (auto made = folder->make_folder(std::string(kOwnFolder)); !made) return made.error();
  auto lock = folder->lock();
  if (!lock) return lock.error();
  const auto git = folder->kind(".git");
  if (!git) return git.error();
  // add() created the repository, so its absence means that another folder is mounted here. Creating a new
  // one would record every file as deleted.
  if (*git == PathKind::absent) {
    return Error{ErrorCode::not_found, row.path + " has no .git any more: is what belongs there mounted?"};
  }
  auto repo = GitRepo::open(row.path);
  if (!repo) return repo.error();
  repo->bypass_filters(row.settings.git_bypass_filters);
  auto ignores = GitIgnores::open(row.path);
  if (!ignores) return ignores.error();
  auto states = open_states(context.state);
  if (!states) return states.error();
  std::shared_ptr<Notebook> opened(new Notebook(context, row, std::move(*folder), std::move(*lock),
                                                std::move(*repo), std::move(*ignores), std::move(*states)));
  if (auto configured = configure(context.engine, opened->queue_, row.settings); !configured)
    return configured.error();
  if (auto recovered = opened->worker_.recover(); !recovered) return recovered.error();
  if (auto loaded = opened->publisher_.load(); !loaded) return loaded.error();
  return opened;
}

Notebook::Notebook(const NotebookContext& context, NotebookRow row, Folder folder, Descriptor lock,
                   GitRepo repo, GitIgnores ignores, StateConnections states)
    : context_(context),
      row_(std::move(row)),
      queue_(std::string(kOwnedQueuePrefix) + row_.name),
      folder_(std::move(folder)),
      digests_(folder_, row_.settings.max_file_size),
      lock_(std::move(lock)),
      repo_(std::move(repo)),
      worker_state_(std::move(states.worker)),
      worker_({context_.engine, pending_operations_, folder_, digests_, worker_state_, own_writes_, repo_,
               context_.clock, context_.logger},
              row_, queue_),
      working_(boost::asio::make_strand(context_.pool.get_executor())),
      timer_(working_),
      publisher_(context_.engine, queue_, std::move(states.publisher), row_.id, pending_operations_,
                 row_.settings.portable_names),
      detection_state_(std::move(states.detection)),
      ignores_(std::move(ignores)),
      imported_(row_.imported),
      reader_state_(std::move(states.reader)) {}

// The callbacks capture `this` without owning it, because stop() ends the watcher's thread before the
// notebook is destroyed.
Result<void> Notebook::start() {
  FolderWatchOptions options;
  options.logger = context_.logger;
  auto watcher = FolderWatcher::start(
      row_.path, std::move(options), [this](const std::vector<TouchedPath>& touched) { on_touched(touched); },
      [this](const std::string& reason) { on_rescan(reason); });
  if (!watcher) return watcher.error();
  {
    const std::scoped_lock lock(watcher_mutex_);
    watcher_ = std::move(*watcher);
  }
  digests_.start(
      // After an error the commit stores the blob itself, and reports the error that it finds.
      [this](const std::string& path, const Digest& digest) {
        (void)store_blob(row_.path, folder_, path, digest.blob, digests_.stopping());
      },
      [this](const std::string& path) {
        on_touched({{path, ""}});
      });
  boost::asio::post(context_.pool, [self = shared_from_this()] { self->on_rescan("start"); });
  // The last stop may have interrupted it.
  boost::asio::post(context_.pool, [self = shared_from_this()] { self->pack(); });
  hint();
  return {};
}

void Notebook::stop() {
  {
    const std::scoped_lock lock(submissions_mutex_);
    closed_ = true;
  }
  std::unique_ptr<FolderWatcher> watcher;
  {
    const std::scoped_lock lock(watcher_mutex_);
    watcher = std::move(watcher_);
  }
  digests_.stop();
  watcher.reset();  // waits until its callbacks have returned
  std::promise<void> done;
  boost::asio::post(working_, [&] {
    stopping_ = true;
    timer_.cancel();
    worker_.finish(imported_ && folder_.is_at(row_.path));
    done.set_value();
  });
  done.get_future().wait();
  // Wait for a publication or a packing that is still running.
  const std::scoped_lock packing(packing_mutex_);
  const std::scoped_lock detection(detection_mutex_);
  const std::scoped_lock publisher(publisher_mutex_);
}

void Notebook::submit(ChangeRequest request, ChangeReply reply) {
  {
    const std::scoped_lock lock(submissions_mutex_);
    if (!closed_) {
      submissions_.push_back({std::move(request), std::move(reply)});
      // One publication at a time: submissions that arrive during it share the next one.
      if (std::exchange(is_publishing_, true)) return;
      return boost::asio::post(context_.pool, [self = shared_from_this()] { self->publish_submissions(); });
    }
  }
  reply(closed());
}

void Notebook::publish_submissions() {
  for (;;) {
    std::vector<OperationPublisher::ChangeSubmission> submissions;
    {
      const std::scoped_lock lock(submissions_mutex_);
      is_publishing_ = !submissions_.empty();
      if (!is_publishing_) return;
      submissions.swap(submissions_);
    }
    {
      const std::scoped_lock lock(publisher_mutex_);
      publisher_.publish(std::move(submissions));
    }
    hint();
  }
}

// Posts one run of the worker; further hints until it starts have no effect.
void Notebook::hint() {
  if (hinted_.exchange(true)) return;
  boost::asio::post(working_, [self = shared_from_this()] {
    self->hinted_ = false;
    self->work();
  });
}

// One run of the worker, and the timer for the next. A hint may run it sooner: expires_after() then cancels
// the older wait, so there is never more than one. Threads: on the strand working_.
void Notebook::work() {
  if (stopping_) return;
  // Never work in a folder that was moved away: its files no longer are the user's notebook.
  const bool is_there = folder_.is_at(row_.path);
  Millis pause = kImportPause;
  if (!is_there) {
    pause = worker_.wait_because("There is another folder at " + row_.path +
                                 ", or none; put the notebook's own back.");
  } else if (imported_) {
    pause = worker_.run_once();
    pack_after_commits();
  }
  if (is_time_to_rescan()) {
    boost::asio::post(context_.pool,
                      [self = shared_from_this()] { self->on_rescan("the last rescan failed"); });
  }
  timer_.expires_after(pause);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->work();
  });
}

// Posts a check of the loose objects if there were commits since the last one.
void Notebook::pack_after_commits() {
  if (std::exchange(packed_commits_, worker_.status().commits) == worker_.status().commits) return;
  boost::asio::post(context_.pool, [self = shared_from_this()] { self->pack(); });
}

// Packing is not needed for any answer, so an error is only logged.
void Notebook::pack() {
  const std::unique_lock lock(packing_mutex_, std::try_to_lock);
  if (!lock || digests_.stopping() || !has_many_loose_objects(row_.path)) return;
  const auto packed = pack_loose_objects(row_.path, digests_.stopping());
  if (packed || !context_.logger) return;
  context_.logger(LogLevel::warning, LogLine("notebook's objects are not packed")
                                         .add("notebook", row_.name)
                                         .add("why", packed.error().message)
                                         .str());
}

bool Notebook::is_time_to_rescan() {
  const std::scoped_lock lock(watcher_mutex_);
  if (!rescan_at_ || steady_now() < *rescan_at_) return false;
  rescan_at_.reset();
  return true;
}

void Notebook::on_touched(const std::vector<TouchedPath>& touched) {
  const std::scoped_lock lock(detection_mutex_);
  (void)publish_detected(find_changes(detection_input(), touched));
  // Files that were ignored until now may count.
  if (std::any_of(touched.begin(), touched.end(),
                  [](const TouchedPath& one) { return is_ignore_file(one.path); })) {
    (void)publish_detected(find_all_changes(detection_input(), context_.clock.now()));
  }
}

// REQUIRES: detection_mutex_ is held.
DetectionInput Notebook::detection_input() {
  ignores_.refresh();
  return {folder_, digests_, detection_state_, own_writes_, row_.id, &ignores_};
}

void Notebook::on_rescan(const std::string& reason) {
  if (context_.logger) {
    context_.logger(LogLevel::info,
                    LogLine("notebook rescan starts").add("notebook", row_.name).add("why", reason).str());
  }
  (void)rescan();
}

Result<std::size_t> Notebook::rescan() {
  const std::scoped_lock lock(detection_mutex_);
  if (!imported_) return note_detected(import());
  return publish_detected(find_all_changes(detection_input(), context_.clock.now()));
}

// Records the files that the folder begins with, and lets the worker begin. Returns their number.
// REQUIRES: detection_mutex_ is held.
Result<std::size_t> Notebook::import() {
  ignores_.refresh();
  auto done = import_files({folder_, digests_, ignores_, detection_state_, row_, context_.clock.now()});
  if (!done) return done.error();
  const auto counts = detection_state_.counts(row_.id);
  if (!counts) return counts.error();
  boost::asio::post(working_, [self = shared_from_this()] {
    const auto noted = self->worker_.note_uncommitted();
    self->imported_ = noted.has_value();
    if (!noted) (void)self->note_detected(noted.error());
    self->hint();
  });
  return static_cast<std::size_t>(counts->files);
}

// REQUIRES: detection_mutex_ is held.
Result<std::size_t> Notebook::publish_detected(Result<std::vector<Operation>> changes) {
  if (!changes) return note_detected(changes.error());
  if (!changes->empty()) {
    const std::scoped_lock lock(publisher_mutex_);
    auto published = publisher_.publish(*changes);
    hint();
    if (!published) return note_detected(published.error());
  }
  return note_detected(changes->size());
}

// Notes whether change detection succeeded; after an error it is repeated.
Result<std::size_t> Notebook::note_detected(const Result<std::size_t>& found) {
  const std::scoped_lock lock(watcher_mutex_);
  detection_error_ = found ? "" : found.error().message;
  // Pause first: the cause of the error may still exist.
  if (!found) rescan_at_ = steady_now() + kRescanPause;
  return found;
}

// Empty: no change waits, or the worker is about to apply it.
std::string Notebook::why_changes_wait() {
  const Answer answer = context_.engine.call({.admin = QueueQuery{queue_, 0}});
  const auto* document = std::get_if<Result<QueueDocument>>(&answer.admin);
  if (document == nullptr || !*document || (*document)->row.status != QueueStatus::paused) return "";
  const auto& counts = (*document)->counts;
  const std::int64_t live = counts.at(static_cast<std::size_t>(Status::pending)) +
                            counts.at(static_cast<std::size_t>(Status::processing));
  if (live == 0) return "";
  return "The queue " + queue_ + " is paused, and " + std::to_string(live) +
         " changes wait. Resume it with: eventq queue resume " + queue_;
}

Result<NotebookStatus> Notebook::status() {
  const std::string waits = why_changes_wait();
  const std::scoped_lock lock(reader_mutex_);
  NotebookStatus status{.row = row_};
  auto counts = reader_state_.counts(row_.id);
  if (!counts) return counts.error();
  status.counts = *counts;
  auto waiting = reader_state_.waiting(row_.id);
  if (!waiting) return waiting.error();
  status.waiting = *waiting;
  auto commits = reader_state_.commits(row_.id, 1);
  if (!commits) return commits.error();
  if (!commits->empty()) status.last_commit = std::move(commits->front());
  auto not_committed = reader_state_.uncommitted(row_.id, kPathsShown);
  if (!not_committed) return not_committed.error();
  status.not_committed = std::move(*not_committed);
  status.worker = worker_.status();
  if (status.worker.worker_trouble.empty()) status.worker.worker_trouble = waits;
  const std::scoped_lock watcher_lock(watcher_mutex_);
  if (watcher_) status.watcher = watcher_->stats();
  status.watcher_trouble = detection_error_;
  status.files = digests_.troubles();
  return status;
}

Result<std::vector<FileRow>> Notebook::files(FileFilter which, const std::string& after, std::size_t limit) {
  const std::scoped_lock lock(reader_mutex_);
  return reader_state_.files(row_.id, which, after, limit);
}

Result<std::vector<FileRow>> Notebook::files_in(const NotebookState::FolderListing& listing, FileFilter which,
                                                const std::string& after, std::size_t limit) {
  const std::scoped_lock lock(reader_mutex_);
  return reader_state_.files_in(row_.id, listing, which, after, limit);
}

Result<FileRow> Notebook::file(std::int64_t id) {
  const std::scoped_lock lock(reader_mutex_);
  auto row = reader_state_.file(row_.id, id);
  if (!row) return row.error();
  if (*row) return std::move(**row);
  return Error{ErrorCode::not_found, "Notebook " + row_.name + " has no file " + std::to_string(id) + "."};
}

Result<FileRow> Notebook::file_at(const std::string& path) {
  const std::scoped_lock lock(reader_mutex_);
  auto row = reader_state_.file_at(row_.id, path);
  if (!row) return row.error();
  if (*row) return std::move(**row);
  return Error{ErrorCode::not_found, "Notebook " + row_.name + " has no file at " + path + "."};
}

Result<FileContent> Notebook::content(std::int64_t id) {
  auto row = file(id);
  if (!row) return row.error();
  if (row->folder) return Error{ErrorCode::conflict, row->path + " is a folder, which has no content."};
  auto bytes = folder_.read(row->path, kContent);
  if (!bytes) return bytes.error();
  // The file may be newer than its row. Its version must be that of the bytes, which no If-Match fits then.
  const auto there = folder_.file_state(row->path);
  if (!there || *there != row->state) {
    row->hash = hash_of(*bytes);
  }
  return FileContent{std::move(*row), std::move(*bytes)};
}

Result<std::vector<CommitRow>> Notebook::commits(std::size_t limit, const std::string& event_id) {
  const std::scoped_lock lock(reader_mutex_);
  if (!event_id.empty()) {
    const auto hash = reader_state_.commit_of(row_.id, event_id);
    if (!hash) return hash.error();
    if (!*hash) return std::vector<CommitRow>();
    auto all = reader_state_.commits(row_.id, kAllCommits);
    if (all) std::erase_if(*all, [&](const CommitRow& commit) { return commit.hash != **hash; });
    return all;
  }
  return reader_state_.commits(row_.id, limit);
}

}  // namespace eventq::notebook
