// terminal.cc: see terminal.h.
#include "support/terminal.h"

#include <utility>

#include "base/steady.h"

namespace eventq {
namespace {

constexpr std::string_view kTmux = EVENTQ_TMUX;

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

}  // namespace

bool Terminal::possible() { return !kTmux.empty(); }

Terminal::Terminal(const Setup& setup)
    : environment_(with({"LC_ALL=C.UTF-8", "HISTFILE="}, setup.environment)),
      server_(std::make_unique<Process>(
          ProcessSetup{.command = {std::string(kTmux), "-D", "-f/dev/null", "-S", directory_.file("socket")},
                       .environment = environment_,
                       .directory = directory_.file("")})) {
  // tmux creates its socket a moment after its start, so the first calls may fail.
  const SteadyTime start = steady_now();
  const auto is_up = [&] {
    tmux({"-N", "new-session", "-d", "-x", std::to_string(setup.width), "-y", std::to_string(setup.height),
          setup.shell});
    return !tmux({"-N", "list-sessions"}).empty();
  };
  while (!is_up() && millis_since(start) < std::chrono::seconds(60)) {
  }
}

void Terminal::press(const std::vector<std::string>& keys) { tmux(with({"send-keys"}, keys)); }

void Terminal::resize(std::size_t width, std::size_t height) {
  tmux({"resize-window", "-x", std::to_string(width), "-y", std::to_string(height)});
}

std::string Terminal::screen() const { return tmux({"capture-pane", "-p"}); }

std::string Terminal::screen_when(const std::function<bool(const std::string&)>& is_shown,
                                  std::chrono::milliseconds limit) const {
  const SteadyTime start = steady_now();
  std::string seen = screen();
  while (!is_shown(seen) && millis_since(start) < limit) seen = screen();
  return seen;
}

std::string Terminal::screen_with(std::string_view text) const {
  return screen_when([&](const std::string& seen) { return seen.find(text) != std::string::npos; });
}

std::string Terminal::tmux(const std::vector<std::string>& arguments) const {
  return run({.command = with({std::string(kTmux), "-u", "-S", directory_.file("socket")}, arguments),
              .environment = environment_,
              .directory = directory_.file("")})
      .out;
}

}  // namespace eventq
