// interrupt.h: Ctrl-C as a question that is asked between two steps. A second one ends the program at once.
#pragma once

#include "eventq/clock.h"

namespace eventq::cli {

// SIGINT and SIGTERM, from the construction on. One object per program.
class Interrupt {
 public:
  Interrupt();

  [[nodiscard]] bool requested() const;
  // Waits, at most that long, for one.
  void wait(Millis duration) const;
};

}  // namespace eventq::cli
