// views.cc: see views.h.
#include "against_model/views.h"

#include <vector>

#include "base/time_text.h"
#include "eventq/limits.h"
#include "model/names.h"
#include "support/describe.h"

namespace eventq {
namespace {

using Kind = Operation::Kind;

constexpr std::string_view kMadePrefixes[] = {"evt_", "corr_"};
constexpr std::size_t kUuidChars = 36;

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(EventId id) { return text_of(static_cast<std::int64_t>(id)); }
std::string text_of(TimePoint time) {
  std::string text;
  append_iso_time(text, time);
  return quoted(text);
}
template <typename T>
std::string or_null(const std::optional<T>& value) {
  return value ? text_of(*value) : "null";
}
std::string quoted_or_null(const std::string& text) { return text.empty() ? "null" : quoted(text); }

std::string joined(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ",") + tag;
  return text;
}

std::optional<TimePoint> retry_time(const Event& event) {
  const bool waits = event.status == Status::pending && event.retry_count > 0;
  return waits ? std::optional(event.due_at) : std::nullopt;
}

// Builds the lines of an object at `where`.
class Lines {
 public:
  explicit Lines(JsonLines& lines, std::string where = "") : lines_(lines), where_(std::move(where)) {}

  void put(const std::string& name, std::string value) { lines_[where_ + name] = std::move(value); }

  void put_summary(const Event& event) {
    put("id", text_of(event.id));
    put("title", quoted(event.title));
    put("status", quoted(name_of(event.status)));
    put("tags", quoted(joined(event.tags)));
    put("retry_count", text_of(event.retry_count));
    put("created_at", text_of(event.created_at));
    put("updated_at", text_of(event.updated_at));
    put("event_id", quoted(event.event_id));
    put("queue", quoted(event.queue));
    put("priority", text_of(event.priority));
    put("attempts", text_of(event.attempts));
    put("worker_id", quoted_or_null(event.worker_id));
    put("correlation_id", quoted_or_null(event.correlation_id));
  }

  void put_event(const Event& event) {
    put_summary(event);
    put("description", event.description ? quoted(*event.description) : "null");
    put("payload", event.payload);
    put("max_retries", text_of(event.max_retries));
    put("next_retry_at", or_null(retry_time(event)));
  }

  void put_claim(const Claim& claim) {
    put_event(claim.event);
    put("attempt", text_of(claim.event.attempts));
    put("lease_until", text_of(claim.lease_until));
  }

  // What log entries and the answers to reports have in common.
  void put_entry(const LogEntry& entry) {
    put("event_id", text_of(entry.event_id));
    put("worker_id", quoted_or_null(entry.worker_id));
    put("action", quoted(name_of(entry.action)));
    put("attempt", text_of(entry.attempt));
    put("created_at", text_of(entry.created_at));
    if (entry.status_code) put("status_code", text_of(*entry.status_code));
    if (entry.error_message) put("error_message", quoted(*entry.error_message));
    if (entry.execution_time_ms) put("execution_time_ms", text_of(*entry.execution_time_ms));
    for (std::size_t i = 0; i < entry.errors.size(); ++i) {
      put("errors[" + std::to_string(i) + "]", quoted(entry.errors[i]));
    }
    if (!entry.reason.empty()) put("reason", quoted(entry.reason));
  }

  void put_log_entry(const LogEntry& entry) {
    put_entry(entry);
    put("id", text_of(static_cast<std::int64_t>(entry.id)));
    if (entry.next_retry_at) put("next_retry_at", text_of(*entry.next_retry_at));
  }

  void put_report(const Changed& changed) {
    put_entry(changed.entry);
    if (changed.entry.action != Action::failed) return;
    put("retry_scheduled", changed.entry.next_retry_at ? "true" : "false");
    put("next_retry_at", or_null(changed.entry.next_retry_at));
    put("retry_count", text_of(changed.entry.retry_count));
    put("max_retries", text_of(changed.max_retries));
  }

