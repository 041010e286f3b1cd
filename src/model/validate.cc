// validate.cc: see validate.h.
#include "model/validate.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/range.h"
#include "base/utf8.h"
#include "eventq/limits.h"
#include "model/event_context.h"
#include "model/policy.h"
#include "model/tags.h"

namespace eventq {
namespace {

using Fault = std::optional<Error>;

Error invalid(std::string_view field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::string(field)};
}

Error too_large(std::string_view field, std::size_t size, std::size_t limit, std::string_view unit) {
  return {ErrorCode::too_large,
          std::string(field) + " has " + std::to_string(size) + " " + std::string(unit) + "; at most " +
              std::to_string(limit) + " are allowed.",
          std::string(field)};
}

// Text that is only stored and displayed: any UTF-8 without NUL, which PostgreSQL cannot store.
Fault bad_text(std::string_view field, std::string_view text, std::size_t limit) {
  if (text.size() > limit) return too_large(field, text.size(), limit, "bytes");
  if (!valid_utf8(text)) return invalid(field, std::string(field) + " is not valid UTF-8.");
  if (text.find('\0') != std::string_view::npos) {
    return invalid(field, std::string(field) + " holds the character U+0000, which is not allowed.");
  }
  return std::nullopt;
}

// An identifier: 1 to `limit` characters of visible ASCII.
Fault bad_identifier(std::string_view field, std::string_view text, std::size_t limit) {
  if (text.empty()) return invalid(field, std::string(field) + " is empty.");
  if (text.size() > limit) {
    return invalid(field, std::string(field) + " has " + std::to_string(text.size()) +
                              " characters; at most " + std::to_string(limit) + " are allowed.");
  }
  const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!visible) return invalid(field, std::string(field) + " must be visible ASCII without spaces.");
  return std::nullopt;
}

Fault bad_title(std::string_view title) {
  // Characters are counted only in valid UTF-8 of a bounded size; a character has at most 4 bytes.
  Fault text = bad_text("title", title, limits::kTitleChars * 4);
  if (text && text->code != ErrorCode::too_large) return text;
  const std::size_t chars = utf8_chars(title);
  if (chars == 0) return invalid("title", "title is missing or empty; it needs 1 to 200 characters.");
  if (text || chars > limits::kTitleChars) {
    return invalid("title", "title has " + std::to_string(chars) + " characters; at most 200 are allowed.");
  }
  return std::nullopt;
}

// A key or a name: any text on one line.
Fault bad_line(std::string_view field, std::string_view text, std::size_t limit) {
  if (Fault fault = bad_text(field, text, limit)) return fault;
  if (has_control(text)) return invalid(field, std::string(field) + " holds a control character.");
  return std::nullopt;
}

Fault bad_envelope(const NewEvent& event) {
  const Fault faults[] = {
      bad_line("pattern", event.pattern, limits::kPattern),
      bad_line("version", event.version, limits::kVersion),
      bad_line("source.type", event.source.type, limits::kSource),
      bad_line("source.id", event.source.id, limits::kSource),
      bad_line("source.name", event.source.name, limits::kSource),
      bad_line("ordering_key", event.ordering_key, limits::kKey),
      bad_line("supersede_key", event.supersede_key, limits::kKey),
      bad_text("attributes", event.attributes, limits::kAttributes),
      event.correlation_id.empty() ? std::nullopt : validate_correlation_id(event.correlation_id),
      event.causation_id.empty()
          ? std::nullopt
          : bad_identifier("causation_id", event.causation_id, limits::kCausationIdChars),
      event.trace_id.empty() ? std::nullopt
                             : bad_identifier("trace_id", event.trace_id, limits::kTraceIdChars),
  };
  for (const Fault& fault : faults) {
    if (fault) return fault;
  }
  return std::nullopt;
}

Fault bad_context(const NewEvent& event) {
  if (event.traceparent.empty() && event.tracestate.empty() && event.published_by.empty())
    return std::nullopt;
  if (!event.traceparent.empty()) {
    if (Fault fault = bad_text("traceparent", event.traceparent, limits::kTraceparent)) return fault;
    if (trace_id_of(event.traceparent).empty()) {
      return invalid("traceparent",
                     "traceparent must be that of W3C Trace Context, such as "
                     "\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\".");
    }
  }
  if (!event.tracestate.empty() && event.traceparent.empty()) {
    return invalid("tracestate", "tracestate needs a traceparent; send both or none.");
  }
  if (Fault fault = bad_line("tracestate", event.tracestate, limits::kTracestate)) return fault;
  return bad_line("published_by", event.published_by, limits::kBy);
}

