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
struct Life {
  const FinalEvent* final = nullptr;
  std::vector<const DeliveredEvent*> deliveries;  // by attempt
  std::vector<const ReportCall*> reports;
};

// The time in which the worker of this attempt certainly held the lease.
struct SureLease {
  SteadyTime start;
  SteadyTime end;
};

class Checker {
 public:
  Checker(const History& history, const Terms& terms) : history_(history), terms_(terms) {}

  std::vector<Finding> check() {
    gather();
    check_publications();
    for (const FinalEvent& event : history_.finals) {
      if (!sent_.contains(event.title))
        find(Flaw::unasked, event.id, "nobody published \"" + event.title + "\"");
    }
    for (const auto& [id, life] : lives_) check_life(id, life);
    for (const FinalEvent& event : history_.finals) check_superseded(event);
    check_lines();
    return std::move(findings_);
  }

 private:
  struct Sent {
    const std::string* payload = nullptr;
    std::optional<std::int64_t> told_id;
  };

  void find(Flaw flaw, std::int64_t event, std::string text) {
    findings_.push_back({flaw, event, std::move(text)});
  }

  void gather() {
    for (const FinalEvent& event : history_.finals) {
      Life& life = lives_[event.id];
      if (life.final != nullptr) find(Flaw::id_reused, event.id, "there are two of this id at the end");
      life.final = &event;
      if (!by_title_.emplace(event.title, &event).second) {
        find(Flaw::doubled, event.id, "\"" + event.title + "\" was published once and is there twice");
      }
    }
    for (const DeliveredEvent& delivery : history_.deliveries)
      lives_[delivery.id].deliveries.push_back(&delivery);
    for (const ReportCall& report : history_.reports) lives_[report.id].reports.push_back(&report);
    for (auto& [id, life] : lives_) {
      std::stable_sort(life.deliveries.begin(), life.deliveries.end(),
                       [](const auto* a, const auto* b) { return a->attempt < b->attempt; });
    }
  }

  // Publications.

