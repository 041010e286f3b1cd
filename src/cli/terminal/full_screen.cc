// full_screen.cc: see full_screen.h.
#include "cli/terminal/full_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/assert.h"

namespace eventq::cli {
namespace {

// Switch to the alternate screen and hide the cursor; and undo both.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the terminal was closed; the next read() fails, too
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool FullScreen::possible() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

FullScreen::FullScreen() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
    sigaddset(&signals_, signal);
  }
  const int failed = pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
  EVENTQ_ASSERT(failed == 0);
  signal_file_ = signalfd(-1, &signals_, SFD_CLOEXEC);
  EVENTQ_ASSERT(signal_file_ >= 0);
  tcgetattr(STDIN_FILENO, &before_);
  enter();
}

FullScreen::~FullScreen() {
  leave();
  ::close(signal_file_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void FullScreen::enter() {
  set_raw();
  write_all(kEnter);
}

void FullScreen::set_raw() const {
  termios raw = before_;
  // ISIG stays set, so Ctrl-C and Ctrl-Z arrive as signals.
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void FullScreen::leave() {
  write_all(kLeave);
  tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

FullScreen::Size FullScreen::size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

void FullScreen::draw(const std::string& text) {
  // Overwrites line by line. Clearing the whole screen first would flicker.
  std::string out = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') out += "\x1b[K\r";
    out += c;
  }
  write_all(out + "\x1b[K\x1b[J");
}

FullScreen::TerminalInput FullScreen::wait(Millis limit) {
  if (!keys_.empty()) return read_key();
  std::array<pollfd, 2> files{{{STDIN_FILENO, POLLIN, 0}, {signal_file_, POLLIN, 0}}};
  if (::poll(files.data(), files.size(), static_cast<int>(limit.count())) <= 0) return {};
  // Before the keys, so that a held key cannot delay Ctrl-C.
  if (files[1].revents != 0) return read_signal();
  std::array<char, 64> bytes{};
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  // The terminal was closed.
  if (got <= 0) return {.kind = InputKind::stop};
  keys_.assign(bytes.data(), static_cast<std::size_t>(got));
  return read_key();
}

FullScreen::TerminalInput FullScreen::read_signal() {
  signalfd_siginfo info{};
  if (::read(signal_file_, &info, sizeof info) != sizeof info) return {};
  switch (static_cast<int>(info.ssi_signo)) {
    case SIGTSTP:
      leave();
      ::kill(getpid(), SIGSTOP);
      enter();  // SIGCONT arrived
      return {.kind = InputKind::redraw};
    case SIGCONT:  // also after SIGSTOP, which cannot be caught, so the shell may have reset the terminal
      set_raw();
      return {.kind = InputKind::redraw};
    case SIGWINCH: return {.kind = InputKind::redraw};
    default: return {.kind = InputKind::stop};
  }
}

FullScreen::TerminalInput FullScreen::read_key() {
  // Terminals send an arrow as one of these, depending on their cursor key mode.
  for (const std::string_view start : {"\x1b[", "\x1bO"}) {
    if (!keys_.starts_with(start) || keys_.size() < 3) continue;
    const char last = keys_[2];
    keys_.erase(0, 3);
    if (last == 'A') return {.kind = InputKind::up};
    if (last == 'B') return {.kind = InputKind::down};
    return {.kind = InputKind::other};
  }
  const char letter = keys_.front();
  keys_.erase(0, 1);
  return {.kind = InputKind::letter, .letter = letter};
}

}  // namespace eventq::cli
