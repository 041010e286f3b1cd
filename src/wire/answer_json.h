// answer_json.h: writes values as response bodies. No other file knows how answers are spelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "model/query.h"
#include "model/why.h"

namespace eventq::wire {

// All members of an event, as its publisher sees it.
void write_event(JsonWriter& json, const Event& event);
// The same with the message and detail of its last failure, with its result, and with its log if `logs` says
// so. Members that explain the end of an event are null, not absent, if there is no value.
enum class Logs : std::uint8_t { left_out, shown };
void write_details(JsonWriter& json, const Event& event, const std::vector<LogEntry>& log,
                   Logs logs = Logs::shown);
// An event with its attempt and its lease, as the worker that claimed it sees it.
void write_claim(JsonWriter& json, const Claim& claim);
// A list of claims.
void write_claims(JsonWriter& json, const std::vector<Claim>& claims);

void write_page(JsonWriter& json, const EventPage& page, const ListFilter& filter);
void write_correlation(JsonWriter& json, const Correlation& correlation);
// Entries of one page are sorted by their time, newest first. Pages follow each other by event.
void write_worker_log(JsonWriter& json, std::string_view worker_id, const WorkerLogPage& page);
void write_batch(JsonWriter& json, std::string_view correlation_id, const std::vector<Event>& events);
void write_why(JsonWriter& json, EventId id, Status status, const Why& why);

// The result of a change. `result_status` is the HTTP status, written as first member in lists of results.
// A heartbeat writes no log entry, so its answer is the end of the lease.
void write_entry(JsonWriter& json, const LogEntry& entry, int max_retries, std::optional<int> result_status);
void write_heartbeat(JsonWriter& json, EventId id, std::string_view worker_id, TimePoint lease_until,
                     std::optional<int> result_status);

// The message and time of the newest failure in a log that has a message.
struct LastFailure {
  std::string_view message;
  TimePoint at;
};
std::optional<LastFailure> last_failure(const std::vector<LogEntry>& log);

// Adds "partial" and "missing_shards" to a JSON object, because these shards did not answer.
// REQUIRES: `missing` is not empty, and `object` ends with '}'.
void mark_partial(std::string& object, const std::vector<int>& missing);

// An error answer: members of the API's own format and of RFC 9457 in one body.
struct Problem {
  int status = 500;
  std::string_view kind;   // "lease-lost": the last part of `type`
  std::string_view title;  // a few words, the same for every problem of this kind
  std::string message;     // says what is wrong and what would be right
  std::string field;
  std::string request_id;
  std::string_view outcome;        // of a write that failed; empty: there was none
  std::optional<std::int64_t> id;  // of the event, in lists of results
  std::string event_id;            // the same, as the request names an event whose number is unknown
  std::optional<int> retry_count;  // of a failure that was the last
  std::optional<int> max_retries;
  std::chrono::seconds retry_after{0};  // sent as a header, not as a member; 0: unknown
};
void write_problem(JsonWriter& json, const Problem& problem);

// The answer to a failure after which the event is not retried: the last of its retries, or a permanent one.
// It follows from stored values only, so a repeated report gets the same bytes.
Problem last_failure_problem(EventId id, int retry_count, int max_retries);
inline constexpr std::string_view kMaxRetriesExceeded = "max-retries-exceeded";
inline constexpr std::string_view kFailedPermanently = "failed-permanently";

}  // namespace eventq::wire
