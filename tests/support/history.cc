// history.cc: see history.h.
#include "support/history.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace eventq {
namespace {

using Kind = ReportCall::Kind;

std::string_view action_of(Kind kind) {
  switch (kind) {
    case Kind::start: return "STARTED";
    case Kind::heartbeat: return "";
    case Kind::complete: return "COMPLETED";
    case Kind::fail: return "FAILED";
  }
  return "";
}

bool has_ended(const FinalEvent& event) {
  return event.status == "COMPLETED" || event.status == "COMPLETED_WITH_ERRORS" || event.status == "FAILED" ||
         event.status == "CANCELLED" || event.status == "SUPERSEDED";
}

// A report is recorded once for each worker, attempt and action.
using ReportKey = std::tuple<std::string_view, int, std::string_view>;
ReportKey key_of(const ReportCall& call) { return {call.worker_id, call.attempt, action_of(call.kind)}; }
ReportKey key_of(const LogStep& step) { return {step.worker_id, step.attempt, step.action}; }

std::string text_of(const ReportKey& key) {
  return std::string(std::get<2>(key)) + " of attempt " + std::to_string(std::get<1>(key)) + " by " +
         std::string(std::get<0>(key));
}

// All calls and the final state of one event.
struct EventCalls {
  const FinalEvent* final = nullptr;
  std::vector<const DeliveredEvent*> deliveries;  // by attempt
  std::vector<const ReportCall*> reports;
};

// The time in which the worker of this attempt certainly held the lease.
struct CertainLease {
  SteadyTime start;
  SteadyTime end;
};

class Checker {
 public:
  Checker(const History& history, const CheckSettings& settings) : history_(history), settings_(settings) {}

  std::vector<Finding> check() {
    gather();
    check_publications();
    for (const FinalEvent& event : history_.finals) {
      if (!sent_.contains(event.title))
        add(Flaw::unrequested, event.id, "no call published \"" + event.title + "\"");
    }
    for (const auto& [id, calls] : events_) check_event(id, calls);
    for (const FinalEvent& event : history_.finals) check_superseded(event);
    check_lines();
    return std::move(findings_);
  }

 private:
  struct Sent {
    const std::string* payload = nullptr;
    std::optional<std::int64_t> acknowledged_id;
  };

  void add(Flaw flaw, std::int64_t event, std::string text) {
    findings_.push_back({flaw, event, std::move(text)});
  }

  void gather() {
    for (const FinalEvent& event : history_.finals) {
      EventCalls& calls = events_[event.id];
      if (calls.final != nullptr) add(Flaw::id_reused, event.id, "two events have this id at the end");
      calls.final = &event;
      if (!by_title_.emplace(event.title, &event).second) {
        add(Flaw::doubled, event.id, "\"" + event.title + "\" was published once and exists twice");
      }
    }
    for (const DeliveredEvent& delivery : history_.deliveries)
      events_[delivery.id].deliveries.push_back(&delivery);
    for (const ReportCall& report : history_.reports) events_[report.id].reports.push_back(&report);
    for (auto& [id, calls] : events_) {
      std::stable_sort(calls.deliveries.begin(), calls.deliveries.end(),
                       [](const auto* a, const auto* b) { return a->attempt < b->attempt; });
    }
  }

  // Publications.

  void check_publications() {
    std::map<std::int64_t, std::string> title_of;
    for (const PublishCall& call : history_.publishes) {
      for (std::size_t i = 0; i < call.sent.size(); ++i) {
        const std::string& title = call.sent[i].title;
        if (call.outcome != CallOutcome::refused) sent_[title].payload = &call.sent[i].payload;
        if (call.outcome != CallOutcome::ok) continue;
        const std::int64_t id = call.ids.at(i);
        Sent& sent = sent_[title];
        if (sent.acknowledged_id.value_or(id) != id)
          add(Flaw::doubled, id, "\"" + title + "\" was acknowledged with two ids");
        sent.acknowledged_id = id;
        if (title_of.emplace(id, title).first->second != title) {
          add(Flaw::id_reused, id, "was acknowledged for \"" + title + "\" and for another event");
        }
        check_published(call.sent[i], id);
      }
      check_whole(call);
      if (call.on_complete) check_on_complete(call);
    }
  }

