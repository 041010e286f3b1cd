// process.cc: see process.h.
#include "support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "base/assert.h"

namespace eventq {
namespace {

constexpr unsigned kLifetimeSeconds = 600;
constexpr std::chrono::seconds kRunLimit{60};

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  const int failed = pipe2(ends.data(), O_CLOEXEC);
  EVENTQ_ASSERT(failed == 0);
  return {ends[0], ends[1]};
}

std::vector<std::string> environment_of(const ProcessSetup& setup) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool is_overridden = std::any_of(setup.environment.begin(), setup.environment.end(),
                                           [&](const std::string& other) { return other.starts_with(name); });
    if (!is_overridden && !text.starts_with("EVENTQ_")) environment.emplace_back(text);
  }
  environment.insert(environment.end(), setup.environment.begin(), setup.environment.end());
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Between fork() and exec() only async-signal-safe calls are allowed, because locks of other threads stay
// locked.
[[noreturn]] void exec_child(char* const* command, char* const* environment, const char* directory, int out,
                             int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kLifetimeSeconds);  // the alarm survives exec()
  if (chdir(directory) == 0) execve(command[0], command, environment);
  _exit(127);
}

}  // namespace

Process::Process(const ProcessSetup& setup) {
  std::vector<std::string> command = setup.command;
  std::vector<std::string> environment = environment_of(setup);
  const auto command_pointers = pointers(command);
  const auto environment_pointers = pointers(environment);
  const Pipe out = make_pipe();
  const Pipe err = make_pipe();
  pid_ = fork();
  EVENTQ_ASSERT(pid_ >= 0);
  if (pid_ == 0) {
    exec_child(command_pointers.data(), environment_pointers.data(), setup.directory.c_str(), out.write,
               err.write);
  }
  close(out.write);
  close(err.write);
  reader_ = std::thread([this, out = out.read, err = err.read] { read_output(out, err); });
}

Process::~Process() {
  if (!status_) {
    signal(SIGKILL);
    int ignored = 0;
    waitpid(pid_, &ignored, 0);
  }
  reader_.join();
}

void Process::signal(int number) const {
  if (!status_) kill(pid_, number);
}

std::optional<int> Process::wait(std::chrono::milliseconds limit) {
  if (status_) return status_;
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, limit, [this] { return closed_; })) return std::nullopt;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, 0);
  EVENTQ_ASSERT(ended == pid_);
  status_ = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  return status_;
}

std::optional<std::string> Process::wait_for_line(std::string_view text, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  std::optional<std::string> rest;
  const auto find_line = [&] {
    const std::size_t found = err_.find(text);
    if (found == std::string::npos) return closed_;
    const std::size_t start = found + text.size();
    const std::size_t end = err_.find('\n', start);
    if (end == std::string::npos) return closed_;
    rest = err_.substr(start, end - start);
    return true;
  };
  changed_.wait_for(lock, limit, find_line);
  return rest;
}

std::string Process::out() const {
  const std::lock_guard lock(mutex_);
  return out_;
}

std::string Process::err() const {
  const std::lock_guard lock(mutex_);
  return err_;
}

void Process::read_output(int out, int err) {
  std::array<pollfd, 2> wanted{pollfd{.fd = out, .events = POLLIN, .revents = 0},
                               pollfd{.fd = err, .events = POLLIN, .revents = 0}};
  std::array<char, 16 * 1024> block;
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    if (poll(wanted.data(), wanted.size(), -1) < 0) continue;
    for (pollfd& source : wanted) {
      if (source.revents == 0) continue;
      const ssize_t size = read(source.fd, block.data(), block.size());
      if (size <= 0) {
        close(source.fd);
        source.fd = -1;
        continue;
      }
      const std::lock_guard lock(mutex_);
      (&source == &wanted[0] ? out_ : err_).append(block.data(), static_cast<std::size_t>(size));
      changed_.notify_all();
    }
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

Finished run(const ProcessSetup& setup) {
  Process process(setup);
  const auto exit_code = process.wait(kRunLimit);
  return {exit_code, process.out(), process.err()};
}

}  // namespace eventq