 private:
  JsonLines& lines_;
  const std::string where_;
};

struct ErrorName {
  int status;
  std::string_view type;
  std::string_view title;
};

// Only those that a valid operation can meet on a healthy store.
ErrorName name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found: return {404, "not-found", "Not found"};
    case ErrorCode::conflict: return {409, "conflict", "Conflict"};
    case ErrorCode::lease_lost: return {409, "lease-lost", "Lease lost"};
    default: return {500, "unexpected", "Unexpected"};
  }
}

int put_error(Lines& lines, const Error& error) {
  const ErrorName name = name_of(error.code);
  lines.put("error", quoted(error.message));
  lines.put("detail", quoted(error.message));
  lines.put("status", text_of(name.status));
  lines.put("type", quoted("urn:eventq:problem:" + std::string(name.type)));
  lines.put("title", quoted(name.title));
  if (!error.field.empty()) lines.put("field", quoted(error.field));
  return name.status;
}

bool is_last_failure(const Changed& changed) {
  return changed.entry.action == Action::failed && !changed.entry.next_retry_at;
}

int put_last_failure(Lines& lines, const Changed& changed) {
  const std::string id = text_of(changed.entry.event_id);
  lines.put("error", quoted("Max retries exceeded"));
  lines.put("title", quoted("Max retries exceeded"));
  lines.put("retry_count", text_of(changed.entry.retry_count));
  lines.put("max_retries", text_of(changed.max_retries));
  lines.put("status", "400");
  lines.put("type", quoted("urn:eventq:problem:max-retries-exceeded"));
  lines.put("detail", quoted("The failure was recorded and is the last: event " + id +
                             " stays FAILED. POST /events/" + id + "/reset makes it pending again."));
  return 400;
}

// One caller's answer on its way to a response.
class ClientView {
 public:
  ClientView(const Operation& operation, const Answer& answer, std::string_view request_id)
      : operation_(operation), answer_(answer), request_id_(request_id) {}

  JsonLines lines() {
    put("(X-Request-Id)", std::string(request_id_));
    put("(status)", text_of(body()));
    return std::move(lines_);
  }

 private:
  void put(const std::string& name, std::string value) { lines_[name] = std::move(value); }
  Lines at(const std::string& where = "") { return Lines(lines_, where); }

  int refuse(const Error& error) {
    Lines root = at();
    put("request_id", quoted(request_id_));
    return put_error(root, error);
  }

  int body() {
    if (answer_.error) return refuse(*answer_.error);
    switch (operation_.kind) {
      case Kind::publish:
      case Kind::publish_batch: return published();
      case Kind::subscribe:
      case Kind::subscribe_many: return claimed();
      case Kind::turn: return turned();
      case Kind::report:
      case Kind::intervene: return reported(answer_.changed.at(0), operation_.command.changes.at(0));
      case Kind::report_many: return results();
      case Kind::why: return explained();
      case Kind::get: return details();
      case Kind::list: return page();
    }
    return 0;
  }

  int published() {
    if (!*answer_.published) return refuse(answer_.published->error());
    const Published& published = **answer_.published;
    if (published.replayed) put("(Idempotency-Replayed)", "true");
    if (operation_.kind == Kind::publish) {
      put("(Location)", "/events/" + text_of(published.events.at(0).id));
      at().put_event(published.events.at(0));
    } else {
      put("correlation_id", quoted_or_null(published.correlation_id));
      for (std::size_t i = 0; i < published.events.size(); ++i) {
        at("events[" + std::to_string(i) + "].").put_event(published.events[i]);
      }
    }
    return published.existed ? 200 : 201;
  }

  void put_claims() {
    if (answer_.claims.empty()) put("events", "[]");
    for (std::size_t i = 0; i < answer_.claims.size(); ++i) {
      at("events[" + std::to_string(i) + "].").put_claim(answer_.claims[i]);
    }
  }

