// answer_json.h: values to response bodies. The only place that knows how answers are spelled.
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

// An event as its publisher sees it: everything.
void write_event(JsonWriter& json, const Event& event);
// The same with what its log says went wrong last, and all of the log where it is wanted.
enum class Logs : std::uint8_t { left_out, shown };
void write_details(JsonWriter& json, const Event& event, const std::vector<LogEntry>& log,
                   Logs logs = Logs::shown);
// As the worker that claimed it sees it.
void write_claim(JsonWriter& json, const Claim& claim);
// A list of them.
void write_claims(JsonWriter& json, const std::vector<Claim>& claims);

void write_page(JsonWriter& json, const EventPage& page, const ListFilter& filter);
void write_correlation(JsonWriter& json, const Correlation& correlation);
void write_batch(JsonWriter& json, std::string_view correlation_id, const std::vector<Event>& events);
void write_why(JsonWriter& json, EventId id, Status status, const Why& why);

// What a change came to. `result_status` is the HTTP status as a first member, for lists of results.
// A heartbeat leaves no entry: its answer is the end of the lease.
void write_entry(JsonWriter& json, const LogEntry& entry, int max_retries, std::optional<int> result_status);
void write_heartbeat(JsonWriter& json, EventId id, std::string_view worker_id, TimePoint lease_until,
                     std::optional<int> result_status);

// The newest failure in a log that says what went wrong, and its words.
struct LastFailure {
  std::string_view message;
  TimePoint at;
};
std::optional<LastFailure> last_failure(const std::vector<LogEntry>& log);

// `text` as the member `name`, unless it is empty.
void write_set(JsonWriter& json, std::string_view name, std::string_view text);

// {"type", "id", "name"} as the member `source`: those that are set, nothing if none is.
void write_source(JsonWriter& json, const Source& source);

// Adds to a JSON object that what these shards have is not in it: "partial" and "missing_shards". REQUIRES:
// there are some.
void mark_partial(std::string& object, const std::vector<int>& missing);

// A problem: the API's own shape and RFC 9457 in one body.
struct Problem {
  int status = 500;
  std::string_view kind;   // "lease-lost": the last part of `type`
  std::string_view title;  // a few words, the same for every problem of this kind
  std::string message;     // what is wrong, and what would be right
  std::string field;
  std::string request_id;
  std::string_view outcome;        // of a write that failed; empty: there was none
  std::optional<std::int64_t> id;  // of the event, in lists of results
  std::optional<int> retry_count;  // of a failure that was the last
  std::optional<int> max_retries;
  std::chrono::seconds retry_after{0};  // a header, not a member; 0: not known
};
void write_problem(JsonWriter& json, const Problem& problem);

// The failure that was the last one an event may have.
Problem max_retries_exceeded(EventId id, int retry_count, int max_retries);

}  // namespace eventq::wire
