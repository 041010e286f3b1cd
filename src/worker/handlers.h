// handlers.h: what was registered with a worker, and what of it runs for an event.
//
// Threads: run() from any thread once nothing is added any more.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "eventq/worker.h"

namespace eventq {

class Handlers {
 public:
  void on_tag(std::string tag, Handler handler);
  void on_pattern(std::string pattern, Handler handler);

  // The tags of the events to ask the queue for, nothing for all; `pattern_tags` narrow what patterns look
  // at. Errors: invalid_argument and too_large for what was registered.
  [[nodiscard]] Result<std::vector<std::string>> subscription(
      const std::vector<std::string>& pattern_tags) const;

  // Runs all that match, in the order of registration; an exception is a retry. Nothing when `stop` fired
  // before all had run: what some of them did is no verdict.
  [[nodiscard]] std::optional<std::vector<Handled>> run(const Event& event,
                                                        const std::stop_token& stop) const;

 private:
  struct Registration {
    enum class By : std::uint8_t { tag, pattern } by{};
    std::string wanted;  // the tag, or the pattern
    Handler handler;
  };
  [[nodiscard]] static std::optional<Error> validate(const Registration& registration);
  [[nodiscard]] static bool matches(const Registration& registration, const Event& event);

  std::vector<Registration> registrations_;
};

}  // namespace eventq
