// full_screen.h: the terminal as one screen: taken, drawn on, and left as it was found, however that ends.
//
// Signals are read like keys. Ctrl-Z gives the terminal back before the program stops, and takes it again
// when it goes on. Threads: made before any other thread is started, used by the one that made it.
#pragma once

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include "eventq/clock.h"

namespace eventq::cli {

class FullScreen {
 public:
  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };
  enum class InputKind : std::uint8_t { nothing, other, up, down, redraw, stop, letter };
  struct TerminalInput {
    InputKind kind = InputKind::nothing;
    char letter = 0;
  };

  // Both standard input and output are terminals that can be drawn on.
  static bool possible();

  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  [[nodiscard]] static Size size();
  static void draw(const std::string& text);

  // The next key or signal; nothing after `limit`.
  TerminalInput wait(Millis limit);

 private:
  void enter();
  void leave();
  void set_raw() const;
  TerminalInput read_signal();
  TerminalInput read_key();

  termios before_{};
  sigset_t signals_{};
  sigset_t mask_before_{};
  int signal_file_ = -1;
  std::string keys_;  // read from the terminal, not yet handed on
};

}  // namespace eventq::cli
