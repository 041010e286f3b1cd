// views_whole.cc: complete answers, to compare two engines.
#include <utility>
#include <variant>
#include <vector>

#include "against_model/view_lines.h"
#include "against_model/views.h"
#include "model/names.h"
#include "store/row_text.h"
#include "support/describe.h"

namespace eventq {
namespace {

using namespace view;

std::string describe_error(const Error& error) {
  return "error " + eventq::describe(error.code) + " field=" + error.field + " " + error.message +
         " retry_after=" + text_of(error.retry_after.count());
}

std::string describe(const Changed& changed) {
  return eventq::describe(changed.entry) + " -> " + std::string(eventq::name_of(changed.status)) +
         " max_retries=" + std::to_string(changed.max_retries) +
         " lease_until=" + eventq::describe(changed.lease_until);
}

// Adds the fields that support/describe.h omits. Summaries have fewer fields.
std::string describe_whole(const Event& event) {
  std::string text = eventq::describe(event);
  JsonLines more;
  Lines(more).put_event(event);
  for (const auto& [name, value] : more) text += " " + name + "=" + value;
  return text + " attributes=" + event.attributes;
}

std::string describe(const QueueRow& row) {
  return row.id + " " + config_to_text(row.config) + " " + std::string(eventq::name_of(row.status)) +
         " by=" + row.status_by + " reason=" + row.status_reason +
         " at=" + (row.status_at ? text_of(*row.status_at) : "never") + " " + text_of(row.created_at) + " " +
         text_of(row.updated_at);
}

std::string describe(const Totals& it) {
  std::string text;
  for (const std::int64_t number :
       {it.published, it.deduplicated, it.claimed, it.completed, it.failed, it.failed_for_good, it.retried,
        it.abandoned, it.superseded, it.cancelled, it.run_ms, it.runs}) {
    text += " " + text_of(number);
  }
  return text;
}

std::string describe(const std::vector<EventId>& ids) {
  std::string text;
  for (const EventId id : ids) text += " " + text_of(id);
  return text;
}

// The result of an admin command, one line per item.
class AdminView {
 public:
  explicit AdminView(JsonLines& lines) : lines_(lines) {}

  void operator()(const std::monostate&) {}
  void operator()(const QueueChanged& it) {
    Lines(lines_, "changed.").put("queue", describe(it.row) + (it.created ? " created" : ""));
    Lines(lines_, "changed.").put("depth", text_of(it.depth) + " superseded" + describe(it.superseded));
    if (it.checkpoint) Lines(lines_, "changed.").put_checkpoint(*it.checkpoint);
  }
  void operator()(const Revived& it) {
    lines_["revived"] = describe(it.matched) + " as" + describe(it.events) + (it.more ? " more" : "");
  }
  void operator()(const QueueDocument& it) { put_queue("queue", it); }
  void operator()(const std::vector<QueueDocument>& queues) {
    for (const QueueDocument& queue : queues) put_queue("queue " + queue.row.id, queue);
  }
  void operator()(const std::vector<Checkpoint>& checkpoints) {
    int i = 0;
    for (const Checkpoint& it : checkpoints) Lines(lines_, std::to_string(i++) + ".").put_checkpoint(it);
  }
  void operator()(const Recovery& it) { lines_["recovered"] = text_of(it.events_recovered) + it.status; }
  void operator()(const Correlation& it) {
    lines_["correlation"] = it.id + " " + text_of(it.total) + " " + text_of(it.pending) + " " +
                            text_of(it.completed) + " " + text_of(it.failed);
    for (std::size_t i = 0; i < it.events.size(); ++i) {
      lines_["correlation[" + std::to_string(i) + "]"] =
          eventq::describe(it.events[i]) +
          (it.events[i].sequence ? " " + text_of(*it.events[i].sequence) : "");
    }
  }
  void operator()(const std::vector<FailureGroup>& groups) {
    int i = 0;
    for (const FailureGroup& group : groups) Lines(lines_, std::to_string(i++) + ".").put_failures(group);
  }
  template <typename T>
  void operator()(const Result<T>& result) {
    if (result) {
      (*this)(*result);
    } else {
      lines_["admin"] = describe_error(result.error());
    }
  }
  template <typename T>
  void operator()(const T&) {}  // the comparison never sends these

 private:
  void put_queue(const std::string& name, const QueueDocument& queue) {
    Lines(lines_, name + ".").put_queue(queue);
    lines_[name] = describe(queue.row) + describe(queue.totals);
    int i = 0;
    for (const Details& details : queue.events) {
      const std::string where = name + "[" + std::to_string(i++) + "]";
      Lines(lines_, where + ".").put_waiting(details);
      lines_[where] = describe_whole(details.event) + " " + actions_of(details.log);
    }
  }

  JsonLines& lines_;
};

}  // namespace

JsonLines whole_view(const Answer& answer) {
  JsonLines lines;
  const auto put_each = [&](const std::string& name, const auto& items, const auto& describe_item) {
    for (std::size_t i = 0; i < items.size(); ++i)
      lines[name + "[" + std::to_string(i) + "]"] = describe_item(items[i]);
  };
  const auto describe_event = [](const Event& event) { return describe_whole(event); };
  if (answer.waited) lines["waited"] = "true";
  if (answer.backpressure) lines["backpressure"] = "on";
  std::visit(AdminView(lines), answer.admin);
  if (answer.error) lines["error"] = describe_error(*answer.error);
  if (answer.published && *answer.published) {
    const Published& published = **answer.published;
    lines["published"] = "correlation_id=" + published.correlation_id +
                         (published.existed ? " existed" : "") + (published.replayed ? " replayed" : "");
    put_each("published", published.events, describe_event);
  } else if (answer.published) {
    lines["published"] = describe_error(answer.published->error());
  }
  put_each("changed", answer.changed, [](const Result<Changed>& changed) {
    return changed ? describe(*changed) : describe_error(changed.error());
  });
  put_each("claims", answer.claims, [](const Claim& claim) {
    return describe_whole(claim.event) + " lease_until=" + describe(claim.lease_until);
  });
  if (answer.explanation && *answer.explanation) {
    const Explanation& explanation = **answer.explanation;
    lines["why"] = text_of(explanation.id) + " " + std::string(eventq::name_of(explanation.status)) + " " +
                   std::string(explanation.why.reason) + " " + explanation.why.explanation;
  } else if (answer.explanation) {
    lines["why"] = describe_error(answer.explanation->error());
  }
  if (answer.details && *answer.details) {
    lines["event"] = describe_whole((*answer.details)->event);
    put_each("log", (*answer.details)->log, [](const LogEntry& entry) { return describe(entry); });
  } else if (answer.details) {
    lines["event"] = describe_error(answer.details->error());
  }
  if (answer.page) {
    lines["page"] = std::to_string((*answer.page)->total) + ((*answer.page)->total_exact ? "" : " at least");
    put_each("page", (*answer.page)->events, [](const Event& event) { return describe(event); });
  }
  return lines;
}

}  // namespace eventq
