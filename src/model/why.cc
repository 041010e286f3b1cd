// why.cc: see why.h.
#include "model/why.h"

#include "base/time_text.h"
#include "model/lifecycle.h"
#include "model/names.h"
#include "model/tags.h"

namespace eventq {
namespace {

// "59s", not "59s989ms": milliseconds do not help a person who reads a wait of seconds.
std::string about(Millis duration) {
  if (duration < std::chrono::seconds(1)) return format_duration(duration);
  return format_duration(std::chrono::floor<std::chrono::seconds>(duration));
}

std::string said(const std::optional<LogEntry>& entry) {
  if (!entry) return {};
  if (entry->error_message) return " It said: " + *entry->error_message;
  if (!entry->reason.empty()) return " Reason: " + entry->reason;
  return {};
}

Why explain_behind(const Event& event, const WhyContext::LineHead& head) {
  const std::string name =
      "event " + id_text(head.id) + " with the same ordering_key \"" + event.ordering_key + "\"";
  if (head.status == Status::failed) {
    return {"line_blocked",
            "It waits behind " + name + ", which failed for good. Reset or cancel that one, and it may run."};
  }
  return {"behind_in_line", "It waits behind " + name + ", which is " + std::string(name_of(head.status)) +
                                "; one at a time is delivered, in the order of publishing."};
}

Why explain_waiting(const Event& event, const WhyContext& context, TimePoint now) {
  if (event.retry_count == 0) {
    std::string time;
    append_iso_time(time, event.due_at);
    return {"waiting_for_time", "It is to run at " + time + ", in " + about(event.due_at - now) + "."};
  }
  return {"waiting_for_retry", "Failure " + std::to_string(event.retry_count) + " of " +
                                   std::to_string(event.max_retries) + " was reported; it may run again in " +
                                   about(event.due_at - now) + "." + said(context.last_entry)};
}

Why explain_ready(const Event& event, const Demand& demand, TimePoint now) {
  const std::string tags = "\"" + join_tags(event.tags) + "\" of queue " + event.queue;
  if (demand.waiting == 0 && !demand.last_poll) {
    return {"nobody_subscribes",
            "It is ready, but no worker has asked for any of its tags " + tags + " lately."};
  }
  if (demand.last_poll && demand.waiting == 0) {
    return {"waiting_for_worker", "It is ready. A worker last asked for one of its tags " + tags + " " +
                                      about(now - *demand.last_poll) +
                                      " ago; the next one to ask gets it, after those of higher priority or "
                                      "published before."};
  }
  return {"waiting_for_worker", "It is ready and workers wait for its tags " + tags + "; it is next."};
}

Why explain_pending(const Event& event, const WhyContext& context, TimePoint now) {
  if (context.line_head) return explain_behind(event, *context.line_head);
  if (!is_due(event, now)) return explain_waiting(event, context, now);
  if (context.paused) {
    return {"queue_paused", "It is ready, but queue " + event.queue + " is paused" +
                                (context.pause_reason.empty() ? "." : " (" + context.pause_reason + ").") +
                                " A resume of the queue lets it run."};
  }
  Why why = explain_ready(event, context.demand, now);
  if (!context.demo_leaves_to.empty()) {
    why.explanation += " The demo worker of `eventq dev` leaves it to worker " + context.demo_leaves_to +
                       ", which asks for its tags.";
  }
  return why;
}

std::string name_of_worker(const Event& event) {
  return event.worker_id == kDemoWorker ? "the demo worker of `eventq dev`" : event.worker_id;
}

Why explain_processing(const Event& event, TimePoint now) {
  const std::string who = "attempt " + std::to_string(event.attempts) + " by " + name_of_worker(event);
  if (event.due_at <= now) {
    return {"abandoned", "The lease of " + who + " ended " + about(now - event.due_at) +
                             " ago without a report; the next worker to ask for its tags gets it."};
  }
  return {"working", "It is being worked on: " + who + ", whose last sign of life was " +
                         about(now - event.updated_at) + " ago; the lease ends in " +
                         about(event.due_at - now) + "."};
}

}  // namespace

Why explain(const Event& event, const WhyContext& context, TimePoint now) {
  switch (event.status) {
    case Status::pending: return explain_pending(event, context, now);
    case Status::processing: return explain_processing(event, now);
    case Status::completed: return {"completed", "It was completed by " + name_of_worker(event) + "."};
    case Status::completed_with_errors:
      return {"completed_with_errors", "It was completed by " + event.worker_id + ", which reported errors."};
    case Status::failed:
      return {"failed", "It failed for good: attempts made " + std::to_string(event.attempts) +
                            ", failures reported " + std::to_string(event.retry_count) +
                            ". A retry makes it pending again." + said(context.last_entry)};
    case Status::superseded:
      return {"superseded", (event.superseded_by ? "A newer event superseded it." : "It was superseded.") +
                                said(context.last_entry)};
    case Status::cancelled: return {"cancelled", "It was cancelled." + said(context.last_entry)};
  }
  return {"unknown", "Its status is unknown."};
}

}  // namespace eventq
