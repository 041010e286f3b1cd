// commit_message.h: the message of a commit, and when a commit is due. Pure.
#pragma once

#include <string>
#include <vector>

#include "notebook/notebook_settings.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

inline constexpr std::string_view kEventTrailer = "Eventq-Event";
inline constexpr std::string_view kCorrelationTrailer = "Eventq-Correlation";

// "Update PATH" or "Batch update: N files" for these paths, an empty line, and a trailer for each event and
// each correlation id, each once, in the order of the changes.
std::string commit_message(const std::vector<std::string>& paths, const std::vector<PendingChange>& changes);

// The changes that a commit of the paths `changed` contains, in their order: those of these paths, and
// earlier ones of a path from which a file was moved to one of them. REQUIRES: changes of one event are next
// to each other.
std::vector<PendingChange> changes_in_commit(const std::vector<PendingChange>& changes,
                                             const std::vector<std::string>& changed);

// The paths, each once, sorted.
std::vector<std::string> paths_of(const std::vector<PendingChange>& changes);

bool is_time_to_commit(const CommitBacklog& waiting, const NotebookSettings& settings, TimePoint now);

}  // namespace eventq::notebook