  void check_publications() {
    std::map<std::int64_t, std::string> title_of;
    for (const PublishCall& call : history_.publishes) {
      for (std::size_t i = 0; i < call.sent.size(); ++i) {
        const std::string& title = call.sent[i].title;
        if (call.told != Heard::refused) sent_[title].payload = &call.sent[i].payload;
        if (call.told != Heard::ok) continue;
        const std::int64_t id = call.ids.at(i);
        Sent& sent = sent_[title];
        if (sent.told_id.value_or(id) != id) find(Flaw::doubled, id, "\"" + title + "\" was given two ids");
        sent.told_id = id;
        if (title_of.emplace(id, title).first->second != title) {
          find(Flaw::id_reused, id, "was given to \"" + title + "\" and to another one");
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
    if (first == by_title_.end()) return;  // check() then finds the on_complete event unasked
    sent_[call.on_complete->title].payload = &call.on_complete->payload;
    const bool ended = std::all_of(call.sent.begin(), call.sent.end(), [&](const PublishCall::Sent& sent) {
      const auto found = by_title_.find(sent.title);
      return found == by_title_.end() || has_ended(*found->second);
    });
    if (ended && last == by_title_.end()) {
      find(Flaw::lost, 0, "\"" + call.on_complete->title + "\" was to follow and is not there");
    }
    if (!ended && last != by_title_.end())
      find(Flaw::unasked, last->second->id, "came before the others ended");
  }

  void check_published(const PublishCall::Sent& sent, std::int64_t id) {
    const auto found = lives_.find(id);
    const FinalEvent* final = found == lives_.end() ? nullptr : found->second.final;
    if (final == nullptr || final->title != sent.title) {
      find(Flaw::lost, id, "\"" + sent.title + "\" was acknowledged and is not there");
    } else if (final->payload != sent.payload) {
      find(Flaw::payload_changed, id, "sent " + sent.payload + ", kept " + final->payload);
    }
  }

  void check_whole(const PublishCall& call) {
    const auto present = std::count_if(call.sent.begin(), call.sent.end(),
                                       [&](const auto& sent) { return by_title_.contains(sent.title); });
    if (call.told == Heard::ok || present == 0 || present == static_cast<std::ptrdiff_t>(call.sent.size()))
      return;
    find(Flaw::torn_batch, 0,
         std::to_string(present) + " of " + std::to_string(call.sent.size()) +
             " events of a batch are there, with \"" + call.sent.front().title + "\"");
  }

  // One event.

  void check_life(std::int64_t id, const Life& life) {
    check_deliveries(id, life);
    check_leases(id, life);
    check_ends(id, life);
    if (life.final == nullptr) {
      // check_publications() has already found a lost publication; this finds one that was delivered.
      if (!life.deliveries.empty()) find(Flaw::lost, id, "was given to a worker and is not there");
      return;
    }
    check_entries(id, life);
    check_log(*life.final);
    if (!has_ended(*life.final)) find(Flaw::unfinished, id, "is " + life.final->status);
  }

  void check_deliveries(std::int64_t id, const Life& life) {
    const DeliveredEvent* before = nullptr;
    for (const DeliveredEvent* delivery : life.deliveries) {
      const auto sent = sent_.find(delivery->title);
      if (sent == sent_.end()) {
        find(Flaw::unasked, id, "\"" + delivery->title + "\" was delivered and never published");
      } else if (delivery->payload != *sent->second.payload) {
        find(Flaw::payload_changed, id, "sent " + *sent->second.payload + ", delivered " + delivery->payload);
      }
      if (before != nullptr && before->attempt == delivery->attempt) {
        find(Flaw::doubled, id, "attempt " + std::to_string(delivery->attempt) + " was given out twice");
      } else if (before != nullptr && delivery->returned < before->invoked) {
        find(Flaw::attempt_back, id,
             "attempt " + std::to_string(before->attempt) + " was given out after attempt " +
                 std::to_string(delivery->attempt));
      }
      before = delivery;
    }
  }

  // Starts with the claim's answer. Ends one lease after the claim, the first start or a heartbeat was sent,
  // or when a report was sent that may have ended the attempt.
  SureLease sure_lease(const Life& life, const DeliveredEvent& delivery) const {
    const auto lease = terms_.lease - terms_.slack;
    SureLease sure{delivery.returned, delivery.invoked + lease};
    SteadyTime given_away = SteadyTime::max();
    const ReportCall* first_start = nullptr;
    for (const ReportCall* report : life.reports) {
      if (report->attempt != delivery.attempt || report->worker_id != delivery.worker_id) continue;
      const bool ends = report->kind == Kind::complete || report->kind == Kind::fail;
      if (ends && report->told != Heard::refused) given_away = std::min(given_away, report->invoked);
      if (report->kind == Kind::heartbeat && report->told == Heard::ok) {
        sure.end = std::max(sure.end, report->invoked + lease);
      }
      const bool earlier = first_start == nullptr || report->invoked < first_start->invoked;
      if (report->kind == Kind::start && earlier) first_start = report;
    }
    // A repeated start does not extend the lease, so only the first one counts.
    if (first_start != nullptr && first_start->told == Heard::ok) {
      sure.end = std::max(sure.end, first_start->invoked + lease);
    }
    sure.end = std::min(sure.end, given_away);
    return sure;
  }

  void check_leases(std::int64_t id, const Life& life) {
    for (std::size_t i = 1; i < life.deliveries.size(); ++i) {
      const DeliveredEvent& first = *life.deliveries[i - 1];
      const DeliveredEvent& second = *life.deliveries[i];
      const SureLease a = sure_lease(life, first);
      const SureLease b = sure_lease(life, second);
      if (a.start < b.end && b.start < a.end) {
        const auto by = std::chrono::duration_cast<std::chrono::microseconds>(a.end - b.start);
        find(Flaw::overlapping_leases, id,
             "attempt " + std::to_string(second.attempt) + " by " + second.worker_id + " began " +
                 std::to_string(by.count()) + " us before the lease of attempt " +
                 std::to_string(first.attempt) + " by " + first.worker_id + " was over");
      }
    }
  }

  // No attempt and no report may succeed after the end of an event was acknowledged.
  void check_ends(std::int64_t id, const Life& life) {
    const ReportCall* end = nullptr;
    for (const ReportCall* report : life.reports) {
      if (report->told != Heard::ok || !report->ended) continue;
      if (end != nullptr && key_of(*end) != key_of(*report)) {
        find(Flaw::doubled, id, "ended by " + text_of(key_of(*end)) + " and by " + text_of(key_of(*report)));
      }
      if (end == nullptr || report->returned < end->returned) end = report;
    }
    if (end == nullptr) return;
    for (const DeliveredEvent* delivery : life.deliveries) {
      if (delivery->invoked > end->returned || delivery->attempt > end->attempt) {
        find(Flaw::resurrected, id,
             "attempt " + std::to_string(delivery->attempt) + " was given to " + delivery->worker_id +
                 " although " + text_of(key_of(*end)) + " was acknowledged");
      }
    }
  }

  // Relations between events.

  void check_superseded(const FinalEvent& event) {
    if (event.superseded_by == 0) return;
    const auto found = lives_.find(event.superseded_by);
    const FinalEvent* newer = found == lives_.end() ? nullptr : found->second.final;
    const bool fits = newer != nullptr && newer->id > event.id && newer->queue == event.queue &&
                      newer->supersede_key == event.supersede_key && !event.supersede_key.empty();
    if (event.status != "SUPERSEDED" || !fits) {
      find(Flaw::wrongly_superseded, event.id,
           "is " + event.status + " and superseded by " + std::to_string(event.superseded_by));
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
        find(Flaw::out_of_order, event->id,
             "was claimed before event " + std::to_string(last_end->id) + " ended");
      }
      if (last_end == nullptr || end_of(*event) > end_of(*last_end)) last_end = event;
      const auto& deliveries = lives_.at(event->id).deliveries;
      if (deliveries.empty()) continue;
      if (last_delivery != nullptr && last_delivery->invoked > deliveries.front()->returned) {
        find(Flaw::out_of_order, event->id,
             "was given to a worker before event " + std::to_string(last_delivery->id) + " was");
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

  void check_entries(std::int64_t id, const Life& life) {
    std::map<ReportKey, int> entries;
    for (const LogStep& step : life.final->log) ++entries[key_of(step)];
    for (const auto& [key, count] : entries) {
      if (count > 1)
        find(Flaw::doubled, id, text_of(key) + " is in the log " + std::to_string(count) + " times");
    }
    const auto expect = [&](const ReportKey& key) {
      if (!entries.contains(key))
        find(Flaw::unrecorded, id, text_of(key) + " was acknowledged and is not in the log");
    };
    std::set<ReportKey> asked;
    for (const ReportCall* report : life.reports) {
      if (report->kind == Kind::heartbeat) continue;
      if (report->told != Heard::refused) asked.insert(key_of(*report));
      if (report->told == Heard::ok) expect(key_of(*report));
    }
    for (const DeliveredEvent* delivery : life.deliveries)
      expect({delivery->worker_id, delivery->attempt, "PICKED"});
    for (const LogStep& step : life.final->log) {
      const bool reported =
          !step.worker_id.empty() &&
          (step.action == "STARTED" || step.action == "COMPLETED" || step.action == "FAILED");
      if (reported && !asked.contains(key_of(step))) {
        find(Flaw::unasked, id, text_of(key_of(step)) + " is in the log, and nobody reported it");
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
        return find(Flaw::attempt_gap, event.id,
                    "attempt " + std::to_string(step.attempt) + " is number " + std::to_string(picked) +
                        " in the log");
      }
      if (++in_a_row > terms_.max_attempts || failed >= terms_.max_retries) {
        return find(
            Flaw::too_many_deliveries, event.id,
            std::to_string(in_a_row) + " claims in a row after " + std::to_string(failed) + " failures");
      }
    }
    Walk walk = walk_log(event.log, {terms_.max_retries, terms_.max_attempts});
    if (walk.fault) return find(Flaw::impossible_log, event.id, *walk.fault);
    const WalkEnd actual{event.status, event.attempts, event.retry_count, walk.end.unreported,
                         event.worker_id};
    if (actual != walk.end) {
      find(Flaw::impossible_log, event.id, "is " + describe(actual) + ", its log says " + describe(walk.end));
    }
  }

  const History& history_;
  const Terms& terms_;
  std::map<std::string, Sent> sent_;  // by title
  std::map<std::string, const FinalEvent*> by_title_;
  std::map<std::int64_t, Life> lives_;
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

std::vector<Finding> check(const History& history, const Terms& terms) {
  return Checker(history, terms).check();
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
    case Flaw::unasked: return "unasked";
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