  // Published exactly when all events of the batch have ended, which they have at the end of a history.
  void check_on_complete(const PublishCall& call) {
    const auto first = by_title_.find(call.sent.front().title);
    const auto last = by_title_.find(call.on_complete->title);
    if (first == by_title_.end()) return;  // check() then finds the on_complete event unrequested
    sent_[call.on_complete->title].payload = &call.on_complete->payload;
    const bool ended = std::all_of(call.sent.begin(), call.sent.end(), [&](const PublishCall::Sent& sent) {
      const auto found = by_title_.find(sent.title);
      return found == by_title_.end() || has_ended(*found->second);
    });
    if (ended && last == by_title_.end()) {
      add(Flaw::lost, 0, "on_complete event \"" + call.on_complete->title + "\" is missing");
    }
    if (!ended && last != by_title_.end())
      add(Flaw::unrequested, last->second->id, "on_complete event was published before the batch ended");
  }

  void check_published(const PublishCall::Sent& sent, std::int64_t id) {
    const auto found = events_.find(id);
    const FinalEvent* final = found == events_.end() ? nullptr : found->second.final;
    if (final == nullptr || final->title != sent.title) {
      add(Flaw::lost, id, "\"" + sent.title + "\" was acknowledged and is missing");
    } else if (final->payload != sent.payload) {
      add(Flaw::payload_changed, id, "sent " + sent.payload + ", stored " + final->payload);
    }
  }

  void check_whole(const PublishCall& call) {
    const auto present = std::count_if(call.sent.begin(), call.sent.end(),
                                       [&](const auto& sent) { return by_title_.contains(sent.title); });
    if (call.outcome == CallOutcome::ok || present == 0 ||
        present == static_cast<std::ptrdiff_t>(call.sent.size()))
      return;
    add(Flaw::torn_batch, 0,
        std::to_string(present) + " of " + std::to_string(call.sent.size()) +
            " events of a batch exist; its first is \"" + call.sent.front().title + "\"");
  }

  // One event.

  void check_event(std::int64_t id, const EventCalls& calls) {
    check_deliveries(id, calls);
    check_leases(id, calls);
    check_ends(id, calls);
    if (calls.final == nullptr) {
      // check_publications() has already found a lost publication; this finds one that was delivered.
      if (!calls.deliveries.empty()) add(Flaw::lost, id, "was delivered and is missing");
      return;
    }
    check_entries(id, calls);
    check_log(*calls.final);
    if (!has_ended(*calls.final)) add(Flaw::unfinished, id, "is " + calls.final->status);
  }

  void check_deliveries(std::int64_t id, const EventCalls& calls) {
    const DeliveredEvent* before = nullptr;
    for (const DeliveredEvent* delivery : calls.deliveries) {
      const auto sent = sent_.find(delivery->title);
      if (sent == sent_.end()) {
        add(Flaw::unrequested, id, "\"" + delivery->title + "\" was delivered and never published");
      } else if (delivery->payload != *sent->second.payload) {
        add(Flaw::payload_changed, id, "sent " + *sent->second.payload + ", delivered " + delivery->payload);
      }
      if (before != nullptr && before->attempt == delivery->attempt) {
        add(Flaw::doubled, id, "attempt " + std::to_string(delivery->attempt) + " was delivered twice");
      } else if (before != nullptr && delivery->returned < before->invoked) {
        add(Flaw::attempt_back, id,
            "attempt " + std::to_string(before->attempt) + " was delivered after attempt " +
                std::to_string(delivery->attempt));
      }
      before = delivery;
    }
  }

  // Starts with the claim's answer. Ends one lease after the claim, the first start or a heartbeat was sent,
  // or when a report was sent that may have ended the attempt.
  CertainLease certain_lease(const EventCalls& calls, const DeliveredEvent& delivery) const {
    const auto lease = settings_.lease - settings_.slack;
    CertainLease certain{delivery.returned, delivery.invoked + lease};
    SteadyTime ended_by_report = SteadyTime::max();
    const ReportCall* first_start = nullptr;
    for (const ReportCall* report : calls.reports) {
      if (report->attempt != delivery.attempt || report->worker_id != delivery.worker_id) continue;
      const bool ends = report->kind == Kind::complete || report->kind == Kind::fail;
      if (ends && report->outcome != CallOutcome::refused)
        ended_by_report = std::min(ended_by_report, report->invoked);
      if (report->kind == Kind::heartbeat && report->outcome == CallOutcome::ok) {
        certain.end = std::max(certain.end, report->invoked + lease);
      }
      const bool earlier = first_start == nullptr || report->invoked < first_start->invoked;
      if (report->kind == Kind::start && earlier) first_start = report;
    }
    // A repeated start does not extend the lease, so only the first one counts.
    if (first_start != nullptr && first_start->outcome == CallOutcome::ok) {
      certain.end = std::max(certain.end, first_start->invoked + lease);
    }
    certain.end = std::min(certain.end, ended_by_report);
    return certain;
  }

