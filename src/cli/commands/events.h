// events.h: functions on events that several commands share: ids, pages of lists, waiting for an end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/steady.h"
#include "cli/framework/invocation.h"
#include "model/query.h"

namespace eventq::cli {

// Every status of an event: "PENDING,PROCESSING,..."
[[nodiscard]] std::string event_statuses();

// The positional parameter ID...
[[nodiscard]] Parameter event_ids();

// The option --tag, which may be given several times.
[[nodiscard]] Parameter tag_option();

// The columns of a list of events.
[[nodiscard]] std::vector<OutputColumn> event_columns();
// The same with the message of the last failure, which lists have.
[[nodiscard]] std::vector<OutputColumn> listed_event_columns();

// Whether events may have every field of --fields. If not, the error was already printed as wrong usage: a
// typing error would otherwise become an empty column.
[[nodiscard]] bool has_event_fields(Invocation& run);

[[nodiscard]] bool has_ended(std::string_view status);

// The number of the event that `text` names. Digits are the number itself; any other text is an event_id, and
// the server is asked for its event. The error of another code than `done` was already printed.
struct EventNumber {
  ExitCode code = ExitCode::done;
  std::int64_t id = 0;
};
[[nodiscard]] EventNumber event_number(Invocation& run, const std::string& text);

// Prints the events of the IDs: one as a record, several as a list. On a terminal, several records.
class NamedEvents {
 public:
  explicit NamedEvents(Invocation& run);
  void add(std::string_view event);
  void finish();

 private:
  Invocation& run_;
  RecordPrinter list_;
  bool as_list_;
  bool first_ = true;
};

// True if the next call would fail as well: the server is unreachable or refuses access.
[[nodiscard]] bool is_hopeless(ExitCode code);

// Calls `act` for each ID, also after a failure, unless is_hopeless(). Returns ExitCode::failed when some
// calls failed, whatever code they returned. If no event has an ID that is an event_id, `act` is never
// called.
ExitCode for_each_id(Invocation& run, const std::function<ExitCode(std::int64_t)>& act);

// Builds "status=FAILED&tags=email", percent-encoded. Parameters without a value are left out.
class QueryString {
 public:
  QueryString& add(std::string_view name, const std::optional<std::string>& value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Calls `visit` for each event of GET /events, page by page, until it returns false or the list ends.
using VisitEvent = std::function<bool(const JsonValue& event)>;
struct PagedResult {
  ExitCode code = ExitCode::done;
  std::int64_t total = 0;  // the number of matching events, also those not visited
  bool more = false;       // `visit` ended the list before its last event
  std::string missing;     // as missing_shards(): the events of these shards were not visited
};
PagedResult each_event(Invocation& run, const QueryString& query, std::size_t page, const VisitEvent& visit);

// The option --filter: the language of wire/event_filter.h.
[[nodiscard]] Parameter filter_option(const std::string& help);
// What --filter selects; without it, all events. Nothing if it is wrong, which was already printed as wrong
// usage.
[[nodiscard]] std::optional<ListFilter> read_filter(Invocation& run);

// The options that select the events of a list, and the query that they make.
[[nodiscard]] std::vector<Parameter> list_options();
[[nodiscard]] QueryString list_query(const Arguments& arguments);

// The greatest id of all events, 0 when there is none. Calls `visit` with its event.
struct NewestEvent {
  ExitCode code = ExitCode::done;
  std::int64_t id = 0;
};
NewestEvent newest_event(Invocation& run, const std::function<void(const JsonValue& event)>& visit = {});

// Waits until the event has ended, or until `deadline` if there is one.
struct WaitResult {
  CallResult called;   // the error, or the event
  bool ended = false;  // false: the deadline passed first
};
WaitResult wait_for_end(Invocation& run, std::int64_t id, std::optional<SteadyTime> deadline);

// The exit code for the status of an ended event. Prints the error of an event that did not succeed.
ExitCode report_end(Invocation& run, std::string_view event);

// The seconds until `deadline`, rounded up, 0 to 60: the wait of one call. The API allows longer waits, but
// a proxy may close a connection that is silent for longer.
[[nodiscard]] std::int64_t wait_slice(std::optional<SteadyTime> deadline);

}  // namespace eventq::cli
