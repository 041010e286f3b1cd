// notebook_settings.h: what can be set for one notebook, and its defaults.
#pragma once

#include <chrono>
#include <cstddef>

#include "eventq/clock.h"

namespace eventq::notebook {

struct NotebookSettings {
  Millis poll_interval{100};               // how often a worker without hints looks for events
  std::size_t batch_size = 50;             // events it takes at once
  Millis git_commit_interval{5000};        // a change waits no longer for its commit
  std::size_t git_commit_max_files = 100;  // nor when so many wait
  int max_retries = 3;
  Millis retry_backoff{1000};  // doubled with each failure
  std::chrono::seconds completed_retention{86'400};
  std::chrono::seconds failed_retention{7 * 86'400};
  friend bool operator==(const NotebookSettings&, const NotebookSettings&) = default;
};

}  // namespace eventq::notebook
