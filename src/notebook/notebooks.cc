// notebooks.cc: see notebooks.h.
#include "notebook/notebooks.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "notebook/git/git_repo.h"
#include "store/sqlite/lock_file.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kThreads = 4;
constexpr std::chrono::seconds kTryAgain{5};
constexpr std::size_t kNameChars = 100;

std::optional<Error> validate_name(const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= kNameChars && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '_' || c == '-';
      });
  if (fits && name != "." && name != "..") return std::nullopt;
  return Error{ErrorCode::invalid_argument,
               "name has from 1 to 100 characters of A-Z, a-z, 0-9, '.', '_' and '-'.", "name"};
}

// Compares whole path components. A trailing slash in `folder` is an empty last component, which matches.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end() || (std::next(end) == folder.end() && end->empty());
}

// The path with links resolved and without dots; empty when it does not exist.
std::filesystem::path real_path(const std::string& path) {
  std::error_code error;
  auto real = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : real;
}

class AllNotebooks final : public Notebooks {
 public:
  AllNotebooks(Engine& engine, NotebooksOptions options, sqlite::LockFile lock, NotebookState state)
      : options_(std::move(options)),
        clock_(options_.clock != nullptr ? *options_.clock : system_clock()),
        engine_(engine),
        lock_(std::move(lock)),
        pool_(kThreads),
        state_(std::move(state)) {}

  ~AllNotebooks() override { stop(); }

