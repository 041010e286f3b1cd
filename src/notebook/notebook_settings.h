// notebook_settings.h: the settings of one notebook and their defaults.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

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
  std::string git_bypass_filters;  // names of git filters whose paths are committed as they are, by commas
  bool git_nested = false;         // the folder may be inside the work tree of another repository
  std::int64_t max_file_size = 100 << 20;                        // bytes; larger files are not committed
  std::chrono::seconds deleted_metadata_retention{30 * 86'400};  // for files that return
  bool portable_names = true;  // API calls refuse names that other systems cannot hold
  friend bool operator==(const NotebookSettings&, const NotebookSettings&) = default;
};

}  // namespace eventq::notebook
