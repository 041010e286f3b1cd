// progress.cc: see progress.h.
#include "cli/terminal/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ostream>
#include <utility>

namespace eventq::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirst = 500ms;  // work shorter than this shows no bar
constexpr auto kRedraw = 100ms;
constexpr auto kLine = 10s;     // between two lines, without a terminal
constexpr auto kForecast = 2s;  // no time estimate before this, because the rate is not stable
constexpr std::int64_t kBar = 24;
constexpr double kWeight = 0.2;  // weight of the newest rate in the moving average

double seconds(SteadyTime::duration time) { return std::chrono::duration<double>(time).count(); }

std::string left_text(double left) {
  const auto whole = static_cast<std::int64_t>(std::ceil(left));
  // Rounded up, so that the text never says 0 while work is left.
  if (whole < 90) return std::to_string(whole) + " s left";
  if (whole < 90 * 60) return std::to_string((whole + 59) / 60) + " min left";
  return std::to_string((whole + 3599) / 3600) + " h left";
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, " ");
  return text;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return grouped(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

ProgressBar::ProgressBar(std::ostream& err, bool terminal, std::string doing, std::optional<std::int64_t> all,
                         SteadyTime now)
    : err_(err),
      terminal_(terminal),
      doing_(std::move(doing)),
      all_(all),
      start_(now),
      shown_(now),
      measured_(now) {}

void ProgressBar::show(std::int64_t done, std::string_view note, SteadyTime now) {
  measure(done, now);
  if (!terminal_) {
    if (now - shown_ < kLine) return;
    err_ << line(done, note, now) << std::endl;
    shown_ = now;
    return;
  }
  // The last state is always drawn, because the bar stays on the terminal.
  const bool complete = all_ && done >= *all_ && !last_.empty();
  if (now - start_ < kFirst || (now - shown_ < kRedraw && !complete)) return;
  last_ = line(done, note, now);
  err_ << '\r' << last_ << "\033[K" << std::flush;
  shown_ = now;
}

void ProgressBar::finish() {
  if (last_.empty()) return;
  last_.clear();
  err_ << std::endl;
}

void ProgressBar::measure(std::int64_t done, SteadyTime now) {
  // A shorter interval would give rates that jump.
  if (now - measured_ < kRedraw) return;
  const double newest = static_cast<double>(done - measured_done_) / seconds(now - measured_);
  // A moving average, because batches make single rates jump.
  rate_ = rate_ ? kWeight * newest + (1 - kWeight) * *rate_ : newest;
  measured_ = now;
  measured_done_ = done;
}

std::string ProgressBar::line(std::int64_t done, std::string_view note, SteadyTime now) const {
  std::string text = doing_ + "  ";
  if (all_) {
    const std::int64_t all = std::max<std::int64_t>(*all_, 1);
    const std::int64_t known = std::clamp<std::int64_t>(done, 0, all);
    const std::int64_t full = known * kBar / all;
    for (std::int64_t i = 0; i < kBar; ++i) text += i < full ? "█" : "░";
    // `done` may exceed the total, when the source grew since it was counted.
    text += "  " + std::to_string(known * 100 / all) + " %  " + grouped(done) + " / " + grouped(*all_);
  } else {
    text += grouped(done);
  }
  if (rate_) {
    text += "   " + grouped(std::llround(*rate_)) + "/s";
    if (all_ && *rate_ > 0 && done < *all_ && now - start_ >= kForecast) {
      text += "   " + left_text(static_cast<double>(*all_ - done) / *rate_);
    }
  }
  if (!note.empty()) text += "   " + std::string(note);
  return text;
}

}  // namespace eventq::cli
