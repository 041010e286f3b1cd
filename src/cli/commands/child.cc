// child.cc: see child.h.
#include "cli/commands/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "base/descriptor.h"
#include "base/steady.h"
#include "base/utf8.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Error system_error(std::string_view doing) {
  return {ErrorCode::unavailable, "Cannot " + std::string(doing) + ": " + std::strerror(errno) + ".", ""};
}

Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// The environment of this process, where the variables of `ours` replace those of the same name.
std::vector<char*> environment_with(const std::vector<std::string>& ours) {
  std::vector<char*> all;
  const auto is_ours = [&](std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    return std::any_of(ours.begin(), ours.end(), [&](const auto& one) { return one.starts_with(name); });
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_ours(*variable)) all.push_back(*variable);
  }
  for (const std::string& variable : ours) all.push_back(const_cast<char*>(variable.c_str()));
  all.push_back(nullptr);
  return all;
}

// The ends of pipes that become the standard streams of a command. `output` is -1 if its stdout is ours.
struct ChildStreams {
  int input = -1;
  int output = -1;
  int errors = -1;
};

Result<pid_t> spawn(const ChildSetup& setup, ChildStreams streams) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO);
  if (streams.output >= 0) posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, streams.errors, STDERR_FILENO);
  // Libraries may open descriptors without O_CLOEXEC.
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  // The worker blocks and ignores signals; the command must start with the default handling.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t changed;
  sigemptyset(&changed);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&changed, signal);
  posix_spawnattr_setsigdefault(&attributes, &changed);

  std::string shell = "sh";
  std::string flag = "-c";
  std::string command = setup.command;
  if (setup.open_files) command = "ulimit -S -n " + std::to_string(*setup.open_files) + "; " + command;
  char* const arguments[] = {shell.data(), flag.data(), command.data(), nullptr};
  std::vector<char*> environment = environment_with(setup.environment);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) return pid;
  errno = failed;
  return system_error("start /bin/sh");
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// A running command: writes its stdin, reads its stderr and stdout, and ends it at a timeout or a stop.
class RunningChild {
 public:
  // `output` is closed if the stdout of the command is not captured.
  RunningChild(const ChildSetup& setup, pid_t pid, Descriptor input, Descriptor output, Descriptor errors)
      : setup_(setup),
        pid_(pid),
        input_(std::move(input)),
        output_(std::move(output)),
        errors_(std::move(errors)) {
    for (const Descriptor* end : {&input_, &output_, &errors_}) {
      if (end->open()) fcntl(end->number(), F_SETFL, O_NONBLOCK);
    }
    if (setup.timeout.count() > 0) deadline_ = steady_now() + setup.timeout;
    if (setup.input.empty()) input_.close();
  }

  // Returns when the command has ended, or after killing it because poll() failed.
  void run_to_end(int ended, int stop) {
    for (;;) {
      // After a stop its eventfd stays readable, and poll() would return at once each time, so it is left
      // out.
      std::array<pollfd, 5> polled = {{{ended, POLLIN, 0},
                                       {end_.cause == ChildEnd::Cause::itself ? stop : -1, POLLIN, 0},
                                       {input_.number(), POLLOUT, 0},
                                       {errors_.number(), POLLIN, 0},
                                       {output_.number(), POLLIN, 0}}};
      const int ready = poll(polled.data(), polled.size(), wait_time());
      if (ready < 0 && errno != EINTR) {
        kill(-pid_, SIGKILL);
        break;
      }
      if (ready > 0 && polled[2].revents != 0) write_input();
      if (ready > 0 && polled[3].revents != 0) read_stderr();
      if (ready > 0 && polled[4].revents != 0) read_stdout();
      if (ready > 0 && polled[0].revents != 0) break;
      if (ready > 0 && polled[1].revents != 0) end_by(ChildEnd::Cause::stopped);
      if (deadline_ && steady_now() >= *deadline_) end_by(ChildEnd::Cause::timed_out);
    }
  }

  // Processes that the command started may outlive it, unless it was stopped or timed out. The group id
  // cannot be reused yet, because waitpid() comes later, so kill() reaches no other process.
  ChildEnd reap() {
    if (end_.cause != ChildEnd::Cause::itself) kill(-pid_, SIGKILL);
    if (errors_.open()) read_stderr();
    if (output_.open()) read_stdout();
    const int status = wait_for(pid_);
    if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
    end_.stderr_tail = tail_text(stderr_, limits::kErrorDetail);
    return std::move(end_);
  }

