// interrupt.h: lets a long command stop between two steps at Ctrl-C. A second Ctrl-C ends the program at
// once.
#pragma once

#include "eventq/clock.h"

namespace eventq::cli {

// Handles SIGINT and SIGTERM from its construction on. REQUIRES: at most one object per process.
class Interrupt {
 public:
  Interrupt();

  [[nodiscard]] bool requested() const;
  // Waits for a signal, at most for `duration`.
  void wait(Millis duration) const;
};

}  // namespace eventq::cli