  void check_leases(std::int64_t id, const EventCalls& calls) {
    for (std::size_t i = 1; i < calls.deliveries.size(); ++i) {
      const DeliveredEvent& first = *calls.deliveries[i - 1];
      const DeliveredEvent& second = *calls.deliveries[i];
      const CertainLease a = certain_lease(calls, first);
      const CertainLease b = certain_lease(calls, second);
      if (a.start < b.end && b.start < a.end) {
        const auto by = std::chrono::duration_cast<std::chrono::microseconds>(a.end - b.start);
        add(Flaw::overlapping_leases, id,
            "attempt " + std::to_string(second.attempt) + " by " + second.worker_id + " began " +
                std::to_string(by.count()) + " us before the lease of attempt " +
                std::to_string(first.attempt) + " by " + first.worker_id + " expired");
      }
    }
  }

  // No attempt and no report may succeed after the end of an event was acknowledged.
  void check_ends(std::int64_t id, const EventCalls& calls) {
    const ReportCall* end = nullptr;
    for (const ReportCall* report : calls.reports) {
      if (report->outcome != CallOutcome::ok || !report->ended) continue;
      if (end != nullptr && key_of(*end) != key_of(*report)) {
        add(Flaw::doubled, id, "ended by " + text_of(key_of(*end)) + " and by " + text_of(key_of(*report)));
      }
      if (end == nullptr || report->returned < end->returned) end = report;
    }
    if (end == nullptr) return;
    for (const DeliveredEvent* delivery : calls.deliveries) {
      if (delivery->invoked > end->returned || delivery->attempt > end->attempt) {
        add(Flaw::resurrected, id,
            "attempt " + std::to_string(delivery->attempt) + " was delivered to " + delivery->worker_id +
                " although " + text_of(key_of(*end)) + " was acknowledged");
      }
    }
  }

  // Relations between events.

  void check_superseded(const FinalEvent& event) {
    if (event.superseded_by == 0) return;
    const auto found = events_.find(event.superseded_by);
    const FinalEvent* newer = found == events_.end() ? nullptr : found->second.final;
    const bool fits = newer != nullptr && newer->id > event.id && newer->queue == event.queue &&
                      newer->supersede_key == event.supersede_key && !event.supersede_key.empty();
    if (event.status != "SUPERSEDED" || !fits) {
      add(Flaw::wrongly_superseded, event.id,
          "has status " + event.status + " and superseded_by " + std::to_string(event.superseded_by));
    }
  }