 private:
  [[nodiscard]] int wait_time() const {
    if (!deadline_) return -1;
    const auto left = std::chrono::ceil<Millis>(*deadline_ - steady_now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
  }

  // The first call sends SIGTERM, the second one SIGKILL.
  void end_by(ChildEnd::Cause cause) {
    const bool requested = end_.cause != ChildEnd::Cause::itself;
    kill(-pid_, requested ? SIGKILL : SIGTERM);
    if (requested) {
      deadline_.reset();
    } else {
      end_.cause = cause;
      deadline_ = steady_now() + setup_.grace;
    }
  }

  void write_input() {
    const ssize_t written =
        write(input_.number(), setup_.input.data() + written_, setup_.input.size() - written_);
    if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (written > 0) written_ += static_cast<std::size_t>(written);
    // EPIPE is no error here: the command may close its stdin early.
    if (written < 0 || written_ == setup_.input.size()) input_.close();
  }

  void read_stderr() {
    read_all(errors_, [this](std::string_view bytes) {
      stderr_ += bytes;
      // Keeps the end only: the error is there, and a command may write without limit.
      if (stderr_.size() > 4 * limits::kErrorDetail)
        stderr_.erase(0, stderr_.size() - 2 * limits::kErrorDetail);
    });
  }

  // Keeps one byte more than asked for, so that the caller sees that there was more, and drops the rest.
  void read_stdout() {
    read_all(output_, [this](std::string_view bytes) {
      end_.output += bytes.substr(0, *setup_.capture + 1 - end_.output.size());
    });
  }

  // Calls `take` with what can be read now. Closes the pipe at its end.
  template <typename Take>
  static void read_all(Descriptor& pipe, const Take& take) {
    std::array<char, 16 * 1024> bytes;
    for (;;) {
      const ssize_t count = read(pipe.number(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count <= 0) return pipe.close();
      take(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
    }
  }

  const ChildSetup& setup_;
  const pid_t pid_;
  Descriptor input_;
  Descriptor output_;
  Descriptor errors_;
  std::optional<SteadyTime> deadline_;
  std::size_t written_ = 0;
  std::string stderr_;
  ChildEnd end_;
};

}  // namespace

Result<ChildEnd> Children::run(const ChildSetup& setup, const std::stop_token& stop) {
  auto input = make_pipe();
  if (!input) return input.error();
  auto errors = make_pipe();
  if (!errors) return errors.error();
  auto output = setup.capture ? make_pipe() : Result<Pipe>(Pipe());
  if (!output) return output.error();
  const Descriptor stopped(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stopped.open()) return system_error("make an event descriptor");

  std::unique_lock lock(mutex_);  // so kill_all() finds the child, or runs before spawn()
  const auto pid = spawn(
      setup,
      {.input = input->read.number(), .output = output->write.number(), .errors = errors->write.number()});
  if (!pid) return pid.error();
  // Not pidfd_open(): glibc 2.36 declares it for C only.
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, *pid, 0)));
  if (!ended.open()) {  // without it, this thread would not notice the end of the child
    const Error error = system_error("follow the command");
    kill(-*pid, SIGKILL);
    wait_for(*pid);
    return error;
  }
  running_.insert(*pid);
  lock.unlock();
  input->read.close();
  errors->write.close();
  output->write.close();

  const std::stop_callback on_stop(stop, [&] { eventfd_write(stopped.number(), 1); });
  RunningChild running(setup, *pid, std::move(input->write), std::move(output->read),
                       std::move(errors->read));
  running.run_to_end(ended.number(), stopped.number());
  lock.lock();
  running_.erase(*pid);  // after waitpid() another process may get this pid
  lock.unlock();
  return running.reap();
}

void Children::kill_all() {
  const std::lock_guard lock(mutex_);
  for (const pid_t pid : running_) kill(-pid, SIGKILL);
}

std::string describe(const ChildEnd& end) {
  if (end.signal == 0) return "exit " + std::to_string(end.exit_code);
  const char* const name = sigabbrev_np(end.signal);
  return "killed by " +
         (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(end.signal));
}

std::string tail_text(std::string_view bytes, std::size_t limit) {
  // Before the conversion, too, so that it does not read more than is kept.
  std::string text = to_valid_utf8(utf8_end(std::string(bytes), limit));
  std::erase(text, '\0');
  text = utf8_end(std::move(text), limit);  // again, because U+FFFD has three bytes and replaces one
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::string error_line(std::string_view text) {
  constexpr std::string_view kAfterwards[] = {"Node.js v", "note: ", "exit status "};
  std::string_view last;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    line.remove_suffix(line.size() - (line.find_last_not_of(" \t\r") + 1));
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    const bool afterwards = std::any_of(std::begin(kAfterwards), std::end(kAfterwards),
                                        [&](std::string_view start) { return line.starts_with(start); });
    if (!line.empty() && (last.empty() || (!indented && !afterwards))) last = line;
  }
  return std::string(last);
}

}  // namespace eventq::cli
