// notebook_impl.cc: see notebook_impl.h.
#include "notebook/notebook_impl.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <utility>

#include "base/log.h"
#include "base/steady.h"
#include "notebook/files/note_path.h"
#include "notebook/watch/change_detection.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kAllCommits = 1'000'000'000;
constexpr std::size_t kContent = 64 * 1024 * 1024;
constexpr std::int64_t kDepth = 1'000'000;  // what others do comes in bursts as large as the folder

constexpr std::chrono::seconds kRescanPause{5};
// The only worker, whose next life gives back what the last one held: nobody waits for the lease to end.
constexpr std::chrono::hours kLease{24};

Error closed() { return {ErrorCode::unavailable, "The server is stopping.", ""}; }

QueueConfig config_of(const Settings& settings) {
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

Result<void> configure(Engine& engine, const std::string& queue, const Settings& settings) {
  Command command;
  command.admin = QueueChange{queue, QueueChange::Configure{config_of(settings)}};
  const Answer answer = engine.call(std::move(command));
  if (answer.error) return *answer.error;
  const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
  if (!changed) return changed.error();
  return {};
}

}  // namespace

Result<NotebookImpl::States> NotebookImpl::open_states(const std::string& path) {
  auto publisher = State::open(path);
  if (!publisher) return publisher.error();
  auto worker = State::open(path);
  if (!worker) return worker.error();
  auto outside = State::open(path);
  if (!outside) return outside.error();
  auto reader = State::open(path);
  if (!reader) return reader.error();
  return States{std::move(*publisher), std::move(*worker), std::move(*outside), std::move(*reader)};
}

Result<std::shared_ptr<NotebookImpl>> NotebookImpl::open(const Surroundings& around, const NotebookRow& row) {
  auto folder = Folder::open(row.path, around.mask);
  if (!folder) return folder.error();
  if (auto made = folder->make_folder(std::string(kOwnFolder)); !made) return made.error();
  auto lock = folder->lock();
  if (!lock) return lock.error();
  const auto git = folder->kind(".git");
  if (!git) return git.error();
  if (*git == Entry::absent) {
    return Error{ErrorCode::not_found, row.path + " has no .git any more: is what belongs there mounted?",
                 ""};
  }
  auto repo = GitRepo::open(row.path);
  if (!repo) return repo.error();
  auto states = open_states(around.state);
  if (!states) return states.error();
  std::shared_ptr<NotebookImpl> opened(new NotebookImpl(around, row, std::move(*folder), std::move(*lock),
                                                        std::move(*repo), std::move(*states)));
  if (auto configured = configure(around.engine, opened->queue_, row.settings); !configured)
    return configured.error();
  if (auto recovered = opened->worker_.recover(); !recovered) return recovered.error();
  if (auto loaded = opened->publisher_.load(); !loaded) return loaded.error();
  return opened;
}

NotebookImpl::NotebookImpl(const Surroundings& around, NotebookRow row, Folder folder, Descriptor lock,
                           GitRepo repo, States states)
    : around_(around),
      row_(std::move(row)),
      queue_("notebook:" + row_.name),
      folder_(std::move(folder)),
      lock_(std::move(lock)),
      repo_(std::move(repo)),
      worker_state_(std::move(states.worker)),
      worker_({around_.engine, pending_operations_, folder_, worker_state_, expected_, repo_, around_.clock,
               around_.logger},
              row_, queue_),
      working_(boost::asio::make_strand(around_.pool.get_executor())),
      timer_(working_),
      publisher_(around_.engine, queue_, std::move(states.publisher), row_.id, pending_operations_),
      outside_state_(std::move(states.outside)),
      reader_state_(std::move(states.reader)) {}

// The watcher's thread ends before the notebook does, so that it need not keep it alive.
Result<void> NotebookImpl::start() {
  Watcher::Options options;
  options.logger = around_.logger;
  auto watcher = Watcher::start(
      row_.path, std::move(options), [this](const std::vector<Touched>& touched) { on_touched(touched); },
      [this](const std::string& reason) { on_rescan(reason); });
  if (!watcher) return watcher.error();
  {
    const std::scoped_lock lock(outlook_mutex_);
    watcher_ = std::move(*watcher);
  }
  boost::asio::post(around_.pool, [self = shared_from_this()] { self->on_rescan("start"); });
  hint();
  return {};
}

void NotebookImpl::stop() {
  {
    const std::scoped_lock lock(asked_mutex_);
    closed_ = true;
  }
  std::unique_ptr<Watcher> watcher;
  {
    const std::scoped_lock lock(outlook_mutex_);
    watcher = std::move(watcher_);
  }
  watcher.reset();  // waits for its callbacks
  std::promise<void> done;
  boost::asio::post(working_, [&] {
    stopping_ = true;
    timer_.cancel();
    worker_.wind_up(folder_.is_at(row_.path));
    done.set_value();
  });
  done.get_future().wait();
  // Whoever publishes at this moment finishes first.
  const std::scoped_lock outside(outside_mutex_);
  const std::scoped_lock publisher(publisher_mutex_);
}

void NotebookImpl::submit(ChangeRequest request, Reply reply) {
  {
    const std::scoped_lock lock(asked_mutex_);
    if (!closed_) {
      asked_.push_back({std::move(request), std::move(reply)});
      if (std::exchange(is_publishing_, true)) return;
      return boost::asio::post(around_.pool, [self = shared_from_this()] { self->publish_gathered(); });
    }
  }
  reply(closed());
}

