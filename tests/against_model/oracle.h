// oracle.h: what must be true of any queue, whatever it is made of. Three systems that share a
// mistake agree with each other; they do not agree with this.
//
// It keeps a book of every event: what was last seen of it, and its log. From the book it knows
// which events a claim must give, which publications must be refused, and how many events there are of
// each kind; and when an event is seen again, what may have changed.
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

// Without wanted ones, whatever the tags.
inline bool shares_tag(const std::vector<std::string>& tags, const std::vector<std::string>& wanted) {
  return wanted.empty() ||
         std::find_first_of(tags.begin(), tags.end(), wanted.begin(), wanted.end()) != tags.end();
}

class Oracle {
 public:
  using Ids = std::vector<EventId>;

  // `look` reads an event with its log as it is now.
  Oracle(const Policy& policy, std::function<Details(EventId)> look)
      : policy_(policy), look_(std::move(look)) {}

  // An operation was answered at `now`. `fresh` are the events that are there since, ascending; `others_wait`
  // when there are claims that wait, and may have taken what it made ready.
  void observe(const Operation& operation, const Answer& answer, const Ids& fresh, bool others_wait,
               TimePoint now);

  // Its claim found nothing at `now`, and waits.
  void observe_parked(const Operation& operation, const Ids& fresh, bool others_wait, TimePoint now);

  // A claim that waited was answered at `now`: which events it gets is up to those who wait beside it.
  void observe_waiter(const Operation& operation, const Answer& answer, TimePoint now);

  // The clock moved to `now`, and what was due has been done.
  void observe_time(const Ids& fresh, TimePoint now);

  [[nodiscard]] Ids events() const;
  [[nodiscard]] std::size_t size() const { return book_.size(); }
  [[nodiscard]] std::int64_t depth(const std::string& queue) const;

  // How many on_complete events have come, and how often an event held up others.
  [[nodiscard]] int completions() const { return completions_; }
  [[nodiscard]] int holdups() const { return holdups_; }

  // What cannot be, in words.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Known {
    Details seen;
    TimePoint due;           // of a pending event that nothing happened to yet
    TimePoint lease_until;   // while it is processing
    bool holds = false;      // failed, and those behind it wait
    std::int64_t since = 0;  // the operation that gave it its turn
    std::int64_t published = 0;
  };
  // What a key stands for, and since when.
  struct Used {
    std::string fingerprint;
    TimePoint since;
    std::vector<Event> answered;  // the events as they were answered
  };
  // Of a queue, as its last operations left it.
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

  // oracle.cc: one event after the other.
  void observe_key(const Publication& publication, const Result<Published>& published, TimePoint now);
  void observe_publication(const Operation& operation, const Published& published, TimePoint now);
  void observe_changes(const Operation& operation, const Answer& answer, TimePoint now);
  void observe_claims(const Operation& operation, const Answer& answer, bool others_wait, TimePoint now);
  void check_fence(const Known& known, const Change& change, const Changed& changed);
  void observe_page(const ListFilter& filter, const EventPage& page);
  void look_again(EventId id, TimePoint now);
  void look_first(EventId id, Details details, TimePoint now);
  void compare(const Details& before, const Details& after);
  void check_walk(const Details& details);
  void check_pick(const Known& known, const LogEntry& picked, const Details& after);
  [[nodiscard]] bool is_news(EventId id, const Changed& changed) const;
  [[nodiscard]] TimePoint due_at(const Known& known) const;
  void fault(EventId id, const std::string& what);

  // oracle_queues.cc: events beside each other.
  [[nodiscard]] Settings& settings(const std::string& queue);
  [[nodiscard]] std::set<EventId> claimable(const ClaimRequest& request, TimePoint now);
  void leave_to_waiters(std::set<EventId>& wanted, const Ids& given);
  void check_order(const Ids& given, const std::set<EventId>& wanted);
  [[nodiscard]] bool surely_before(EventId a, EventId b) const;
  void note_status(const Event& event, std::optional<Status> before);
  void note_line(EventId id, bool was_ended);
  [[nodiscard]] std::optional<EventId> head_of(const LineKey& line) const;
  void check_line(const Event& event, bool in_work);
  [[nodiscard]] std::set<ErrorCode> reasons_to_refuse(const Publication& publication);
  [[nodiscard]] std::vector<const NewEvent*> fresh_of(const Publication& publication,
                                                      const std::string& queue) const;
  [[nodiscard]] std::int64_t growth(const std::string& queue,
                                    const std::vector<const NewEvent*>& events) const;
  void look_at_superseded(const Event& newer, TimePoint now);
  void check_superseded(const Event& event);
  void observe_fresh(const Ids& fresh, const std::set<EventId>& told, TimePoint now);
  void observe_promise(const Event& event, TimePoint now);
  void check_promises();
  void check_growth(const std::string& queue, std::int64_t depth_before);
  void observe_admin(const Operation& operation, const Answer& answer, TimePoint now);
  void observe_change(const QueueChange& change, const QueueChanged& changed, TimePoint now);
  void release_lines(const std::string& queue);
  void note_permanent(const Operation& operation);
  void observe_revival(const Revival& revival, const Revived& revived, TimePoint now);
  void check_revived(const Revival& revival, const Revived& revived);
  void check_read(const Operation& operation, const Answer& answer);
  void check_queue(const QueueDocument& queue, std::size_t shown);
  void check_correlation(const std::string& id, const Result<Correlation>& correlation);
  void check_failures(const FailuresQuery& ask, const std::vector<FailureGroup>& groups);
  void check_wait(const WaitRequest& wait, const Answer& answer);
  [[nodiscard]] Ids with_supersede_key(const std::string& queue, const std::string& key) const;

  const Policy policy_;
  const std::function<Details(EventId)> look_;
  std::map<EventId, Known> book_;
  std::set<EventId> permanent_;  // a worker wanted to fail them for good
  std::map<std::string, EventId> by_event_id_;
  std::map<std::string, Used> keys_;
  std::vector<std::string> faults_;

  std::int64_t operation_ = 0;
  std::map<std::string, Settings> settings_;
  std::map<std::string, std::int64_t> depths_;
  std::map<LineKey, std::set<EventId>> lines_;  // live events, and the failed one that holds them up
  std::map<LineKey, EventId> heads_;
  std::map<std::string, Tally> correlations_;
  std::map<std::string, NewEvent> promises_;  // on_complete events to come, by correlation id
  int completions_ = 0;
  int holdups_ = 0;
};

}  // namespace eventq