Fault bad_delay(Millis delay) {
  return out_of_range("delay", delay.count(), 0, Millis(limits::kDelay).count());
}

// When the event runs, and when it is retried.
Fault bad_times(const NewEvent& event) {
  if (Fault fault = bad_delay(event.delay)) return fault;
  if (event.delay.count() > 0 && event.run_at) {
    return invalid("delay", "delay and run_at both say when the event may run; send one of them.");
  }
  return event.retry ? validate(*event.retry, "retry.") : std::nullopt;
}

Fault bad_result(const std::optional<int>& status_code,
                 const std::optional<std::int64_t>& execution_time_ms) {
  if (Fault fault = out_of_range("status_code", status_code, 0, limits::kStatusCode)) return fault;
  return out_of_range("execution_time_ms", execution_time_ms, 0, limits::kExecutionTimeMs);
}

Fault bad_outcome(const Outcome& outcome) {
  if (Fault fault = bad_result(outcome.status_code, outcome.execution_time_ms)) return fault;
  if (outcome.errors.size() > limits::kErrors) {
    return too_large("errors", outcome.errors.size(), limits::kErrors, "entries");
  }
  for (const std::string& error : outcome.errors) {
    if (error.empty()) return invalid("errors", "errors holds an empty string; say what went wrong.");
    if (Fault fault = bad_text("errors", error, limits::kErrorMessage)) return fault;
  }
  if (outcome.result.size() > limits::kResult) {
    return too_large("result", outcome.result.size(), limits::kResult, "bytes");
  }
  return std::nullopt;
}

Fault bad_failure(const Failure& failure) {
  if (Fault fault = bad_result(failure.status_code, failure.execution_time_ms)) return fault;
  if (Fault fault = bad_text("error_message", failure.message, limits::kErrorMessage)) return fault;
  return bad_text("error_detail", failure.detail, limits::kErrorDetail);
}

Fault bad_actor(std::string_view by, std::string_view reason) {
  if (Fault fault = bad_line("by", by, limits::kBy)) return fault;
  return validate_reason(reason);
}

}  // namespace

std::optional<Error> validate_worker_id(std::string_view worker_id) {
  if (worker_id.empty()) {
    return invalid("worker_id",
                   "worker_id is missing or empty; send {hostname}:{pid}, such as worker-02:8742.");
  }
  return bad_identifier("worker_id", worker_id, limits::kWorkerIdChars);
}

std::optional<Error> validate_queue_name(std::string_view name) {
  if (!name.empty() && !is_name(name)) {
    return invalid("queue",
                   "queue has a character that is not allowed; use only A-Z a-z 0-9 . _ : / @ and -.");
  }
  return bad_identifier("queue", name, limits::kQueueNameChars);
}

std::optional<Error> validate_claimed_queue(std::string_view name) {
  if (Fault fault = validate_queue_name(name)) return fault;
  if (!name.starts_with(kOwnedQueuePrefix)) return std::nullopt;
  return Error{ErrorCode::conflict,
               "Queue \"" + std::string(name) +
                   "\" belongs to a notebook, as every queue whose name begins with \"" +
                   std::string(kOwnedQueuePrefix) +
                   "\". Only the notebook's own worker takes its events; use a queue with another name.",
               "queue"};
}

std::optional<Error> validate_event_id(std::string_view event_id) {
  return bad_identifier("event_id", event_id, limits::kEventIdChars);
}

std::optional<Error> validate_correlation_id(std::string_view id) {
  return bad_identifier("correlation_id", id, limits::kCorrelationIdChars);
}

std::optional<Error> validate_idempotency_key(std::string_view key) {
  return bad_identifier("Idempotency-Key", key, limits::kIdempotencyKeyChars);
}