  int claimed() {
    put("(Cache-Control)", "no-store");
    if (answer_.claims.empty()) return 204;
    if (operation_.kind == Kind::subscribe) {
      at().put_claim(answer_.claims.at(0));
    } else {
      put_claims();
    }
    return 200;
  }

  int turned() {
    put_claims();
    return results();
  }

  int results() {
    if (answer_.changed.empty()) put("results", "[]");
    for (std::size_t i = 0; i < answer_.changed.size(); ++i) {
      const Result<Changed>& changed = answer_.changed[i];
      Lines result = at("results[" + std::to_string(i) + "].");
      if (changed && !is_last_failure(*changed)) {
        result.put_report(*changed);
        result.put("status", "200");
        continue;
      }
      changed ? put_last_failure(result, *changed) : put_error(result, changed.error());
      result.put("event_id", text_of(operation_.command.changes.at(i).lease.event_id));
    }
    return 200;
  }

  int reported(const Result<Changed>& changed, const Change& change) {
    if (!changed) return refuse(changed.error());
    Lines root = at();
    if (std::holds_alternative<Heartbeat>(change.what)) {
      root.put("event_id", text_of(change.lease.event_id));
      root.put("worker_id", quoted(change.lease.worker_id));
      root.put("lease_until", text_of(changed->lease_until));
      return 200;
    }
    if (is_last_failure(*changed)) return put_last_failure(root, *changed);
    root.put_report(*changed);
    return 200;
  }

  int explained() {
    if (!*answer_.explanation) return refuse(answer_.explanation->error());
    const Explanation& explanation = **answer_.explanation;
    put("id", text_of(explanation.id));
    put("status", quoted(eventq::name_of(explanation.status)));
    put("reason", quoted(explanation.why.reason));
    put("explanation", quoted(explanation.why.explanation));
    return 200;
  }

  int details() {
    if (!*answer_.details) return refuse(answer_.details->error());
    const Details& details = **answer_.details;
    at().put_event(details.event);
    if (!operation_.command.get->with_log) return 200;
    if (details.log.empty()) put("logs", "[]");
    for (std::size_t i = 0; i < details.log.size(); ++i) {
      at("logs[" + std::to_string(i) + "].").put_log_entry(details.log[i]);
    }
    return 200;
  }

  int page() {
    const Page& page = **answer_.page;
    if (page.events.empty()) put("events", "[]");
    for (std::size_t i = 0; i < page.events.size(); ++i) {
      Lines event = at("events[" + std::to_string(i) + "].");
      event.put_summary(page.events[i]);
      if (const auto retry = retry_time(page.events[i])) event.put("next_retry_at", text_of(*retry));
    }
    put("total", text_of(page.total));
    put("total_exact", page.total_exact ? "true" : "false");
    put("limit", text_of(static_cast<std::int64_t>(operation_.command.list->limit)));
    put("offset", text_of(operation_.command.list->offset));
    return 200;
  }

  const Operation& operation_;
  const Answer& answer_;
  const std::string_view request_id_;
  JsonLines lines_;
};

std::string describe_error(const Error& error) {
  return "error " + describe(error.code) + " field=" + error.field + " " + error.message;
}

std::string describe(const Changed& changed) {
  return eventq::describe(changed.entry) + " -> " + std::string(eventq::name_of(changed.status)) +
         " max_retries=" + std::to_string(changed.max_retries) +
         " lease_until=" + eventq::describe(changed.lease_until);
}

// Where a made id stands in `text`, from `start` on.
struct Found {
  std::size_t place = std::string::npos;
  std::size_t size = 0;
};
Found find_made_id(const std::string& text, std::size_t start) {
  Found first;
  for (const std::string_view prefix : kMadePrefixes) {
    const std::size_t place = text.find(prefix, start);
    if (place < first.place && text.size() - place >= prefix.size() + kUuidChars) {
      first = {place, prefix.size() + kUuidChars};
    }
  }
  return first;
}

