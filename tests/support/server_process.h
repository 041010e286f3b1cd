// server_process.h: runs the real `eventq serve` in its own folder. Tests can kill and restart it.
//
//   ServerProcess server({"--lease", "1s"});
//   ASSERT_TRUE(server.start()) << server.log();
//   HttpClient client(server.port());
//   EXPECT_EQ(client.get("/healthz")->status, 200);
//   server.kill();
//   ASSERT_TRUE(server.start());  // same store, another port
//
// Threads: use an object on one thread only; any thread may call log().
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.h"
#include "support/temporary_directory.h"
#include "support/test_store.h"

namespace eventq {

// Runs the program under test with these arguments in this folder.
ProcessSetup eventq_program(const std::string& directory, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment = {});

class ServerProcess {
 public:
  // `arguments` of `eventq serve`. Without --listen it uses any free port. Without --store it uses eventq.db
  // in its folder, or its own database in tests of PostgreSQL.
  explicit ServerProcess(std::vector<std::string> arguments = {}, std::vector<std::string> environment = {});

  // Starts the program and waits until it listens. False if it ended instead; log() has the reason.
  bool start();

  [[nodiscard]] std::uint16_t port() const { return port_; }  // changes with each start()
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string log() const;  // of the last start()

  // Sends SIGKILL, as the kernel does when memory runs out, and waits for the end. Nothing is flushed.
  void kill();
  // Requests an orderly stop and waits for it. Returns the exit code as Process::wait() does.
  std::optional<int> terminate(std::chrono::milliseconds limit = std::chrono::seconds(60));
  void signal(int number) const { process_->signal(number); }
  std::optional<int> wait(std::chrono::milliseconds limit) { return process_->wait(limit); }

  // Waits for a log line that contains `text`, and returns the rest of the line.
  std::optional<std::string> wait_for_line(std::string_view text,
                                           std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    return process_->wait_for_line(text, limit);
  }

 private:
  const std::vector<std::string> arguments_;
  const std::vector<std::string> environment_;
  const TemporaryDirectory directory_;
  std::optional<TestDatabase> database_;
  std::unique_ptr<Process> process_;  // of the last start()
  std::uint16_t port_ = 0;
};

}  // namespace eventq
