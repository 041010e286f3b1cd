// stored_event.h: functions on events that all stores share: parts of an event, filters, and pages.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"
#include "model/query.h"
#include "store/store.h"

namespace eventq {

Guard guard_of(const Event& event);

// The error of save() and remove() when a row does not match its guard. The transaction itself loaded or
// locked the row, so this is a bug in eventq.
Error guard_failed(EventId id);

// Copies the fields that save() may change. The others stay as insert() stored them.
void copy_state(const Event& from, Event& to);

// Moves the fields that no rule reads; see Transaction::EventFields.
void move_envelope(Event&& from, Event& to);

// Copies what save() changed beside the event's fields back to the caller's event.
void copy_bookkeeping(const Stored& from, Stored& to);

// Adds `change` to the counters of a worker, and raises its last_seen.
void add_to(WorkerRow& row, const WorkerRow& change);

// Whether the event may have a result. Others have none, so no statement needs to look for it.
bool may_have_result(const Event& event);

QueueDocument document_of(QueueRecord&& record);

// Whether the event matches all parts of the filter but worker_id, error and the cuts of the page.
bool matches(const Event& event, const ListFilter& filter);

// Whether the last error message of an event matches the filter; empty: there is none.
bool matches_error(std::string_view message, const ListFilter& filter);

// Events that are listed: ids above `after` and below `before`.
struct IdRange {
  EventId after{};
  EventId before{};

  // Continues a walk behind this event.
  void skip(ListOrder order, EventId last) { (order == ListOrder::ascending ? after : before) = last; }
  // Keeps the ids that are also in `other`.
  void narrow(const IdRange& other);
};
IdRange range_of(const ListFilter& filter);

// Ids ascend with created_at, except that several transactions run at once and clocks are corrected. An event
// was created at most this long before an event with a lower id. A list by time reads this much more on both
// sides, and it misses events only after a clock was set back further.
inline constexpr std::chrono::minutes kCreatedDisorder{1};

// The bounds of a list by time, moved outwards by the disorder, as far as a time can be.
inline TimePoint with_disorder_before(TimePoint since) {
  return since < TimePoint::min() + kCreatedDisorder ? TimePoint::min() : since - kCreatedDisorder;
}
inline TimePoint with_disorder_after(TimePoint until) {
  return until > TimePoint::max() - kCreatedDisorder ? TimePoint::max() : until + kCreatedDisorder;
}

// A list by time searches the ids of its time. Only an index that finds few events is better than this.
inline bool is_list_by_time(const ListFilter& filter) {
  return (filter.since || filter.until) && !filter.event_id && !filter.correlation_id;
}

// Whether a worker ever picked the event, as far as the event itself tells. An event names only the worker of
// its last attempt, and none after a retry, so its log decides otherwise.
enum class PickedBy : std::uint8_t { yes, no, see_log };
PickedBy picked_by(const Event& event, std::string_view worker_id);

// Compares the fields that no index has: pattern, cause and tags.
bool matches_unindexed(const Stored& stored, const EndedFilter& filter);

// filter.statuses, or all final statuses when it names none.
std::vector<Status> statuses_of(const EndedFilter& filter);

// Behind every entry of every log.
inline constexpr LogCursor kLogEnd{EventId{std::numeric_limits<std::int64_t>::max()},
                                   LogId{std::numeric_limits<std::int64_t>::max()}};

// Builds the answer to Reader::list() from the matching events, in the order of the filter.
class PageBuilder {
 public:
  explicit PageBuilder(const ListFilter& filter);

  // A counter is stored per queue and status. For any other filter the matches must be counted.
  [[nodiscard]] bool has_stored_count() const { return has_stored_count_; }

  // Call it before take(). REQUIRES: has_stored_count().
  void set_stored_count(std::int64_t count) { stored_count_ = count; }

  // What to read. Without a stored counter the total includes the matches that the cuts of the page skip, so
  // the walk starts at the first event. A list that scans() starts behind its cut, because its walk has a
  // time limit and could never reach a later page otherwise.
  [[nodiscard]] ListFilter walked() const;

  // Takes the next match. Returns false when no further one is needed: one more than the page holds shows
  // that another page follows.
  bool take(Event&& event);

  // The time limit ended the walk behind this event.
  void stop(EventId last);

  // REQUIRES: set_stored_count() was called if has_stored_count().
  EventPage finish();

 private:
  [[nodiscard]] bool is_cut() const { return filter_.after > EventId{} || filter_.before; }
  // Whether the counter shows that the page is the last one.
  [[nodiscard]] bool has_all() const;

  const ListFilter& filter_;
  const bool has_stored_count_;
  EventPage page_;
  std::optional<std::int64_t> stored_count_;
  bool stopped_ = false;
  std::int64_t matched_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace eventq