  // A thread retries the notebooks that cannot be opened, because their disk may be mounted later.
  Result<void> open_known() {
    if (auto opened = open_closed(); !opened) return opened;
    if (left_out_.empty()) return {};
    opener_ = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(adding_);
      while (!left_out_.empty() && !stop.stop_requested()) {
        if (stopping_.wait_for(lock, stop, kTryAgain, [&] { return stop.stop_requested(); })) return;
        (void)open_closed();  // an unreadable NotebookState is retried in the next round
      }
    });
    return {};
  }

  Result<NotebookStatus> add(const std::string& name, const std::string& path,
                             const NotebookSettings& settings) override {
    if (auto fault = validate_name(name)) return *fault;
    const auto real = real_path(path);
    std::error_code error;
    if (real.empty() || !std::filesystem::is_directory(real, error)) {
      return Error{ErrorCode::not_found, "There is no folder " + path + "; create it first.", "path"};
    }
    if (!is_allowed(real.string())) {  // check the resolved path: the links in `path` may have changed since
      return Error{ErrorCode::conflict, not_allowed_text(path), "path"};
    }
    const std::scoped_lock lock(adding_);
    if (is_closed()) return Error{ErrorCode::unavailable, "The server is stopping."};
    const auto rows = state_.notebooks();
    if (!rows) return rows.error();
    for (const NotebookRow& row : *rows) {
      if (row.name != name && !lies_in(real, row.path) && !lies_in(row.path, real)) continue;
      std::string message = "The folder " + row.path + " is the notebook \"" + row.name + "\" already.";
      if (const auto left_out = left_out_.find(row.name); left_out != left_out_.end()) {
        message.append(" It is left out: ").append(left_out->second) += ".";
      }
      return Error{ErrorCode::conflict, message, row.name == name ? "name" : "path"};
    }
    if (!settings.git_nested) {
      if (auto fits = check_not_nested(real.string()); !fits) return fits.error();
    }
    // Open the repository before the row is stored: a folder that git refuses must not become a notebook.
    if (auto repo = GitRepo::open(real.string()); !repo) return repo.error();
    NotebookRow row;
    row.name = name;
    row.path = real.string();
    row.settings = settings;
    row.created_at = clock_.now();
    auto added = state_.add_notebook(row);
    if (!added) return added.error();
    auto opened = open_one(*added);
    if (!opened) {
      (void)state_.remove_notebook(added->id);
      return opened.error();
    }
    return (*opened)->status();
  }

  [[nodiscard]] bool is_allowed(const std::string& path) const override {
    const auto real = real_path(path);
    if (real.empty()) return false;
    return std::any_of(options_.allow.begin(), options_.allow.end(), [&](const std::string& folder) {
      const auto allowed = real_path(folder);
      return !allowed.empty() && lies_in(real, allowed);
    });
  }

  [[nodiscard]] std::string not_allowed_text(const std::string& path) const override {
    if (!std::filesystem::path(path).is_absolute()) {
      return path +
             ", relative to the server's current folder, is not an allowed folder; send an absolute path, "
             "such as /srv/notes.";
    }
    std::string allowed;
    for (const std::string& folder : options_.allow) {
      const auto real = real_path(folder);
      allowed += (allowed.empty() ? "" : ", ") + (real.empty() ? folder : real.string());
    }
    return path + " must be an existing folder inside the folders that --notebooks-allow names: " + allowed +
           ".";
  }

  [[nodiscard]] std::shared_ptr<Notebook> find(const std::string& name) const override {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(name);
    return found == open_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::vector<std::shared_ptr<Notebook>> all() const override {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Notebook>> all;
    for (const auto& [name, notebook] : open_) all.push_back(notebook);
    return all;
  }

  void run(std::function<void()> what) override {
    {
      const std::scoped_lock lock(mutex_);
      if (!closed_) return boost::asio::post(pool_, std::move(what));
    }
    what();  // the pool is stopping or has stopped
  }

  void stop() override {
    opener_ = std::jthread();  // joins the thread
    const std::scoped_lock adding(adding_);
    std::map<std::string, std::shared_ptr<Notebook>> open;
    {
      const std::scoped_lock lock(mutex_);
      if (std::exchange(closed_, true)) return;
      open = open_;
    }
    for (const auto& [name, notebook] : open) notebook->stop();
    pool_.join();
  }

 private:
  // Opens and starts the notebook; find() returns it from then on.
  // REQUIRES: adding_ is held and stop() has not closed this object, or no other thread has it yet. Otherwise
  // a notebook could be opened twice, or never be stopped.
  Result<std::shared_ptr<Notebook>> open_one(const NotebookRow& row) {
    auto opened =
        Notebook::open({pool_, engine_, options_.state, options_.mask, clock_, options_.logger}, row);
    if (!opened) return opened;
    if (auto started = (*opened)->start(); !started) return started.error();
    {
      const std::scoped_lock lock(mutex_);
      open_[row.name] = *opened;
    }
    if (options_.logger) {
      options_.logger(LogLevel::info,
                      LogLine("notebook opened").add("notebook", row.name).add("path", row.path).str());
    }
    return opened;
  }

  // Tries to open every stored notebook that is not open, and keeps the reasons of failures in left_out_.
  // Runs every kTryAgain, so it logs a reason only when it differs from the last one.
  // REQUIRES: as open_one(). Errors: the NotebookState cannot be read.
  Result<void> open_closed() {
    const auto rows = state_.notebooks();
    if (!rows) return rows.error();
    for (const NotebookRow& row : *rows) {
      if (find(row.name)) continue;
      const std::string why = why_not_opened(row);
      if (why.empty()) {
        left_out_.erase(row.name);
      } else if (auto& noted = left_out_[row.name]; noted != why) {
        noted = why;
        warn(row, why);
      }
    }
    return {};
  }

  std::string why_not_opened(const NotebookRow& row) {
    if (real_path(row.path).empty()) return "its folder does not exist";
    if (!is_allowed(row.path)) return "its folder is outside of the folders that --notebooks-allow names";
    const auto opened = open_one(row);
    return opened ? "" : opened.error().message;
  }

  [[nodiscard]] bool is_closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

  void warn(const NotebookRow& row, const std::string& why) {
    if (!options_.logger) return;
    options_.logger(LogLevel::warning, LogLine("notebook is left out")
                                           .add("notebook", row.name)
                                           .add("path", row.path)
                                           .add("why", why)
                                           .str());
  }

  const NotebooksOptions options_;
  const Clock& clock_;
  Engine& engine_;
  const sqlite::LockFile lock_;

  boost::asio::thread_pool pool_;  // outlives the notebooks, which have strands on it

  std::mutex adding_;  // held while a notebook is added, which may take long
  // Guarded by adding_.
  NotebookState state_;
  std::map<std::string, std::string> left_out_;  // notebooks that could not be opened, with the reason
  std::condition_variable_any stopping_;

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Notebook>> open_;
  bool closed_ = false;

  std::jthread opener_;  // runs while left_out_ is not empty
};

}  // namespace

Result<std::unique_ptr<Notebooks>> Notebooks::open(Engine& engine, NotebooksOptions options) {
  auto lock = sqlite::LockFile::take(options.state);
  if (!lock) return lock.error();
  auto state = NotebookState::open(options.state);
  if (!state) return state.error();
  auto notebooks =
      std::make_unique<AllNotebooks>(engine, std::move(options), std::move(*lock), std::move(*state));
  if (auto opened = notebooks->open_known(); !opened) return opened.error();
  return std::unique_ptr<Notebooks>(std::move(notebooks));
}

}  // namespace eventq::notebook
