// matched_events.cc: see matched_events.h.
#include "cli/commands/matched_events.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "base/time_text.h"
#include "cli/commands/events.h"
#include "eventq/limits.h"

namespace eventq::cli {
namespace {

// `status` is that of a filter without status:.
void find_with_status(Invocation& run, const ListFilter& filter, const std::optional<std::string>& status,
                      const std::function<bool(const JsonValue&)>& accepts, MatchedEvents& found) {
  const TimePoint now = run.output.clock->now();
  const auto visit = [&](const JsonValue& event) {
    const auto created = parse_iso_time(text_at(event, "created_at").value_or(""));
    if (!accepts(event)) return true;
    // The list has every event that the worker ever picked. A change is meant for those that it has now.
    if (filter.worker_id && text_at(event, "worker_id") != filter.worker_id) return true;
    found.events.push_back({.id = integer_at(event, "id").value_or(0),
                            .created = created.value_or(now),
                            .queue = text_at(event, "queue").value_or(""),
                            .json = std::string(event.raw())});
    return true;
  };
  QueryString query;
  query.add("filter", run.arguments.text("--filter")).add("status", status);
  const PagedResult paged = each_event(run, query, limits::kPage, visit);
  found.code = paged.code;
  // A change of only the reachable events would look complete although it is not, so nothing is changed.
  if (found.code == ExitCode::done && report_missing_shards(run, paged.missing) != ExitCode::done) {
    run.err << "Nothing changed. Give the IDs of events, or wait until the shard is reachable.\n";
    found.code = ExitCode::failed;
  }
}

// The age without " ago", which the sentence around it does not need.
std::string age(TimePoint time, TimePoint now) {
  std::string text = relative_time(time, now);
  if (text.ends_with(" ago")) text.resize(text.size() - 4);
  return text;
}

}  // namespace

MatchedEvents find_matches(Invocation& run, const ListFilter& filter,
                           const std::vector<std::string>& statuses,
                           const std::function<bool(const JsonValue& event)>& accepts) {
  MatchedEvents found;
  if (filter.status) {
    find_with_status(run, filter, std::nullopt, accepts, found);
  } else {
    // GET /events accepts one status only.
    for (const std::string& status : statuses) {
      find_with_status(run, filter, status, accepts, found);
      if (found.code != ExitCode::done) return found;
    }
  }
  std::sort(found.events.begin(), found.events.end(),
            [](const MatchedEvent& a, const MatchedEvent& b) { return a.id < b.id; });
  return found;
}

std::string events_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " event" : " events");
}

std::string described(const Invocation& run, const std::vector<MatchedEvent>& events) {
  const TimePoint now = run.output.clock->now();
  const auto [oldest, newest] =
      std::minmax_element(events.begin(), events.end(),
                          [](const MatchedEvent& a, const MatchedEvent& b) { return a.created < b.created; });
  std::set<std::string> queues;
  for (const MatchedEvent& event : events) queues.insert(event.queue);
  std::string text = events_text(events.size()) + " (oldest " + age(oldest->created, now) + ", newest " +
                     age(newest->created, now) + ") in ";
  return text + (queues.size() == 1 ? "queue " + *queues.begin() : std::to_string(queues.size()) + " queues");
}

}  // namespace eventq::cli
