// handlers.h: the handlers registered with a worker, and the choice of those that run for an event.
//
// Threads: run() may be called from any thread after the last handler was added.
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

  // The tags of the events to claim; empty: all events. `pattern_tags` restrict the events that are matched
  // with patterns.
  // Errors: invalid_argument and too_large for a bad registration, or for none.
  [[nodiscard]] Result<std::vector<std::string>> subscription(
      const std::vector<std::string>& pattern_tags) const;

  // Calls all handlers that match, in the order of registration. An exception counts as Handled::retry().
  // Returns nothing when `stop` was requested before all had run, because
  // the results of only some handlers must not be reported.
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
