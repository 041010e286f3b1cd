// events.cc: see events.h.
#include "cli/commands/events.h"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "cli/framework/record.h"
#include "cli/terminal/terminal_text.h"
#include "model/names.h"
#include "wire/event_filter.h"

namespace eventq::cli {
namespace {

constexpr std::int64_t kWaitMax = 60;  // seconds; proxies close connections that are silent for longer
constexpr Millis kAnswerTime{10'000};  // for the answer, in addition to the wait

// The members of an event in api/openapi.json.
constexpr std::string_view kEventFields =
    "id,event_id,title,description,status,queue,tags,payload,priority,attempts,retry_count,max_retries,"
    "next_retry_at,worker_id,correlation_id,causation_id,sequence,trace_id,traceparent,tracestate,pattern,"
    "version,source,timestamp,ordering_key,supersede_key,superseded_by,run_at,retry,created_at,updated_at,"
    "processed_at,finished_at,published_by,error_message,error_detail,result,"
    "max_attempts,logs";

}  // namespace

std::string event_statuses() {
  std::vector<std::string> names;
  // The enumeration has no gaps, and cancelled is its last value.
  for (auto status = Status::pending; status <= Status::cancelled;
       status = static_cast<Status>(static_cast<int>(status) + 1)) {
    names.emplace_back(name_of(status));
  }
  return join_list(names);
}

Parameter event_ids() {
  return {.name = "ID",
          .help = "The number or the event_id of an event, or several",
          .required = true,
          .many = true};
}

Parameter tag_option() {
  return {.name = "--tag",
          .value = "TAG",
          .help = "Only events with this tag; if given several times, with any of them",
          .many = true};
}

std::vector<OutputColumn> event_columns() {
  using Kind = CellKind;
  return {{"ID", "id", Kind::number},
          {"STATUS", "status", Kind::status},
          {"QUEUE", "queue"},
          {"TAGS", "tags"},
          {"TITLE", "title"},
          {"TRIES", "attempts", Kind::number},
          {"UPDATED", "updated_at", Kind::time}};
}

bool has_event_fields(Invocation& run) {
  const auto known = split_list(kEventFields);
  for (const std::string& field : run.output.fields) {
    const std::string first = field.substr(0, field.find('.'));
    if (std::find(known.begin(), known.end(), first) != known.end()) continue;
    const std::string guess = did_you_mean(first, known);
    wrong_usage(run, "there is no field " + in_quotes(first) +
                         (guess.empty() ? "; there are " + join_list(known, ", ") : guess));
    return false;
  }
  return true;
}

std::vector<OutputColumn> listed_event_columns() {
  std::vector<OutputColumn> columns = event_columns();
  columns.push_back({.heading = "ERROR", .field = "error_message", .optional = true});
  return columns;
}

bool has_ended(std::string_view status) { return status != "PENDING" && status != "PROCESSING"; }

EventNumber event_number(Invocation& run, const std::string& text) {
  if (std::all_of(text.begin(), text.end(), is_digit)) {
    if (const auto number = parse_whole<std::int64_t>(text)) return {.id = *number};
    return {wrong_usage(
        run, in_quotes(text) + " is not the number of an event, which is the `id` in `eventq ls`")};
  }
  QueryString query;
  query.add("event_id", text);
  std::vector<std::int64_t> ids;
  const PagedResult paged = each_event(run, query, 2, [&](const JsonValue& event) {
    ids.push_back(integer_at(event, "id").value_or(0));
    return true;
  });
  if (paged.code != ExitCode::done) return {paged.code};
  if (ids.size() == 1) return {.id = ids.front()};
  if (ids.size() > 1) {
    return {fail(run, "Several events have the event_id " + in_quotes(text) + ", such as " +
                          std::to_string(ids[0]) + " and " + std::to_string(ids[1]) +
                          ". Use their numbers.")};
  }
  // A shard that did not answer may have the event.
  if (!paged.missing.empty()) return {report_missing_shards(run, paged.missing)};
  return {fail(run, "There is no event " + in_quotes(text) + ".")};
}

NamedEvents::NamedEvents(Invocation& run)
    : run_(run),
      list_(run.out, run.output, event_columns()),
      as_list_(run.output.format != Format::table && run.arguments.texts("ID").size() > 1) {}

void NamedEvents::add(std::string_view event) {
  if (as_list_) {
    list_.add(event);
    list_.flush();
    return;
  }
  if (!first_) run_.out << '\n';
  first_ = false;
  print_record(run_.out, run_.output, event);
  run_.out << std::flush;
}

void NamedEvents::finish() {
  if (as_list_) list_.finish();
}

bool is_hopeless(ExitCode code) { return code == ExitCode::unreachable || code == ExitCode::forbidden; }

ExitCode for_each_id(Invocation& run, const std::function<ExitCode(std::int64_t)>& act) {
  // Reads all IDs first, so that a typing error in the last one changes nothing.
  std::vector<std::int64_t> ids;
  for (const std::string& text : run.arguments.texts("ID")) {
    const EventNumber number = event_number(run, text);
    if (number.code != ExitCode::done) return number.code;
    ids.push_back(number.id);
  }
  ExitCode worst = ExitCode::done;
  for (const std::int64_t id : ids) {
    const ExitCode code = act(id);
    if (is_hopeless(code)) return code;
    if (code != ExitCode::done) worst = ExitCode::failed;
  }
  return worst;
}

QueryString& QueryString::add(std::string_view name, const std::optional<std::string>& value) {
  if (value) text_ += (text_.empty() ? "" : "&") + std::string(name) + "=" + percent_encode(*value);
  return *this;
}

PagedResult each_event(Invocation& run, const QueryString& query, std::size_t page, const VisitEvent& visit) {
  PagedResult paged;
  std::optional<std::string> cursor;
  do {
    QueryString next = query;
    next.add("limit", std::to_string(page)).add("cursor", cursor);
    const CallResult called = call(run, "GET", "/events?" + next.text());
    paged.code = called.code;
    if (!called) return paged;
    const AnswerJson body(called.body);
    if (!body) {
      paged.code = fail_unreadable(run, body);
      return paged;
    }
    paged.total = integer_at(*body, "total").value_or(0);
    if (auto missing = missing_shards(*body); !missing.empty()) paged.missing = std::move(missing);
    cursor = text_at(*body, "next");
    const auto events = elements_at(*body, "events");
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (visit(events[i])) continue;
      paged.more = cursor || i + 1 < events.size();
      return paged;
    }
  } while (cursor);
  return paged;
}

std::vector<Parameter> list_options() {
  return {
      {.name = "--status",
       .value = "STATUS",
       .help = "Only events with this status",
       .choices = event_statuses()},
      tag_option(),
      queue_option("Only events of this queue"),
      {"--worker", "ID", "Only events that this worker ever picked"},
      {"--correlation", "ID", "Only events with this correlation id"},
      {"--pattern", "PATTERN", "Only events with this pattern; * stands for one word, > for the rest"},
      {"--since", "TIME", "Only events published at this time or later, such as 2025-12-24T10:30:00Z or 1h"},
      {"--until", "TIME", "Only events published before this time, such as 2025-12-24T10:30:00Z or 1h"},
      filter_option("Only events that meet these conditions")};
}

Parameter filter_option(const std::string& help) {
  return {"--filter", "CONDITIONS",
          help + ", such as 'status:FAILED tag:email older:1h error:\"timed out\"'; there are " +
              wire::filter_words()};
}

std::optional<ListFilter> read_filter(Invocation& run) {
  const auto text = run.arguments.text("--filter");
  if (!text) return ListFilter{};
  auto filter = wire::parse_event_filter(*text, run.output.clock->now());
  if (filter) return std::move(*filter);
  wrong_usage(run, filter.error().message);
  return std::nullopt;
}

QueryString list_query(const Arguments& arguments) {
  QueryString query;
  query.add("status", arguments.text("--status")).add("queue", arguments.text("--queue"));
  query.add("worker_id", arguments.text("--worker")).add("correlation_id", arguments.text("--correlation"));
  query.add("pattern", arguments.text("--pattern")).add("filter", arguments.text("--filter"));
  query.add("since", arguments.text("--since")).add("until", arguments.text("--until"));
  if (arguments.has("--tag")) query.add("tags", join_list(arguments.texts("--tag")));
  return query;
}

NewestEvent newest_event(Invocation& run, const std::function<void(const JsonValue& event)>& visit) {
  NewestEvent newest;
  QueryString query;
  query.add("order", "desc");
  const PagedResult paged = each_event(run, query, 1, [&](const JsonValue& event) {
    newest.id = integer_at(event, "id").value_or(0);
    if (visit) visit(event);
    return false;
  });
  newest.code = paged.code;
  return newest;
}

std::int64_t wait_slice(std::optional<SteadyTime> deadline) {
  if (!deadline) return kWaitMax;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*deadline - steady_now()).count();
  return std::clamp<std::int64_t>(left, 0, kWaitMax);
}

