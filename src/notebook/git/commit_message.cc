// commit_message.cc: see commit_message.h.
#include "notebook/git/commit_message.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace eventq::notebook {
namespace {

// One line per distinct value that is not empty. Ids are visible ASCII, so a value cannot contain a line
// break.
void append_trailers(std::string& message, std::string_view key, const std::vector<PendingChange>& changes,
                     std::string PendingChange::*id) {
  std::unordered_set<std::string_view> written;
  for (const PendingChange& change : changes) {
    const std::string& value = change.*id;
    if (value.empty() || !written.insert(value).second) continue;
    message.append(key).append(": ").append(value) += '\n';
  }
}

}  // namespace

std::string commit_message(const std::vector<std::string>& paths, const std::vector<PendingChange>& changes) {
  std::string message = paths.size() == 1 ? "Update " + paths.front()
                                          : "Batch update: " + std::to_string(paths.size()) + " files";
  message += "\n";
  std::string trailers;
  append_trailers(trailers, kEventTrailer, changes, &PendingChange::event_id);
  append_trailers(trailers, kCorrelationTrailer, changes, &PendingChange::correlation_id);
  if (!trailers.empty()) message += "\n" + trailers;
  return message;
}

std::vector<PendingChange> changes_in_commit(const std::vector<PendingChange>& changes,
                                             const std::vector<std::string>& changed) {
  std::set<std::string_view> paths(changed.begin(), changed.end());
  const auto is_in = [&](const PendingChange& change) { return paths.contains(change.path); };
  std::vector<PendingChange> found;
  // Backwards, because a move makes its source count for earlier changes only.
  for (auto end = changes.rbegin(); end != changes.rend();) {
    const auto begin = end++;
    while (end != changes.rend() && !begin->event_id.empty() && end->event_id == begin->event_id) ++end;
    if (std::none_of(begin, end, is_in)) continue;
    for (auto change = begin; change != end; ++change) paths.insert(change->path);
    found.insert(found.end(), begin, end);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::string> paths_of(const std::vector<PendingChange>& changes) {
  std::set<std::string_view> paths;
  for (const PendingChange& change : changes) paths.insert(change.path);
  return {paths.begin(), paths.end()};
}

bool is_time_to_commit(const CommitBacklog& waiting, const NotebookSettings& settings, TimePoint now) {
  if (waiting.paths == 0 || !waiting.since) return false;
  if (waiting.paths >= static_cast<std::int64_t>(settings.git_commit_max_files)) return true;
  // A change from the future means that the clock was set back: commit now.
  return now < *waiting.since || now - *waiting.since >= settings.git_commit_interval;
}

}  // namespace eventq::notebook
