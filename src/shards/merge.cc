// merge.cc: see merge.h.
#include "shards/merge.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/overloaded.h"
#include "model/page.h"

namespace eventq {
namespace {

template <typename T>
void append_all(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

template <typename T>
void cut(std::vector<T>& list, std::size_t limit) {
  if (list.size() > limit) list.resize(limit);
}

template <typename Key, typename T, typename Order>
std::vector<T> values_of(std::map<Key, T, Order>&& map) {
  std::vector<T> values;
  values.reserve(map.size());
  for (auto& [key, value] : map) values.push_back(std::move(value));
  return values;
}

template <typename T>
void keep_later(std::optional<T>& ours, const std::optional<T>& theirs) {
  if (theirs && (!ours || *theirs > *ours)) ours = theirs;
}

void add(Counts& counts, const Counts& more) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts.at(i) += more.at(i);
}

bool by_id(const Event& a, const Event& b) { return a.id < b.id; }

EventPage merged(const ListFilter& filter, std::vector<EventPage> pages) {
  const auto is_before = [&](EventId x, EventId y) { return is_listed_before(filter.order, x, y); };
  EventPage all;
  for (EventPage& page : pages) {
    append_all(all.events, std::move(page.events));
    all.last_errors.merge(page.last_errors);
    all.logs.merge(page.logs);
    all.total += page.total;
    all.total_exact = all.total_exact && page.total_exact;
    all.more = all.more || page.more;
    if (page.scanned_to && (!all.scanned_to || is_before(*page.scanned_to, *all.scanned_to)))
      all.scanned_to = page.scanned_to;
  }
  std::sort(all.events.begin(), all.events.end(),
            [&](const Event& a, const Event& b) { return is_before(a.id, b.id); });
  // A shard whose page ended early, by a limit of time or bytes, may have events behind it. So later events
  // of other shards wait for the next page.
  if (all.scanned_to) {
    std::erase_if(all.events, [&](const Event& it) { return is_before(*all.scanned_to, it.id); });
  }
  const auto skipped = std::min(static_cast<std::size_t>(filter.offset), all.events.size());
  all.events.erase(all.events.begin(), all.events.begin() + static_cast<std::ptrdiff_t>(skipped));
  // A full page continues behind its last event.
  if (all.events.size() >= filter.limit) all.scanned_to.reset();
  all.more = all.more || all.events.size() > filter.limit;
  cut(all.events, filter.limit);
  if (filter.include.any()) limit_bytes(all, kClaimBytes);
  return all;
}

// Settings and status are the same on all shards, except during a change, so those of the first shard are
// used.
void add(QueueDocument& ours, QueueDocument&& theirs) {
  add(ours.counts, theirs.counts);
  ours.totals += theirs.totals;
  ours.row.created_at = std::min(ours.row.created_at, theirs.row.created_at);
  ours.row.updated_at = std::max(ours.row.updated_at, theirs.row.updated_at);
  ours.changed_at = std::max(ours.changed_at, theirs.changed_at);
  if (ours.checkpoint_id.empty()) ours.checkpoint_id = std::move(theirs.checkpoint_id);
  append_all(ours.events, std::move(theirs.events));
}

QueueDocument merged(const QueueQuery& ask, std::vector<QueueDocument> queues) {
  QueueDocument all = std::move(queues.front());
  for (std::size_t i = 1; i < queues.size(); ++i) add(all, std::move(queues[i]));
  std::sort(all.events.begin(), all.events.end(),
            [](const Details& a, const Details& b) { return by_id(a.event, b.event); });
  cut(all.events, ask.events);
  return all;
}

std::vector<QueueDocument> merged(const QueuesQuery&, std::vector<std::vector<QueueDocument>> lists) {
  std::map<std::string, QueueDocument> by_name;
  for (std::vector<QueueDocument>& list : lists) {
    for (QueueDocument& queue : list) {
      const auto [found, is_new] = by_name.try_emplace(queue.row.id, queue);
      if (!is_new) add(found->second, std::move(queue));
    }
  }
  return values_of(std::move(by_name));
}

// The checkpoint begins with the shard that made it first, so that a replay from it misses no event.
void add(Checkpoint& ours, const Checkpoint& theirs) {
  ours.event_count += theirs.event_count;
  if (ours.checkpoint_id.empty()) ours.checkpoint_id = theirs.checkpoint_id;
  ours.created_at = std::min(ours.created_at, theirs.created_at);
}

// Each shard makes checkpoints of its own by time. One that a caller made has the same id on all shards.
std::vector<Checkpoint> merged(const CheckpointsQuery& ask, std::vector<std::vector<Checkpoint>> lists) {
  std::vector<Checkpoint> all;
  std::map<std::string, std::size_t> positions;  // in `all`, by id
  for (std::vector<Checkpoint>& list : lists) {
    for (Checkpoint& checkpoint : list) {
      const auto [known, is_new] = positions.try_emplace(checkpoint.id, all.size());
      if (is_new) {
        all.push_back(std::move(checkpoint));
      } else {
        add(all[known->second], checkpoint);
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Checkpoint& a, const Checkpoint& b) { return a.created_at > b.created_at; });
  cut(all, ask.limit);
  return all;
}

Recovery merged(const RecoveryQuery&, std::vector<Recovery> reports) {
  // The worst status of a shard is the status of the whole.
  const auto rank = [](const Recovery& report) {
    if (report.status == "behind_checkpoint") return 2;
    return report.status == "repaired" ? 1 : 0;
  };
  Recovery all = reports.front();
  for (std::size_t i = 1; i < reports.size(); ++i) {
    const Recovery& report = reports[i];
    all.events_recovered += report.events_recovered;
    all.started_at = std::min(all.started_at, report.started_at);
    all.completed_at = std::max(all.completed_at, report.completed_at);
    if (rank(report) > rank(all)) all.status = report.status;
    if (all.checkpoint_id.empty()) all.checkpoint_id = report.checkpoint_id;
  }
  return all;
}

Correlation merged(const CorrelationQuery& ask, std::vector<Correlation> correlations) {
  Correlation all{.id = ask.id, .events = {}};
  for (Correlation& one : correlations) {
    all.total += one.total;
    all.pending += one.pending;
    all.completed += one.completed;
    all.failed += one.failed;
    append_all(all.events, std::move(one.events));
    all.last_errors.merge(one.last_errors);
    all.left_out.merge(one.left_out);
  }
  std::sort(all.events.begin(), all.events.end(), by_id);
  cut(all.events, ask.limit);
  return all;
}

// Each shard returns its largest groups only, so the sum misses events of a group that is small on a shard.
std::vector<FailureGroup> merged(const FailuresQuery& ask,
                                 const std::vector<std::vector<FailureGroup>>& lists) {
  std::map<std::pair<std::string, std::string>, FailureGroup> groups;
  for (const std::vector<FailureGroup>& list : lists) {
    for (const FailureGroup& group : list) {
      const auto [found, is_new] = groups.try_emplace({group.queue, group.cause}, group);
      if (is_new) continue;
      FailureGroup& ours = found->second;
      ours.events += group.events;
      ours.first_at = std::min(ours.first_at, group.first_at);
      if (group.last_at > ours.last_at) {
        ours.last_at = group.last_at;
        ours.last_event = group.last_event;
        ours.sample = group.sample;
      }
    }
  }
  std::vector<FailureGroup> all = values_of(std::move(groups));
  std::stable_sort(all.begin(), all.end(),
                   [](const FailureGroup& a, const FailureGroup& b) { return a.events > b.events; });
  cut(all, ask.limit);
  return all;
}

std::int64_t merged(const HoldingQuery&, const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// Each shard counts up to the limit, so their sum can be beyond it.
std::vector<std::int64_t> merged(const UnattendedQuery& ask,
                                 const std::vector<std::vector<std::int64_t>>& shards) {
  std::vector<std::int64_t> all(ask.queues.size());
  for (const std::vector<std::int64_t>& counts : shards) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = std::min<std::int64_t>(all[i] + counts[i], limits::kUnattended);
    }
  }
  return all;
}

FoundEvents merged(const EventIdsQuery& ask, std::vector<FoundEvents> lists) {
  FoundEvents all;
  all.events.resize(ask.event_ids.size());
  for (FoundEvents& list : lists) {
    for (std::size_t i = 0; i < all.events.size(); ++i) append_all(all.events[i], std::move(list.events[i]));
  }
  for (std::vector<EventId>& ids : all.events) std::sort(ids.begin(), ids.end());
  return all;
}

// A shard whose time limit ended its page may have entries down to its `next`, so entries of other shards
// below the highest `next` must wait for the next page.
WorkerLogPage merged(const WorkerLogQuery& ask, std::vector<WorkerLogPage> pages) {
  const auto cursor_of = [](const LogEntry& entry) { return LogCursor{entry.id, entry.log_id}; };
  WorkerLogPage all;
  for (WorkerLogPage& page : pages) {
    append_all(all.entries, std::move(page.entries));
    keep_later(all.next, page.next);
    all.complete = all.complete && page.complete;
  }
  std::sort(all.entries.begin(), all.entries.end(),
            [&](const LogEntry& a, const LogEntry& b) { return cursor_of(a) > cursor_of(b); });
  if (all.next) std::erase_if(all.entries, [&](const LogEntry& it) { return cursor_of(it) < *all.next; });
  if (all.entries.size() > ask.filter.limit) {
    cut(all.entries, ask.filter.limit);
    all.next = cursor_of(all.entries.back());
  }
  return all;
}

// `detail` of an entry, with the number of events of another shard added to its member `events`.
std::string with_events_of(const std::string& detail, const std::string& other) {
  JsonParser parser, other_parser;
  const auto ours = parser.parse(detail), theirs = other_parser.parse(other);
  if (!ours || !theirs) return detail;  // an entry of a newer server
  std::int64_t more = 0;
  for (const JsonMember& member : theirs->members()) {
    if (member.name == "events") more = member.value.integer().value_or(0);
  }
  std::string sum;
  JsonWriter json(sum);
  json.begin_object();
  for (const JsonMember& member : ours->members()) {
    json.key(member.name);
    const auto events = member.name == "events" ? member.value.integer() : std::nullopt;
    events ? json.integer(*events + more) : json.raw(member.value.raw());
  }
  json.end_object();
  return sum;
}

// A queue that some shards did not have yet is created there, while the others configure it.
void add(QueueLogEntry& ours, QueueLogEntry&& theirs) {
  if (ours.action == QueueAction::created && theirs.action == QueueAction::configured)
    std::swap(ours, theirs);
  ours.detail = with_events_of(ours.detail, theirs.detail);
}

// A change to all shards has one id, and so one entry.
std::vector<QueueLogEntry> merged(const QueueLogQuery& ask, std::vector<std::vector<QueueLogEntry>> lists) {
  std::map<std::string, QueueLogEntry, std::greater<>> by_id;
  for (std::vector<QueueLogEntry>& list : lists) {
    for (QueueLogEntry& entry : list) {
      const auto [at, is_new] = by_id.try_emplace(entry.id, entry);
      if (!is_new) add(at->second, std::move(entry));
    }
  }
  std::vector<QueueLogEntry> all = values_of(std::move(by_id));
  cut(all, ask.filter.limit);
  return all;
}

// Merges the results that were found, which are in `part` of each answer. A shard without the thing answers
// not_found, which is the merged answer only if all shards do.
template <typename Question, typename Part>
auto merged_results(const Question& question, std::vector<ShardAnswer>& answers, const Part& part)
    -> Result<decltype(merged(question, {}))> {
  std::vector<decltype(merged(question, {}))> found;
  std::optional<Error> not_found;
  for (ShardAnswer& answer : answers) {
    auto& result = part(answer.commit_threads.front());
    if (result) {
      found.push_back(std::move(*result));
    } else if (result.error().code == ErrorCode::not_found) {
      not_found = result.error();
    } else {
      return result.error();
    }
  }
  if (found.empty()) return *not_found;
  return merged(question, std::move(found));
}

using WorkersByName = std::map<std::string, ListedWorker>;

// A worker's requests may be stored on several shards, and it may hold events on others. Each shard gives the
// state by what it stores, so the last state in the order of WorkerState is right.
void add_seen(ListedWorker& ours, const ListedWorker& theirs) {
  if (theirs.asked && (!ours.asked || theirs.row.last_seen > ours.row.last_seen)) ours.asked = theirs.asked;
  for (const Selector& it : theirs.asks) {
    if (std::find(ours.asks.begin(), ours.asks.end(), it) == ours.asks.end()) ours.asks.push_back(it);
  }
  ours.asked_lately = ours.asked_lately || theirs.asked_lately;
  ours.state = std::max(ours.state, theirs.state);
  if (ours.stale_because.empty()) ours.stale_because = theirs.stale_because;
  ours.row.first_seen = std::min(ours.row.first_seen, theirs.row.first_seen);
  ours.row.last_seen = std::max(ours.row.last_seen, theirs.row.last_seen);
}

// Adds the report of another commit thread of the same shard. All of them read the held events from the
// database, so the first report's are kept.
void add_commit_thread(WorkersByName& ours, std::vector<ListedWorker>&& commit_thread) {
  for (ListedWorker& worker : commit_thread) {
    const auto [found, is_new] = ours.try_emplace(worker.row.id, worker);
    if (is_new) continue;
    add_seen(found->second, worker);
    // Both start from the stored counters and add their own unstored ones, so a sum would count the stored
    // ones twice. The maximum misses only the unstored ones of the other thread.
    WorkerRow& row = found->second.row;
    row.completed = std::max(row.completed, worker.row.completed);
    row.failed = std::max(row.failed, worker.row.failed);
  }
}

// Adds the workers of another shard. Each database has its own events and counters, so they are summed.
void add_shard(WorkersByName& ours, WorkersByName&& shard) {
  for (auto& [name, worker] : shard) {
    const auto [found, is_new] = ours.try_emplace(name, worker);
    if (is_new) continue;
    ListedWorker& sum = found->second;
    add_seen(sum, worker);
    sum.row.completed += worker.row.completed;
    sum.row.failed += worker.row.failed;
    append_all(sum.holding, std::move(worker.holding));
    std::sort(sum.holding.begin(), sum.holding.end());
  }
}

// `workers_of` finds the workers in an answer.
template <typename WorkersOf>
std::vector<ListedWorker> merged_workers(std::vector<ShardAnswer>& answers, const WorkersOf& workers_of) {
  WorkersByName all;
  for (ShardAnswer& answer : answers) {
    WorkersByName shard;
    for (Answer& commit_thread : answer.commit_threads) {
      add_commit_thread(shard, std::move(workers_of(commit_thread.admin)));
    }
    add_shard(all, std::move(shard));
  }
  return values_of(std::move(all));
}

void add(QueueMetrics& ours, const QueueMetrics& theirs) {
  add(ours.counts, theirs.counts);
  ours.totals += theirs.totals;
  ours.backpressure = ours.backpressure || theirs.backpressure;
  ours.paused = ours.paused || theirs.paused;
  keep_later(ours.oldest_pending, theirs.oldest_pending);
}

// Counters are those of the database, and every commit thread reports them, so only the first one's are
// added. Histograms are each commit thread's own. Sizes are reported by one of them.
Metrics merged_metrics(std::vector<ShardAnswer>& answers, const std::vector<int>& missing) {
  Metrics all;
  std::map<std::string, QueueMetrics> queues;
  for (const ShardAnswer& answer : answers) {
    ShardMetrics& shard = all.shards.emplace_back(ShardMetrics{answer.shard, true});
    for (std::size_t commit_thread = 0; commit_thread < answer.commit_threads.size(); ++commit_thread) {
      const auto& metrics = std::get<Metrics>(answer.commit_threads[commit_thread].admin);
      if (metrics.sizes.upkeep) shard.upkeep = metrics.sizes.upkeep;
      all.sizes.file_bytes += metrics.sizes.file_bytes;
      all.sizes.log_bytes += metrics.sizes.log_bytes;
      for (const QueueMetrics& queue : metrics.queues) {
        QueueMetrics& ours = queues[queue.queue];
        ours.queue = queue.queue;
        if (commit_thread == 0) add(ours, queue);
        ours.wait += queue.wait;
        ours.run += queue.run;
      }
      all.commit_seconds += metrics.commit_seconds;
      all.batch_events += metrics.batch_events;
      all.waiting_claims += metrics.waiting_claims;
      all.waiting_ends += metrics.waiting_ends;
      if (commit_thread > 0) continue;
      all.failed_24h += metrics.failed_24h;
    }
  }
  for (const int shard : missing) all.shards.push_back({shard, false});
  std::sort(all.shards.begin(), all.shards.end(),
            [](const ShardMetrics& a, const ShardMetrics& b) { return a.shard < b.shard; });
  all.queues = values_of(std::move(queues));
  all.workers = merged_workers(
      answers, [](AdminAnswer & answer) -> auto& { return std::get<Metrics>(answer).workers; });
  count_subscribers(all);
  return all;
}

// The error in the answer to an AdminRequest; null if there is none.
const Error* error_of(const AdminAnswer& answer) {
  return std::visit(
      [](const auto& part) -> const Error* {
        if constexpr (requires { part.error(); }) {
          if (!part) return &part.error();
        }
        return nullptr;
      },
      answer);
}

// Whether the shards that answered did not find what was asked for, or an event with one of several names.
bool lacks(const AdminAnswer& answer) {
  if (const auto* found = std::get_if<Result<FoundEvents>>(&answer); found != nullptr && *found) {
    const auto& events = (*found)->events;
    return std::any_of(events.begin(), events.end(), [](const auto& ids) { return ids.empty(); });
  }
  const Error* error = error_of(answer);
  return error != nullptr && error->code == ErrorCode::not_found;
}

// The error of a shard that could not be asked. A read has it in its own part of the answer.
const Error* outage_of(const Answer& answer) {
  if (answer.error) return &*answer.error;
  const Error* error = answer.page && !*answer.page ? &answer.page->error() : error_of(answer.admin);
  return error != nullptr && error->code == ErrorCode::unavailable ? error : nullptr;
}

// Removes the answers of shards that could not be asked, and adds those shards to `missing`. A shard is
// missing if one of its commit threads did not answer. Returns the error of the last missing shard.
std::optional<Error> set_missing(std::vector<ShardAnswer>& answers, std::vector<int>& missing) {
  std::optional<Error> last;
  std::erase_if(answers, [&](const ShardAnswer& answer) {
    for (const Answer& commit_thread : answer.commit_threads) {
      const Error* error = outage_of(commit_thread);
      if (error == nullptr) continue;
      last = *error;
      missing.push_back(answer.shard);
      return true;
    }
    return false;
  });
  return last;
}

void merge_admin(const AdminRequest& request, std::vector<ShardAnswer>& answers, Answer& into) {
  std::visit(Overloaded{
                 [&](const MetricsRequest&) { into.admin = merged_metrics(answers, into.missing); },
                 [&](const WorkersRequest&) {
                   into.admin = merged_workers(
                       answers, [](AdminAnswer & answer) -> auto& {
                         return std::get<std::vector<ListedWorker>>(answer);
                       });
                 },
                 [&]<CommittedQuery Query>(const Query& query) {
                   using Merged = Result<decltype(merged(query, {}))>;
                   into.admin = merged_results(query, answers, [](Answer& answer) -> Merged& {
                     return std::get<Merged>(answer.admin);
                   });
                 },
                 [](const auto&) {},
             },
             request);
}

}  // namespace

Command for_each_shard(const Command& read, int shards) {
  Command command = read;
  if (command.list && shards > 1) {
    command.list->limit += static_cast<std::size_t>(command.list->offset);
    command.list->offset = 0;
  }
  return command;
}

Answer merge(const Command& question, std::vector<ShardAnswer> answers) {
  Answer all;
  const std::size_t shards = answers.size();
  const std::optional<Error> outage = set_missing(answers, all.missing);
  const bool asks_nothing =
      !question.list && !question.probe && std::holds_alternative<std::monostate>(question.admin);
  // Metrics must answer also when all shards are unavailable, because they report exactly that. An empty
  // command promises that every shard has done what was sent before.
  const bool none_answered = answers.empty() && !std::holds_alternative<MetricsRequest>(question.admin);
  if (none_answered || asks_nothing) {
    all.error = outage;
    return all;
  }
  if (question.list) {
    ListFilter filter = *question.list;
    if (shards == 1) filter.offset = 0;  // a single shard has applied it
    all.page = merged_results(
        filter, answers, [](Answer & answer) -> auto& { return *answer.page; });
  }
  merge_admin(question.admin, answers, all);
  // A missing shard may have what the others did not find.
  if (outage && lacks(all.admin)) all.error = outage;
  return all;
}

QueueChanged merge(std::vector<QueueChanged> changes) {
  QueueChanged all = std::move(changes.front());
  for (std::size_t i = 1; i < changes.size(); ++i) {
    QueueChanged& change = changes[i];
    all.depth += change.depth;
    append_all(all.superseded, std::move(change.superseded));
    if (all.checkpoint && change.checkpoint) add(*all.checkpoint, *change.checkpoint);
  }
  std::sort(all.superseded.begin(), all.superseded.end());
  return all;
}

}  // namespace eventq
