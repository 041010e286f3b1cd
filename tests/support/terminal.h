// terminal.h: a shell in a terminal of a given size, run by tmux: type into it, read what it shows.
//
// Threads: belongs to one thread.
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

  // False when there is no tmux here: then nothing else may be called.
  static bool possible();

  explicit Terminal(const Setup& setup);

  // The keys as `tmux send-keys` names them: "q", "Down", "C-c"; anything else is typed as it is.
  void press(const std::vector<std::string>& keys);
  void enter(const std::string& line) { press({line, "Enter"}); }
  void resize(std::size_t width, std::size_t height);

  // What is seen, without the blanks at the ends of lines.
  [[nodiscard]] std::string screen() const;
  // The same as soon as it is as `is_shown` wants it, or after `limit`, as it is then.
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
