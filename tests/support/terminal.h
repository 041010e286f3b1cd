// terminal.h: a shell in a tmux terminal of a given size. Tests type into it and read its screen.
//
// Threads: use an object on one thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq {

class Terminal {
 public:
  struct Setup {
    std::size_t width = 100;
    std::size_t height = 30;
    std::string shell = "env 'PS1=$ ' bash --norc --noprofile";
    std::vector<std::string> environment = {};  // "NAME=value"
  };

  // False if tmux is not installed. REQUIRES for all other functions: possible().
  static bool possible();

  explicit Terminal(const Setup& setup);

  // Keys by their names in `tmux send-keys`: "q", "Down", "C-c". Other text is typed.
  void press(const std::vector<std::string>& keys);
  void enter(const std::string& line) { press({line, "Enter"}); }
  void resize(std::size_t width, std::size_t height);

  // The visible text, without blanks at the ends of lines.
  [[nodiscard]] std::string screen() const;
  // Waits until `is_shown` accepts the screen, at most for `limit`, and returns the screen.
  std::string screen_when(const std::function<bool(const std::string&)>& is_shown,
                          std::chrono::milliseconds limit = std::chrono::seconds(60)) const;
  std::string screen_with(std::string_view text) const;

 private:
  std::string tmux(const std::vector<std::string>& arguments) const;

  const TemporaryDirectory directory_;
  const std::vector<std::string> environment_;
  std::unique_ptr<Process> server_;
};

}  // namespace eventq
