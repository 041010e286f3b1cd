// notebook.cc: see notebook.h.
#include "notebook.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "measure.h"
#include "notebook/notebooks.h"
#include "support/open_engine.h"
#include "support/temporary_directory.h"

namespace eventq::bench {
namespace {

using notebook::Accepted;
using notebook::ChangeRequest;
using notebook::Notebook;
using notebook::OperationKind;

void run(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;  // NOLINT: the command contains no foreign input
  std::fprintf(stderr, "failed: %s\n", command.c_str());
  std::exit(1);
}

std::string file_name(int i) { return "note-" + std::to_string(i) + ".md"; }
std::string text_of_file(int i, const char* what) {
  return what + std::string(1000, static_cast<char>('a' + i % 26));
}

void write_files(const std::string& folder, int files) {
  std::filesystem::create_directory(folder);
  for (int i = 0; i < files; ++i) std::ofstream(folder + "/" + file_name(i)) << text_of_file(i, "old ");
}

// One `git commit` per update, as a program without a queue does it.
double one_by_one(const std::string& folder, int files) {
  write_files(folder, files);
  const std::string git = "git -C " + folder + " -c user.name=bench -c user.email=bench@localhost ";
  run(git + "init -q && " + git + "add -A && " + git + "commit -q -m all");
  ::sync();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < files; ++i) {
    std::ofstream(folder + "/" + file_name(i)) << text_of_file(i, "new ");
    run(git + "commit -q -m \"Update " + file_name(i) + "\" -- " + file_name(i));
  }
  return seconds_since(start);
}

std::future<Result<Accepted>> submit(Notebook& notebook, ChangeRequest request) {
  auto promise = std::make_shared<std::promise<Result<Accepted>>>();
  auto answer = promise->get_future();
  notebook.submit(std::move(request), [promise](Result<Accepted> a) { promise->set_value(std::move(a)); });
  return answer;
}

// When this returns, all changes submitted before are committed.
void commit(Engine& engine, Notebook& notebook) {
  const Accepted accepted = must(submit(notebook, {.kind = OperationKind::batch_commit}).get());
  Command command;
  command.wait = WaitRequest{accepted.event.id, std::chrono::minutes(10)};
  engine.call(std::move(command));
}

double through_the_queue(const TemporaryDirectory& directory, int files) {
  const std::string folder = directory.file("notebook");
  write_files(folder, files);
  const auto engine = must(open_engine("sqlite:" + directory.file("queue.db"), {}));
  const auto notebooks = must(
      notebook::Notebooks::open(*engine, {.state = directory.file("state"), .allow = {directory.file("")}}));
  must(notebooks->add("n", folder, {}));
  const auto notebook = notebooks->find("n");
  must(notebook->rescan());
  commit(*engine, *notebook);

  ::sync();  // otherwise our syncs would also write the files of one_by_one()
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::future<Result<Accepted>>> submitted;
  for (int i = 0; i < files; ++i) {
    const auto row = must(notebook->file_at(file_name(i)));
    submitted.push_back(submit(
        *notebook, {.kind = OperationKind::update, .file = row.id, .content = text_of_file(i, "new ")}));
  }
  for (auto& one : submitted) must(one.get());
  commit(*engine, *notebook);
  const double seconds = seconds_since(start);
  notebooks->stop();
  return seconds;
}

}  // namespace

void bench_notebook(int files) {
  const TemporaryDirectory directory;
  const double each = one_by_one(directory.file("plain"), files);
  const double ours = through_the_queue(directory, files);
  run("test -z \"$(git -C " + directory.file("notebook") + " status --porcelain)\"");
  std::printf("notebook %10.0f  updates per second through the queue, %d files\n", files / ours, files);
  std::printf("notebook %10.0f  updates per second with one git commit each\n", files / each);
  std::printf("notebook %.1f  times faster; at least 20\n", each / ours);
}

}  // namespace eventq::bench
