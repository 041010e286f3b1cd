// server_process.cc: see server_process.h.
#include "support/server_process.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/numbers.h"

namespace eventq {
namespace {

// Long, because a start takes seconds with a sanitizer on a busy machine.
constexpr std::chrono::seconds kStartLimit{60};

// "127.0.0.1:39239 dashboard=..." -> 39239
std::uint16_t port_of(std::string_view address) {
  address = address.substr(0, address.find(' '));
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return 0;
  return parse_whole<std::uint16_t>(address.substr(colon + 1)).value_or(0);
}

}  // namespace

ProcessSetup eventq_program(const std::string& directory, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment) {
  ProcessSetup setup{.command = {EVENTQ_BINARY}, .environment = environment, .directory = directory};
  setup.command.insert(setup.command.end(), arguments.begin(), arguments.end());
  return setup;
}

ServerProcess::ServerProcess(std::vector<std::string> arguments, std::vector<std::string> environment)
    : arguments_(std::move(arguments)), environment_(std::move(environment)) {
  const bool named = std::find(arguments_.begin(), arguments_.end(), "--store") != arguments_.end();
  if (tests_postgres() && !named) database_.emplace();
}

bool ServerProcess::start() {
  process_.reset();  // the previous process must have released the store
  std::vector<std::string> command{"serve"};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  // A flag in the arguments overrides the variable.
  std::vector<std::string> environment{"EVENTQ_LISTEN=127.0.0.1:0"};
  if (database_) environment.push_back("EVENTQ_STORE=" + database_->url());
  environment.insert(environment.end(), environment_.begin(), environment_.end());

  process_ = std::make_unique<Process>(eventq_program(directory_.file(""), command, environment));
  const auto address = process_->wait_for_line("msg=listening address=", kStartLimit);
  port_ = address ? port_of(*address) : 0;
  return port_ != 0;
}

std::string ServerProcess::log() const { return process_ ? process_->err() : ""; }

void ServerProcess::kill() {
  process_->signal(SIGKILL);
  process_->wait(kStartLimit);
}

std::optional<int> ServerProcess::terminate(std::chrono::milliseconds limit) {
  process_->signal(SIGTERM);
  return process_->wait(limit);
}

}  // namespace eventq