std::string unquoted(const JsonLines& lines, const std::string& where) {
  const auto found = lines.find(where);
  if (found == lines.end() || found->second.size() < 2) return "";
  return found->second.substr(1, found->second.size() - 2);
}

}  // namespace

JsonLines whole_view(const Answer& answer) {
  JsonLines lines;
  const auto put_each = [&](const std::string& name, const auto& items, const auto& describe_item) {
    for (std::size_t i = 0; i < items.size(); ++i)
      lines[name + "[" + std::to_string(i) + "]"] = describe_item(items[i]);
  };
  const auto describe_event = [](const Event& event) { return describe(event); };
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
    return describe(claim.event) + " lease_until=" + describe(claim.lease_until);
  });
  if (answer.explanation && *answer.explanation) {
    const Explanation& explanation = **answer.explanation;
    lines["why"] = text_of(explanation.id) + " " + std::string(eventq::name_of(explanation.status)) + " " +
                   std::string(explanation.why.reason) + " " + explanation.why.explanation;
  } else if (answer.explanation) {
    lines["why"] = describe_error(answer.explanation->error());
  }
  if (answer.details && *answer.details) {
    lines["event"] = describe((*answer.details)->event);
    put_each("log", (*answer.details)->log, [](const LogEntry& entry) { return describe(entry); });
  } else if (answer.details) {
    lines["event"] = describe_error(answer.details->error());
  }
  if (answer.page) {
    lines["page"] = std::to_string((*answer.page)->total) + ((*answer.page)->total_exact ? "" : " at least");
    put_each("page", (*answer.page)->events, describe_event);
  }
  return lines;
}

JsonLines client_view(const Operation& operation, const Answer& answer, std::string_view request_id) {
  return ClientView(operation, answer, request_id).lines();
}

JsonLines client_view(const HttpResponse& response) {
  JsonLines lines = json_lines(response.body);
  lines["(status)"] = std::to_string(response.status);
  for (const char* name : {"Location", "Idempotency-Replayed", "Cache-Control", "X-Request-Id"}) {
    const std::string_view value = response.header(name);
    if (!value.empty()) lines["(" + std::string(name) + ")"] = value;
  }
  return lines;
}

void MadeIds::learn(std::int64_t id, const std::string& event_id, const std::string& correlation_id) {
  const auto is_made = [](const std::string& text, std::size_t prefix) {
    return text.size() == kMadePrefixes[prefix].size() + kUuidChars &&
           text.starts_with(kMadePrefixes[prefix]);
  };
  const std::string number = std::to_string(id);
  const auto call = [&](const std::string& made, std::string name) {
    if (!names_.contains(made) && given_.insert(name).second) names_.emplace(made, std::move(name));
  };
  if (is_made(event_id, 0)) call(event_id, "the event_id made for " + number);
  if (is_made(correlation_id, 1)) call(correlation_id, "the correlation_id made for " + number);
}

void MadeIds::learn(const Answer& answer) {
  if (!answer.published || !*answer.published) return;
  for (const Event& event : (*answer.published)->events) {
    learn(static_cast<std::int64_t>(event.id), event.event_id, event.correlation_id);
  }
}

void MadeIds::learn(const JsonLines& response) {
  const auto learn_at = [&](const std::string& where) {
    const auto id = response.find(where + "id");
    if (id == response.end()) return false;
    learn(std::stoll(id->second), unquoted(response, where + "event_id"),
          unquoted(response, where + "correlation_id"));
    return true;
  };
  if (learn_at("")) return;
  for (int i = 0; learn_at("events[" + std::to_string(i) + "].");) ++i;
}

JsonLines MadeIds::replaced(JsonLines lines) const {
  for (auto& [where, what] : lines) {
    for (Found found = find_made_id(what, 0); found.size > 0; found = find_made_id(what, found.place + 1)) {
      const auto name = names_.find(what.substr(found.place, found.size));
      what.replace(found.place, found.size, name == names_.end() ? "an id never told" : name->second);
    }
  }
  return lines;
}

}  // namespace eventq