std::optional<Error> validate(NewEvent& event) {
  if (Fault fault = bad_title(event.title)) return fault;
  if (event.description) {
    if (Fault fault = bad_text("description", *event.description, limits::kDescription)) return fault;
  }
  auto tags = clean_tags(event.tags);
  if (!tags) return tags.error();
  event.tags = std::move(*tags);
  if (event.payload.empty()) event.payload = "null";
  if (event.payload.size() > limits::kPayload) {
    return too_large("payload", event.payload.size(), limits::kPayload, "bytes");
  }
  if (Fault fault = validate_queue_name(event.queue)) return fault;
  if (Fault fault = out_of_range("priority", event.priority, -limits::kPriority, limits::kPriority)) {
    return fault;
  }
  if (Fault fault = out_of_range("max_retries", event.max_retries, 0, limits::kMaxRetries)) return fault;
  if (Fault fault = out_of_range("max_attempts", event.max_attempts, 1, limits::kMaxAttempts)) return fault;
  if (!event.event_id.empty()) {
    if (Fault fault = validate_event_id(event.event_id)) return fault;
  }
  if (Fault fault = bad_envelope(event)) return fault;
  if (Fault fault = bad_context(event)) return fault;
  return bad_times(event);
}

std::optional<Error> validate(const RetryPolicy& retry, std::string_view where) {
  const std::string prefix(where);
  const std::int64_t year = Millis(std::chrono::hours(24 * 365)).count();
  if (Fault fault = out_of_range(prefix + "baseMs", retry.base.count(), 0, year)) return fault;
  if (Fault fault = out_of_range(prefix + "capMs", retry.cap.count(), 0, year)) return fault;
  return fraction_out_of_range(prefix + "jitter", retry.jitter, 0, 1);
}

std::optional<Error> validate_key(std::string_view field, std::string_view key) {
  if (key.empty()) return invalid(field, std::string(field) + " is missing or empty.");
  return bad_line(field, key, limits::kKey);
}

std::optional<Error> validate_reason(std::string_view reason) {
  if (Fault text = bad_text("reason", reason, reason.size())) return text;
  if (const std::size_t chars = utf8_chars(reason); chars > limits::kReasonChars) {
    return too_large("reason", chars, limits::kReasonChars, "characters");
  }
  if (has_control(reason)) return invalid("reason", "reason holds a control character.");
  return std::nullopt;
}

std::optional<Error> validate(const Actor& actor) { return bad_actor(actor.by, actor.reason); }

std::optional<Error> validate(const Change& change) {
  if (const auto* it = std::get_if<Reset>(&change.what)) return bad_actor(it->author, it->reason);
  if (const auto* it = std::get_if<Cancel>(&change.what)) return bad_actor(it->author, it->reason);
  if (const auto* it = std::get_if<Supersede>(&change.what)) return bad_actor(it->author, it->reason);
  if (Fault fault = validate_worker_id(change.lease.worker_id)) return fault;
  if (Fault fault = out_of_range("attempt", change.lease.attempt, 1, INT32_MAX)) return fault;
  if (const auto* it = std::get_if<Complete>(&change.what)) return bad_outcome(it->outcome);
  if (const auto* it = std::get_if<Fail>(&change.what)) return bad_failure(it->failure);
  if (const auto* it = std::get_if<Release>(&change.what)) {
    if (Fault fault = bad_delay(it->delay)) return fault;
    return validate_reason(it->reason);
  }
  return std::nullopt;
}

std::optional<Error> validate(const Options& options) {
  constexpr std::chrono::hours kOptionMax{24 * 365};
  if (Fault fault = out_of_range("retry_delay", options.retry.base, Millis(0), kOptionMax)) return fault;
  if (Fault fault = out_of_range("retry_delay_cap", options.retry.cap, Millis(0), kOptionMax)) return fault;
  if (Fault fault = out_of_range("lease", options.lease, Millis(100), kOptionMax)) return fault;
  if (Fault fault = out_of_range("stale_after", options.stale_after, Millis(1), kOptionMax)) return fault;
  if (Fault fault = out_of_range("start_within", options.start_within, Millis(1), kOptionMax)) return fault;
  if (Fault fault = out_of_range("max_retries", options.max_retries, 0, limits::kMaxRetries)) return fault;
  if (Fault fault = out_of_range("max_attempts", options.max_attempts, 1, limits::kMaxAttempts)) return fault;
  for (const auto& [name, config] : options.queues) {
    if (Fault fault = validate(name, config, default_policy(options))) {
      fault->message = "queue " + name + ": " + fault->message;
      return fault;
    }
  }
  if (!options.worker_id.empty()) return validate_worker_id(options.worker_id);
  return std::nullopt;
}

}  // namespace eventq
