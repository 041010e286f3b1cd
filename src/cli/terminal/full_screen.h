// full_screen.h: draws on the whole terminal, and restores it when the object is destroyed.
//
// Signals are read like keys, through a signalfd. At Ctrl-Z the object restores the terminal before the
// process stops, and enters full screen again when the process continues. Threads: create it before any other
// thread starts, and use it on that thread only.
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

  // True if standard input and output are terminals that support full-screen drawing.
  static bool possible();

  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  [[nodiscard]] static Size size();
  static void draw(const std::string& text);

  // The next key or signal; InputKind::nothing after `limit`.
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
  std::string keys_;  // read from the terminal, not yet returned by wait()
};

}  // namespace eventq::cli
