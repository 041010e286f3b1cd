// oracle.h: what must be true of any queue, whatever it is made of. Three systems that share a
// mistake agree with each other; they do not agree with this.
//
// It keeps a book of every event: what was last seen of it, and its log. From the book it knows
// which events a claim must give; and when an event is seen again, what may have changed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "against_model/operation.h"
#include "model/lifecycle.h"

namespace eventq {

class Oracle {
 public:
  // `look` reads an event with its log as it is now.
  Oracle(const Policy& policy, std::function<Details(EventId)> look)
      : policy_(policy), look_(std::move(look)) {}

  // An operation was answered at `now`.
  void observe(const Operation& operation, const Answer& answer, TimePoint now);

  // Its claim found nothing at `now`, and waits.
  void observe_parked(const Operation& operation, TimePoint now);

  // A claim that waited was answered at `now`: which events it gets is up to those who wait beside it.
  void observe_waiter(const Operation& operation, const Answer& answer, TimePoint now);

  // The clock moved to `now`, and what was due has been done.
  void observe_time(TimePoint now);

  // Looks at every event again.
  void observe_all(TimePoint now);

  [[nodiscard]] std::size_t events() const { return book_.size(); }

  // What cannot be, in words.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct Known {
    Details seen;
    std::optional<TimePoint> last_beat;  // of its newest attempt
  };
  // What a key stands for, and since when.
  struct Used {
    std::string fingerprint;
    TimePoint since;
  };
  using Ids = std::vector<EventId>;

  void observe_key(const Publication& publication, const Result<Published>& published, TimePoint now);
  void observe_publication(const Operation& operation, const Published& published, TimePoint now);
  void check_fence(const Known& known, const Change& change, const Changed& changed);
  void observe_changes(const Operation& operation, const Answer& answer, TimePoint now);
  void observe_page(const ListFilter& filter, const Page& page);
  void look_again(EventId id, TimePoint now);
  void compare(const Details& before, const Details& after);
  void check_walk(const Details& details);
  void check_pick(const Known& known, const LogEntry& picked, const Details& after);

  [[nodiscard]] Ids claimable(const ClaimRequest& request, const std::set<EventId>& but_not,
                              TimePoint now) const;
  [[nodiscard]] TimePoint due_at(const Known& known) const;
  void fault(EventId id, const std::string& what);

  const Policy policy_;
  const std::function<Details(EventId)> look_;
  std::map<EventId, Known> book_;
  std::map<std::string, EventId> by_event_id_;
  std::map<std::string, Used> keys_;
  std::vector<std::string> faults_;
};

}  // namespace eventq
