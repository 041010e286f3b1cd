// server_process.h: the real `eventq serve` in a folder of its own, to be killed and started again.
//
//   ServerProcess server({"--lease", "1s"});
//   ASSERT_TRUE(server.start()) << server.log();
//   HttpClient client(server.port());
//   EXPECT_EQ(client.get("/healthz")->status, 200);
//   server.kill();
//   ASSERT_TRUE(server.start());  // same store, another port
//
// Threads: belongs to one thread, except log().
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

// The program under test, with these arguments, in this folder.
ProcessSetup eventq_program(const std::string& directory, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment = {});

class ServerProcess {
 public:
  // `arguments` of `eventq serve`; without --listen and --store it takes any free port, and eventq.db in its
  // folder, or a database of its own where PostgreSQL is tested.
  explicit ServerProcess(std::vector<std::string> arguments = {}, std::vector<std::string> environment = {});

  // Starts the program and waits until it listens. False when it ended instead: see log() and wait().
  bool start();

  [[nodiscard]] std::uint16_t port() const { return port_; }  // another one after each start()
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string log() const;  // of the last start()

  // As the kernel does when memory runs out: at once, with nothing flushed. Waits for the end.
  void kill();
  // Asks for an orderly stop, and waits for it. The exit code as Process::wait().
  std::optional<int> terminate(std::chrono::milliseconds limit = std::chrono::seconds(60));
  void signal(int number) const { process_->signal(number); }
  std::optional<int> wait(std::chrono::milliseconds limit) { return process_->wait(limit); }

  // The rest of the first line of the log that contains `text`; waits for it.
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