void NotebookImpl::publish_gathered() {
  for (;;) {
    std::vector<Publisher::Asked> asked;
    {
      const std::scoped_lock lock(asked_mutex_);
      is_publishing_ = !asked_.empty();
      if (!is_publishing_) return;
      asked.swap(asked_);
    }
    {
      const std::scoped_lock lock(publisher_mutex_);
      publisher_.publish(std::move(asked));
    }
    hint();
  }
}

// Wakes the worker.
void NotebookImpl::hint() {
  if (hinted_.exchange(true)) return;
  boost::asio::post(working_, [self = shared_from_this()] {
    self->hinted_ = false;
    self->work();
  });
}

void NotebookImpl::work() {
  if (stopping_) return;
  const bool is_there = folder_.is_at(row_.path);
  const Millis pause = is_there ? worker_.turn()
                                : worker_.hold("There is another folder at " + row_.path +
                                               ", or none; put the notebook's own back.");
  if (is_time_to_rescan()) {
    boost::asio::post(around_.pool, [self = shared_from_this()] { self->on_rescan("the last look failed"); });
  }
  timer_.expires_after(pause);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& cancelled) {
    if (!cancelled) self->work();
  });
}

bool NotebookImpl::is_time_to_rescan() {
  const std::scoped_lock lock(outlook_mutex_);
  if (!rescan_at_ || steady_now() < *rescan_at_) return false;
  rescan_at_.reset();
  return true;
}

void NotebookImpl::on_touched(const std::vector<Touched>& touched) {
  const std::scoped_lock lock(outside_mutex_);
  (void)publish_outside(find_changes(folder_, outside_state_, expected_, row_.id, touched));
}

void NotebookImpl::on_rescan(const std::string& reason) {
  if (around_.logger) {
    around_.logger(LogLevel::info,
                   LogLine("notebook is compared").add("notebook", row_.name).add("why", reason).str());
  }
  (void)rescan();
}

Result<std::size_t> NotebookImpl::rescan() {
  const std::scoped_lock lock(outside_mutex_);
  return publish_outside(find_all_changes(folder_, outside_state_, expected_, row_.id, around_.clock.now()));
}

// REQUIRES: outside_mutex_ is held.
Result<std::size_t> NotebookImpl::publish_outside(Result<std::vector<Operation>> changes) {
  Result<void> published;
  if (!changes) {
    published = changes.error();
  } else if (!changes->empty()) {
    const std::scoped_lock lock(publisher_mutex_);
    published = publisher_.publish(*changes);
    hint();
  }
  const std::scoped_lock lock(outlook_mutex_);
  outside_trouble_ = published ? "" : published.error().message;
  if (published) return changes->size();
  rescan_at_ = steady_now() + kRescanPause;  // what hindered this look may still hinder the next
  return published.error();
}

Result<NotebookStatus> NotebookImpl::status() {
  const std::scoped_lock lock(reader_mutex_);
  NotebookStatus status;
  status.row = row_;
  auto counts = reader_state_.counts(row_.id);
  if (!counts) return counts.error();
  status.counts = *counts;
  auto waiting = reader_state_.waiting(row_.id);
  if (!waiting) return waiting.error();
  status.waiting = *waiting;
  auto commits = reader_state_.commits(row_.id, 1);
  if (!commits) return commits.error();
  if (!commits->empty()) status.last_commit = std::move(commits->front());
  WorkerNews news = worker_.news();
  status.commits = news.commits;
  status.committed_files = news.committed_files;
  status.commit_trouble = std::move(news.commit_trouble);
  status.worker_trouble = std::move(news.worker_trouble);
  const std::scoped_lock outlook(outlook_mutex_);
  if (watcher_) status.watcher = watcher_->stats();
  status.watcher_trouble = outside_trouble_;
  return status;
}

Result<std::vector<FileRow>> NotebookImpl::files(State::Which which, const std::string& after,
                                                 std::size_t limit) {
  const std::scoped_lock lock(reader_mutex_);
  return reader_state_.files(row_.id, which, after, limit);
}

Result<FileRow> NotebookImpl::file(std::int64_t id) {
  const std::scoped_lock lock(reader_mutex_);
  auto row = reader_state_.file(row_.id, id);
  if (!row) return row.error();
  if (*row) return std::move(**row);
  return Error{ErrorCode::not_found, "Notebook " + row_.name + " has no file " + std::to_string(id) + ".",
               ""};
}

Result<FileRow> NotebookImpl::file_at(const std::string& path) {
  const std::scoped_lock lock(reader_mutex_);
  auto row = reader_state_.file_at(row_.id, path);
  if (!row) return row.error();
  if (*row) return std::move(**row);
  return Error{ErrorCode::not_found, "Notebook " + row_.name + " has no file at " + path + ".", ""};
}

Result<Content> NotebookImpl::content(std::int64_t id) {
  auto row = file(id);
  if (!row) return row.error();
  if (row->folder) return Error{ErrorCode::conflict, row->path + " is a folder, which has no content.", ""};
  auto bytes = folder_.read(row->path, kContent);
  if (!bytes) return bytes.error();
  return Content{std::move(*row), std::move(*bytes)};
}

Result<std::vector<CommitRow>> NotebookImpl::commits(std::size_t limit, const std::string& event_id) {
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
