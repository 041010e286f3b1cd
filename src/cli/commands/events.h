// events.h: what several commands do with events: name them, page through them, wait for their end.
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

namespace eventq::cli {

// Every status of an event: "PENDING,PROCESSING,..."
[[nodiscard]] std::string event_statuses();

// ID...
[[nodiscard]] Parameter event_ids();

// The columns of a list of events.
[[nodiscard]] std::vector<OutputColumn> event_columns();

[[nodiscard]] bool has_ended(std::string_view status);

// The number of an event as it was typed. Empty: it is none, which has been told as wrong usage.
[[nodiscard]] std::optional<std::int64_t> event_number(Invocation& run, const std::string& text);

// The duration given as `option`. Empty when it was not given; an error has a message for wrong_usage().
[[nodiscard]] Result<std::optional<Millis>> duration_option(const Invocation& run, std::string_view option);

// The events that were named by ID: one as a record, several as a list; on a terminal records under each
// other.
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

// There is no server, or it does not let us: it will be the same for the next event.
[[nodiscard]] bool is_hopeless(ExitCode code);

// Does `act` for each of the IDs, also after one that failed; stops when there is no server, or it does not
// let us. ExitCode::failed when some failed, whatever `act` returned for them. An ID that is no number is
// wrong usage: then nothing is done.
ExitCode for_each_id(Invocation& run, const std::function<ExitCode(std::int64_t)>& act);

// "status=FAILED&tags=email": a query from parts, encoded. Parts without a value are left out.
class QueryString {
 public:
  QueryString& add(std::string_view name, const std::optional<std::string>& value);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// GET /events, page by page, until `visit` returns false or there are no more.
using VisitEvent = std::function<bool(const JsonValue& event)>;
struct PagedResult {
  ExitCode code = ExitCode::done;
  std::int64_t total = 0;  // all that match, whatever was visited
  std::string missing;     // as missing_shards(): not all that match were there to visit
};
PagedResult each_event(Invocation& run, const QueryString& query, std::int64_t after_id, std::size_t page,
                       const VisitEvent& visit);

// --status, --tag, --queue, --worker, --correlation: which events to list; and the query they make.
[[nodiscard]] std::vector<Parameter> list_options();
[[nodiscard]] QueryString list_query(const Arguments& arguments);

// The greatest id of an event, 0 when there is none. `visit` sees some of the newest.
struct NewestEvent {
  ExitCode code = ExitCode::done;
  std::int64_t id = 0;
};
NewestEvent newest_event(Invocation& run, const std::function<void(const JsonValue& event)>& visit = {});

// Waits until the event has ended, at most until `deadline` (none: as long as it takes).
struct WaitResult {
  CallResult called;   // what went wrong, or the event as it is
  bool ended = false;  // false: the deadline came first
};
WaitResult wait_for_end(Invocation& run, std::int64_t id, std::optional<SteadyTime> deadline);

// The exit code that says how the event ended; without success it is told, too.
ExitCode report_end(Invocation& run, std::string_view event);

// Whole seconds from now to `deadline`, rounded up, 0 to 60: what one call may wait.
[[nodiscard]] std::int64_t wait_slice(std::optional<SteadyTime> deadline);

}  // namespace eventq::cli
