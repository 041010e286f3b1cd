// docs_session.h: runs the blocks of one page in an empty folder, in the order of the page.
//
// Commands see a terminal, so they print what a reader sees. The home folder is the session's folder. Servers
// listen on any free port, and both `eventq` and `curl localhost:8080` reach the one that was started last. A
// URL such as postgres://eventq@db.example/eventq stands for an empty database of the test's own cluster.
// EVENTQ is the folder of the source. Threads: belongs to one thread.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "docs/docs_page.h"
#include "docs/shown_output.h"
#include "support/postgres_cluster.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq {

class DocsSession {
 public:
  DocsSession();

  // Empty when the block does what the page says, otherwise what is wrong, for people.
  std::string run(const DocsBlock& block);

  // Stops the commands that stay running. Empty when each of them exits with 0.
  std::string end();

 private:
  struct Running {
    Running(std::string text, const ProcessSetup& setup) : command(std::move(text)), process(setup) {}

    std::string command;
    Process process;
  };

  std::string run_console(const DocsBlock& block);
  std::string run_command(const DocsCommand& command, int exit_code);
  std::string start(const std::string& command);
  std::string compare_answer(const DocsBlock& block);
  std::string compare_lines(const DocsBlock& block, const std::string& command);
  std::string check_configuration(const DocsBlock& block);
  std::string stop(std::list<Running>::iterator running);
  void write_file(const std::string& name, const std::vector<std::string>& lines) const;
  [[nodiscard]] std::string with_own_names(const std::string& command);
  [[nodiscard]] ProcessSetup setup(const std::vector<std::string>& command) const;

  const TemporaryDirectory directory_;
  std::uint16_t port_ = 0;
  ShownOutput shown_;
  std::string last_output_;
  std::map<std::string, TestDatabase> databases_;  // by the URL that the page shows
  std::list<Running> running_;
};

}  // namespace eventq
