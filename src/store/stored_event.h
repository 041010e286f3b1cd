// stored_event.h: functions on events that all stores share: parts of an event, filters, and pages.
#pragma once

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

QueueDocument document_of(QueueRecord&& record);

// Whether the event matches all parts of the filter but worker_id.
bool matches(const Event& event, const ListFilter& filter);

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

// Builds the answer to Reader::list() from the matching events, in order of ids.
class PageBuilder {
 public:
  explicit PageBuilder(const ListFilter& filter);

  // A counter is stored per queue and status. For any other filter the matches must be counted.
  [[nodiscard]] bool has_stored_count() const { return has_stored_count_; }

  // What to read. Without a stored counter the total includes the matches that `after` and `offset` skip, so
  // the walk starts at the first event. A list by worker starts behind `after`, because its walk has a time
  // limit and could never reach a later page otherwise.
  [[nodiscard]] ListFilter walked() const;

  // Takes the next match. Returns false when the page needs no further one.
  bool take(Event&& event);

  // The time limit ended the walk behind this event.
  void stop(EventId last);

  // REQUIRES: `stored_count` has a value if has_stored_count().
  EventPage finish(std::optional<std::int64_t> stored_count);

 private:
  const ListFilter& filter_;
  const bool has_stored_count_;
  EventPage page_;
  bool stopped_ = false;
  std::int64_t matched_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace eventq
