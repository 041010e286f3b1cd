// notebook_fixture.h: a running notebook with a real queue, folder and repository, for tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/steady.h"
#include "engine/engine.h"
#include "notebook/notebook.h"
#include "notebook/notebooks.h"
#include "notebook/operation.h"
#include "support/open_engine.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq::notebook {

namespace fs = std::filesystem;

// Runs `git fsck` at the end of each test.
class NotebookTest : public testing::Test {
 protected:
  static constexpr std::chrono::minutes kLongTime{2};

  NotebookTest() {
    fs::create_directory(root_);
    start();
    NotebookSettings settings;
    settings.git_commit_interval = std::chrono::hours(1);  // commits only on request
    settings.git_commit_max_files = 1'000'000;
    settings.retry_backoff = Millis(10);
    settings.max_retries = 1000;
    settings.poll_interval = Millis(10);
    auto added = notebooks_->add("n", root_, settings);
    EXPECT_TRUE(added) << (added ? "" : added.error().message);
    notebook_ = notebooks_->find("n");
  }
  ~NotebookTest() override {
    stop();
    git("fsck --strict");
  }

  void start() {
    auto engine = open_engine("sqlite:" + directory_.file("queue.db"), {});
    engine_ = std::move(*engine);
    NotebooksOptions options;
    options.state = directory_.file("state");
    options.allow = {directory_.file("")};
    options.clock = clock_;
    auto notebooks = Notebooks::open(*engine_, options);
    EXPECT_TRUE(notebooks) << (notebooks ? "" : notebooks.error().message);
    notebooks_ = std::move(*notebooks);
    notebook_ = notebooks_->find("n");
  }
  void stop() {
    notebook_.reset();
    if (notebooks_) notebooks_->stop();
    notebooks_.reset();
    engine_.reset();
  }

  std::future<Result<Accepted>> ask(ChangeRequest request) {
    auto promise = std::make_shared<std::promise<Result<Accepted>>>();
    auto future = promise->get_future();
    notebook_->submit(std::move(request),
                      [promise](Result<Accepted> a) { promise->set_value(std::move(a)); });
    return future;
  }
  // Waits for the event's end and returns it.
  Event end_of(EventId id) {
    Command command;
    command.wait = WaitRequest{id, kLongTime};
    EXPECT_TRUE(engine_->call(std::move(command)).waited);
    return now_of(id);
  }
  Event now_of(EventId id) {
    Command command;
    command.get = id;
    return (*engine_->call(std::move(command)).details)->event;
  }
  // The number of log entries that end the event.
  int ends_of(EventId id) {
    Command command;
    command.get = id;
    const Answer answer = engine_->call(std::move(command));
    int ends = 0;
    for (const LogEntry& entry : (*answer.details)->log) {
      ends += entry.action == Action::completed || entry.action == Action::superseded ? 1 : 0;
      ends += entry.action == Action::failed && !entry.next_retry_at ? 1 : 0;
    }
    return ends;
  }
  Event done(ChangeRequest request) {
    auto accepted = ask(std::move(request)).get();
    EXPECT_TRUE(accepted) << (accepted ? "" : accepted.error().message);
    if (!accepted) return {};
    if (accepted->group) {
      Command command;
      command.wait = WaitRequest{WaitRequest::Correlated{accepted->correlation_id}, kLongTime};
      EXPECT_TRUE(engine_->call(std::move(command)).waited);
    }
    return end_of(accepted->event.id);
  }
  Event make(const std::string& path, const std::string& content) {
    return done({.kind = OperationKind::create, .path = path, .content = content});
  }
  void commit() { EXPECT_EQ(done({.kind = OperationKind::batch_commit}).status, Status::completed); }

  // Sets the queue's status. The worker claims nothing from a paused queue.
  void pause(QueueStatus status) {
    Command command;
    command.admin = QueueChange{"notebook:n", QueueChange::SetStatus{status}, {"test", ""}};
    const Answer answer = engine_->call(std::move(command));
    EXPECT_FALSE(answer.error);
  }

  std::int64_t id_of(const std::string& path) {
    const auto row = notebook_->file_at(path);
    EXPECT_TRUE(row) << path;
    return row ? row->id : 0;
  }
  [[nodiscard]] std::string get(const std::string& path) const {
    std::ifstream file(root_ + "/" + path);
    return file ? std::string(std::istreambuf_iterator<char>(file), {}) : "(absent)";
  }
  void put(const std::string& path, const std::string& content) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << content;
  }
  std::vector<std::string> known() {
    std::vector<std::string> paths;
    const auto rows = notebook_->files(FileFilter::files, "", 1000);
    for (const FileRow& row : *rows) paths.push_back(row.path);
    return paths;
  }
  // Polls `holds` until it is true; the test fails after kLongTime.
  template <typename Condition>
  static void wait_until(const Condition& holds, const char* what) {
    const SteadyTime start = steady_now();
    while (!holds() && millis_since(start) < kLongTime) std::this_thread::yield();
    EXPECT_TRUE(holds()) << what;
  }
  std::string git(const std::string& arguments) {
    Process process({{"/bin/sh", "-c", "git " + arguments}, {"HOME=" + directory_.file("")}, root_});
    EXPECT_EQ(process.wait(kLongTime), 0) << arguments << process.err();
    return process.out();
  }

  const Clock* clock_ = nullptr;  // of the notebooks from the next start() on; null: the system's
  const TemporaryDirectory directory_;
  const std::string root_ = directory_.file("notes");
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Notebooks> notebooks_;
  std::shared_ptr<Notebook> notebook_;
};

}  // namespace eventq::notebook