  void check_lines() {
    std::map<std::pair<std::string, std::string>, std::vector<const FinalEvent*>> lines;
    for (const FinalEvent& event : history_.finals) {
      if (!event.ordering_key.empty()) lines[{event.queue, event.ordering_key}].push_back(&event);
    }
    for (auto& [key, events] : lines) {
      std::sort(events.begin(), events.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
      check_line(events);
    }
  }

  // Checks the order by the log entries and by the times of the workers' calls.
  void check_line(const std::vector<const FinalEvent*>& events) {
    const FinalEvent* last_end = nullptr;           // the earlier event that ended last
    const DeliveredEvent* last_delivery = nullptr;  // the latest one of an earlier event
    for (const FinalEvent* event : events) {
      const auto picked = std::find_if(event->log.begin(), event->log.end(),
                                       [](const LogStep& step) { return step.action == "PICKED"; });
      if (last_end != nullptr && picked != event->log.end() && end_of(*last_end) > picked->id) {
        add(Flaw::out_of_order, event->id,
            "was claimed before event " + std::to_string(last_end->id) + " ended");
      }
      if (last_end == nullptr || end_of(*event) > end_of(*last_end)) last_end = event;
      const auto& deliveries = events_.at(event->id).deliveries;
      if (deliveries.empty()) continue;
      if (last_delivery != nullptr && last_delivery->invoked > deliveries.front()->returned) {
        add(Flaw::out_of_order, event->id, "was delivered before event " + std::to_string(last_delivery->id));
      }
      for (const DeliveredEvent* delivery : deliveries) {
        if (last_delivery == nullptr || delivery->invoked > last_delivery->invoked) last_delivery = delivery;
      }
    }
  }

  // The id of the entry that ended the event.
  static std::int64_t end_of(const FinalEvent& event) {
    const bool ended = has_ended(event) && !event.log.empty();
    return ended ? event.log.back().id : std::numeric_limits<std::int64_t>::max();
  }

  // The log's entries against the calls and their answers.

  void check_entries(std::int64_t id, const EventCalls& calls) {
    std::map<ReportKey, int> entries;
    for (const LogStep& step : calls.final->log) ++entries[key_of(step)];
    for (const auto& [key, count] : entries) {
      if (count > 1)
        add(Flaw::doubled, id, text_of(key) + " is in the log " + std::to_string(count) + " times");
    }
    const auto expect = [&](const ReportKey& key) {
      if (!entries.contains(key))
        add(Flaw::unrecorded, id, text_of(key) + " was acknowledged and is not in the log");
    };
    std::set<ReportKey> requested;
    for (const ReportCall* report : calls.reports) {
      if (report->kind == Kind::heartbeat) continue;
      if (report->outcome != CallOutcome::refused) requested.insert(key_of(*report));
      if (report->outcome == CallOutcome::ok) expect(key_of(*report));
    }
    for (const DeliveredEvent* delivery : calls.deliveries)
      expect({delivery->worker_id, delivery->attempt, "PICKED"});
    for (const LogStep& step : calls.final->log) {
      const bool reported =
          !step.worker_id.empty() &&
          (step.action == "STARTED" || step.action == "COMPLETED" || step.action == "FAILED");
      if (reported && !requested.contains(key_of(step))) {
        add(Flaw::unrequested, id, text_of(key_of(step)) + " is in the log, but no worker reported it");
      }
    }
  }

  void check_log(const FinalEvent& event) {
    int picked = 0;
    int in_a_row = 0;
    int failed = 0;
    for (const LogStep& step : event.log) {
      const bool reported =
          !step.worker_id.empty() && (step.action == "FAILED" || step.action == "COMPLETED");
      if (step.action == "FAILED" && reported) ++failed;
      if (step.action == "RELEASED") --in_a_row;
      if (reported || step.action == "RESET") in_a_row = 0;
      if (step.action == "RESET") failed = 0;
      if (step.action != "PICKED") continue;
      if (step.attempt != ++picked) {
        return add(Flaw::attempt_gap, event.id,
                   "attempt " + std::to_string(step.attempt) + " is number " + std::to_string(picked) +
                       " in the log");
      }
      if (++in_a_row > settings_.max_attempts || failed >= settings_.max_retries) {
        return add(
            Flaw::too_many_deliveries, event.id,
            std::to_string(in_a_row) + " claims in a row after " + std::to_string(failed) + " failures");
      }
    }
    Walk walk = walk_log(event.log, {settings_.max_retries, settings_.max_attempts});
    if (walk.fault) return add(Flaw::impossible_log, event.id, *walk.fault);
    const WalkEnd actual{event.status, event.attempts, event.retry_count, walk.end.unreported,
                         event.worker_id};
    if (actual != walk.end) {
      add(Flaw::impossible_log, event.id,
          "is " + describe(actual) + ", but its log gives " + describe(walk.end));
    }
  }

  const History& history_;
  const CheckSettings& settings_;
  std::map<std::string, Sent> sent_;  // by title
  std::map<std::string, const FinalEvent*> by_title_;
  std::map<std::int64_t, EventCalls> events_;
  std::vector<Finding> findings_;
};

template <typename T>
void move_all(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void History::append(History&& other) {
  move_all(other.publishes, publishes);
  move_all(other.deliveries, deliveries);
  move_all(other.reports, reports);
  move_all(other.finals, finals);
}

std::vector<Finding> check(const History& history, const CheckSettings& settings) {
  return Checker(history, settings).check();
}

std::string_view name_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::lost: return "lost";
    case Flaw::doubled: return "doubled";
    case Flaw::resurrected: return "resurrected";
    case Flaw::overlapping_leases: return "overlapping_leases";
    case Flaw::payload_changed: return "payload_changed";
    case Flaw::attempt_gap: return "attempt_gap";
    case Flaw::attempt_back: return "attempt_back";
    case Flaw::too_many_deliveries: return "too_many_deliveries";
    case Flaw::id_reused: return "id_reused";
    case Flaw::torn_batch: return "torn_batch";
    case Flaw::unrequested: return "unrequested";
    case Flaw::unrecorded: return "unrecorded";
    case Flaw::impossible_log: return "impossible_log";
    case Flaw::unfinished: return "unfinished";
    case Flaw::out_of_order: return "out_of_order";
    case Flaw::wrongly_superseded: return "wrongly_superseded";
  }
  return "";
}

std::string describe(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += std::string(name_of(finding.flaw)) + ": event " + std::to_string(finding.event) + ": " +
            finding.text + "\n";
  }
  return text;
}

}  // namespace eventq
