// oracle.h: checks rules that hold for any queue. Three systems with the same mistake agree with each other,
// but not with the oracle.
//
// It keeps one record per event: the last reading of the event, with its log. From the records it derives
// which events a claim must return, which publications must be refused, how many events of each kind exist,
// and what may change between two readings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "against_model/operation.h"
#include "model/lifecycle.h"

namespace eventq {

// Without wanted tags, every event matches.
inline bool shares_tag(const std::vector<std::string>& tags, const std::vector<std::string>& wanted) {
  return wanted.empty() ||
         std::find_first_of(tags.begin(), tags.end(), wanted.begin(), wanted.end()) != tags.end();
}

class Oracle {
 public:
  using Ids = std::vector<EventId>;

  // `read_event` returns the current event with its log.
  Oracle(const Policy& policy, std::function<Details(EventId)> read_event)
      : policy_(policy), read_event_(std::move(read_event)) {}

  // An operation was answered at `now`. `fresh` are the events published since the last one, ascending.
  // `others_wait`: waiting claims exist, and may have taken events that this operation made ready.
  void observe(const Operation& operation, const Answer& answer, const Ids& fresh, bool others_wait,
               TimePoint now);

  // The operation's claim found nothing at `now` and waits.
  void observe_parked(const Operation& operation, const Ids& fresh, bool others_wait, TimePoint now);

  // A waiting claim was answered at `now`. Other waiting claims may have taken some of the ready events.
  void observe_waiter(const Operation& operation, const Answer& answer, TimePoint now);

  // The clock moved to `now`, and all due work is done.
  void observe_time(const Ids& fresh, TimePoint now);

  [[nodiscard]] Ids events() const;
  [[nodiscard]] std::size_t size() const { return records_.size(); }
  [[nodiscard]] std::int64_t depth(const std::string& queue) const;

  // How many on_complete events were published, and how often a failed event blocked its line.
  [[nodiscard]] int completions() const { return completions_; }
  [[nodiscard]] int blocked_lines() const { return blocked_lines_; }

  // The violations found so far.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct EventRecord {
    Details seen;
    TimePoint due;             // of a pending event with an empty log
    TimePoint lease_until;     // while the event is processing
    bool blocks_line = false;  // failed, and its queue blocks on failure
    std::int64_t since = 0;    // the operation that gave the event its turn
    std::int64_t published = 0;
  };
  // The first request with an idempotency key, its time and its answer.
  struct Used {
    std::string fingerprint;
    TimePoint since;
    std::vector<Event> answered;  // the events in the first answer
  };
  // A queue's settings after its last operation.
  struct Settings {
    Millis lease{};
    std::optional<std::int64_t> max_depth;
    std::size_t batch_size = 0;
    OnFailure on_failure = OnFailure::skip;
    QueueStatus status = QueueStatus::active;
  };
  struct Tally {
    std::int64_t total = 0;
    std::int64_t pending = 0;
    std::int64_t completed = 0;
    std::int64_t failed = 0;
    friend bool operator==(const Tally&, const Tally&) = default;
  };
  using LineKey = std::pair<std::string, std::string>;  // queue and ordering_key

  // oracle.cc: rules for one event.
  void observe_key(const Publication& publication, const Result<Published>& published, TimePoint now);
  void observe_publication(const Operation& operation, const Published& published, TimePoint now);
  void observe_changes(const Operation& operation, const Answer& answer, TimePoint now);
  void observe_claims(const Operation& operation, const Answer& answer, bool others_wait, TimePoint now);
  void check_fence(const EventRecord& record, const Change& change, const Changed& changed);
  void observe_page(const ListFilter& filter, const EventPage& page);
  void reread(EventId id, TimePoint now);
  void record_first_reading(EventId id, Details details, TimePoint now);
  void compare(const Details& before, const Details& after);
  void record_returned(const Change& change, int attempt);
  void check_returned(const Details& details);
  void check_walk(const Details& details);
  void check_pick(const EventRecord& record, const LogEntry& picked, const Details& after);
  [[nodiscard]] bool is_new_report(EventId id, const Changed& changed) const;
  [[nodiscard]] TimePoint due_at(const EventRecord& record) const;
  void fault(EventId id, const std::string& what);

  // oracle_queues.cc: rules between events.
  [[nodiscard]] Settings& settings(const std::string& queue);
  [[nodiscard]] std::set<EventId> claimable(const ClaimRequest& request, TimePoint now);
  void exclude_taken_by_waiters(std::set<EventId>& wanted, const Ids& claimed);
  void check_order(const Ids& claimed, const std::set<EventId>& wanted);
  [[nodiscard]] bool surely_before(EventId a, EventId b) const;
  void count_status(const Event& event, std::optional<Status> before);
  void update_line(EventId id, bool was_ended);
  [[nodiscard]] std::optional<EventId> head_of(const LineKey& line) const;
  void check_line(const Event& event, bool in_work);
  [[nodiscard]] std::set<ErrorCode> reasons_to_refuse(const Publication& publication);
  [[nodiscard]] std::vector<const NewEvent*> fresh_of(const Publication& publication,
                                                      const std::string& queue) const;
  [[nodiscard]] std::int64_t growth(const std::string& queue,
                                    const std::vector<const NewEvent*>& events) const;
  void reread_superseded(const Event& newer, TimePoint now);
  void check_superseded(const Event& event);
  void observe_fresh(const Ids& fresh, const std::set<EventId>& answered, TimePoint now);
  void observe_on_complete(const Event& event, TimePoint now);
  [[nodiscard]] bool is_end_of(const std::string& correlation_id, const std::string& payload);
  void check_on_complete();
  void check_growth(const std::string& queue, std::int64_t depth_before);
  void observe_admin(const Operation& operation, const Answer& answer, TimePoint now);
  void observe_change(const QueueChange& change, const QueueChanged& changed, TimePoint now);
  void unblock_lines(const std::string& queue);
  void record_permanent(const Operation& operation);
  void observe_revival(const Revival& revival, const Revived& revived, TimePoint now);
  void check_revived(const Revival& revival, const Revived& revived);
  void check_read(const Operation& operation, const Answer& answer);
  void check_queue(const QueueDocument& queue, std::size_t shown);
  void check_correlation(const std::string& id, const Result<Correlation>& correlation);
  void check_failures(const FailuresQuery& query, const std::vector<FailureGroup>& groups);
  void check_wait(const WaitRequest& wait, const Answer& answer);
  [[nodiscard]] Ids with_supersede_key(const std::string& queue, const std::string& key) const;

  const Policy policy_;
  const std::function<Details(EventId)> read_event_;
  std::map<EventId, EventRecord> records_;
  std::set<EventId> permanent_;             // events that a worker reported as permanently failed
  std::map<EventId, std::string> results_;  // that completions returned
  std::map<std::pair<EventId, int>, std::string> details_;  // that failures returned, by attempt
  std::map<std::string, EventId> by_event_id_;
  std::map<std::string, Used> keys_;
  std::vector<std::string> faults_;

  std::int64_t operation_ = 0;
  std::map<std::string, Settings> settings_;
  std::map<std::string, std::int64_t> depths_;
  std::map<LineKey, std::set<EventId>> lines_;  // live events, and the failed one that blocks them
  std::map<LineKey, EventId> heads_;
  std::map<std::string, Tally> correlations_;
  std::map<std::string, NewEvent> on_complete_;  // pending on_complete events, by correlation id
  int completions_ = 0;
  int blocked_lines_ = 0;
};

}  // namespace eventq