WaitResult wait_for_end(Invocation& run, std::int64_t id, std::optional<SteadyTime> deadline) {
  const std::string event = "/events/" + std::to_string(id);
  while (true) {
    const std::int64_t seconds = wait_slice(deadline);
    const auto answer = run.server.call({.method = "POST",
                                         .target = event + "/wait?timeout=" + std::to_string(seconds),
                                         .timeout = kAnswerTime + std::chrono::seconds(seconds)});
    // 408: this call waited its slice. Call again until the deadline.
    if (!answer || answer->status != 408) return {.called = call_result(run, answer), .ended = true};
    // 408 has no event in its body, so it is fetched for the caller to print.
    if (deadline && steady_now() >= *deadline) return {.called = call(run, "GET", event), .ended = false};
  }
}

ExitCode report_end(Invocation& run, std::string_view event) {
  const AnswerJson record(event);
  const std::string status = text_at(*record, "status").value_or("");
  if (status == "COMPLETED" || status == "COMPLETED_WITH_ERRORS") return ExitCode::done;
  const auto why = text_at(*record, "error_message");
  return fail(run,
              "event " + text_at(*record, "id").value_or("") + " ended " + status + (why ? ": " + *why : ""),
              ExitCode::event_failed);
}

}  // namespace eventq::cli
