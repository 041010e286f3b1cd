// progress.h: shows the progress of a long command on stderr.
//
// On a terminal it draws a bar after half a second, and leaves the last one there. Elsewhere it prints a line
// every ten seconds.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "base/steady.h"

namespace eventq::cli {

// Digits in groups of three: "1 000 000".
[[nodiscard]] std::string grouped(std::int64_t number);

// "1 event", "2 500 events".
[[nodiscard]] std::string counted(std::int64_t number, std::string_view noun);

class ProgressBar {
 public:
  // `doing` is "Importing". `all` is the total, if it is known.
  ProgressBar(std::ostream& err, bool terminal, std::string doing, std::optional<std::int64_t> all,
              SteadyTime now = steady_now());
  ~ProgressBar() { finish(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `note` is appended to the line: "0 rejected".
  void show(std::int64_t done, std::string_view note = {}, SteadyTime now = steady_now());
  // Ends the line of the bar, if there is one. Call it before printing anything else.
  void finish();

 private:
  void measure(std::int64_t done, SteadyTime now);
  [[nodiscard]] std::string line(std::int64_t done, std::string_view note, SteadyTime now) const;

  std::ostream& err_;
  const bool terminal_;
  const std::string doing_;
  const std::optional<std::int64_t> all_;
  const SteadyTime start_;
  SteadyTime shown_;
  SteadyTime measured_;
  std::int64_t measured_done_ = 0;
  std::optional<double> rate_;  // per second, a moving average
  std::string last_;            // the line on the terminal now
};

}  // namespace eventq::cli
