// notebook_settings.h: the settings of one notebook and their defaults.
#pragma once

#include <chrono>
#include <cstddef>

#include "eventq/clock.h"

namespace eventq::notebook {

struct NotebookSettings {
  Millis poll_interval{100};               // how often an idle worker claims events
  std::size_t batch_size = 50;             // most events of one claim
  Millis git_commit_interval{5000};        // a change is committed after at most this time
  std::size_t git_commit_max_files = 100;  // or when this many paths are pending
  int max_retries = 3;
  Millis retry_backoff{1000};  // doubled with each failure
  std::chrono::seconds completed_retention{86'400};
  std::chrono::seconds failed_retention{7 * 86'400};
  friend bool operator==(const NotebookSettings&, const NotebookSettings&) = default;
};

}  // namespace eventq::notebook
