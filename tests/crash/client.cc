// client.cc: see client.h.
#include "crash/client.h"

#include <gtest/gtest.h>

#include <utility>

#include "base/json_writer.h"

namespace eventq {
namespace {

using Kind = ReportCall::Kind;

// A kill closes every connection, so only a server that hangs exceeds this limit.
constexpr std::chrono::seconds kLimit{60};
constexpr std::size_t kPage = 1000;

std::optional<JsonValue> member(const JsonValue& object, std::string_view name) {
  for (const JsonMember& member : object.members()) {
    if (member.name == name) return member.value;
  }
  return std::nullopt;
}
std::string text(const JsonValue& object, std::string_view name) {
  const auto value = member(object, name);
  return std::string(value ? value->string().value_or("") : "");
}
std::int64_t number(const JsonValue& object, std::string_view name) {
  const auto value = member(object, name);
  return value ? value->integer().value_or(0) : 0;
}

// The outcome of one report in a list. When its shard is down (503), the report may have been recorded.
CallOutcome outcome_of(std::int64_t status) {
  if (status == 200) return CallOutcome::ok;
  return status == 503 ? CallOutcome::unknown : CallOutcome::refused;
}

// These answers mean that the failure was recorded and was the last one.
bool is_last_failure(int status, const JsonValue& body) {
  const std::string error = text(body, "error");
  return status == 400 && (error == "Max retries exceeded" || error == "Failed permanently");
}

std::string_view path_of(Kind kind) {
  switch (kind) {
    case Kind::start: return "/start";
    case Kind::heartbeat: return "/heartbeat";
    case Kind::complete: return "/complete";
    case Kind::fail: return "/fail";
  }
  return "";
}

void write_wanted(JsonWriter& json, const CrashClient::Wanted& wanted) {
  json.key("worker_id").string(wanted.worker_id).key("tags").string(wanted.tags);
  json.key("limit").integer(wanted.limit);
  if (!wanted.queue.empty()) json.key("queue").string(wanted.queue);
  if (wanted.wait_seconds > 0) json.key("wait").integer(wanted.wait_seconds);
}

std::string queue_of(const CrashClient::Wanted& wanted) {
  return wanted.queue.empty() ? "" : "&queue=" + wanted.queue;
}

void write_completions(JsonWriter& json, std::string_view name, const std::vector<DeliveredEvent>& events) {
  json.key(name).begin_array();
  for (const DeliveredEvent& event : events) {
    json.begin_object().key("id").integer(event.id).key("attempt").integer(event.attempt).end_object();
  }
  json.end_array();
}

FinalEvent read_final(const JsonValue& body) {
  FinalEvent event{.id = number(body, "id"),
                   .title = text(body, "title"),
                   .payload = std::string(member(body, "payload").value_or(JsonValue()).raw()),
                   .status = text(body, "status"),
                   .attempts = static_cast<int>(number(body, "attempts")),
                   .retry_count = static_cast<int>(number(body, "retry_count")),
                   .worker_id = text(body, "worker_id"),
                   .log = {},
                   .queue = text(body, "queue"),
                   .ordering_key = text(body, "ordering_key"),
                   .supersede_key = text(body, "supersede_key"),
                   .superseded_by = number(body, "superseded_by")};
  for (const JsonValue& entry : member(body, "logs").value().elements()) {
    event.log.push_back({.action = text(entry, "action"),
                         .attempt = static_cast<int>(number(entry, "attempt")),
                         .worker_id = text(entry, "worker_id"),
                         .retries = member(entry, "next_retry_at").has_value(),
                         .errors = member(entry, "errors").has_value(),
                         .id = number(entry, "id")});
  }
  return event;
}

}  // namespace

CrashClient::CrashClient(std::uint16_t port, History& history, Outages outages)
    : http_(port, kLimit), history_(history), outages_(outages) {}

std::optional<HttpResponse> CrashClient::call(std::string_view method, std::string_view target,
                                              std::string_view body, const HttpHeaders& headers) {
  invoked_ = steady_now();
  auto response = http_.request(method, target, body, headers);
  returned_ = steady_now();
  alive_ = response.has_value();
  unanswered_outcome_ = CallOutcome::unknown;
  if (!response) {
    EXPECT_LT(returned_ - invoked_, kLimit) << "the server hangs: " << method << " " << target;
    return std::nullopt;
  }
  if (outages_ == Outages::expected && response->status == 503) {
    alive_ = false;
    const bool unknown = text(parser_.parse(response->body).value(), "outcome") == "unknown";
    if (!unknown) unanswered_outcome_ = CallOutcome::refused;
    return std::nullopt;
  }
  EXPECT_LT(response->status, 500) << method << " " << target << "\n" << response->body;
  return *std::move(response);
}

CallOutcome CrashClient::publish(const Publishing& publishing) {
  HttpHeaders headers;
  if (!publishing.key.empty()) headers.emplace_back("Idempotency-Key", publishing.key);
  const auto response = call("POST", publishing.target, publishing.body, headers);
  PublishCall made = publishing.call;
  made.outcome = unanswered_outcome_;
  if (response) {
    made.outcome =
        response->status == 201 || response->status == 200 ? CallOutcome::ok : CallOutcome::refused;
    const bool full = publishing.may_be_full && response->status == 429;
    EXPECT_TRUE(made.outcome == CallOutcome::ok || full) << response->body;
    EXPECT_EQ(full, !response->header("Retry-After").empty()) << response->body;
  }
  if (made.outcome == CallOutcome::ok) {
    const JsonValue body = parser_.parse(response->body).value();
    if (const auto events = member(body, "events")) {
      for (const JsonValue& event : events->elements()) made.ids.push_back(number(event, "id"));
    } else {
      made.ids.push_back(number(body, "id"));
    }
  }
  history_.publishes.push_back(made);
  return made.outcome;
}

std::vector<DeliveredEvent> CrashClient::read_deliveries(const std::vector<JsonValue>& events,
                                                         const std::string& worker_id) {
  std::vector<DeliveredEvent> deliveries;
  for (const JsonValue& event : events) {
    deliveries.push_back({.id = number(event, "id"),
                          .attempt = static_cast<int>(number(event, "attempt")),
                          .worker_id = worker_id,
                          .title = text(event, "title"),
                          .payload = std::string(member(event, "payload").value_or(JsonValue()).raw()),
                          .invoked = invoked_,
                          .returned = returned_,
                          .queue = text(event, "queue")});
  }
  history_.deliveries.insert(history_.deliveries.end(), deliveries.begin(), deliveries.end());
  return deliveries;
}

std::vector<DeliveredEvent> CrashClient::subscribe(const Wanted& wanted) {
  // A GET for one event and a POST for several, so that both forms are tested.
  std::optional<HttpResponse> response;
  if (wanted.limit == 1) {
    response = call("GET", "/events/subscribe?tags=" + wanted.tags + "&worker_id=" + wanted.worker_id +
                               "&wait=" + std::to_string(wanted.wait_seconds) + queue_of(wanted));
  } else {
    std::string request;
    JsonWriter json(request);
    json.begin_object();
    write_wanted(json, wanted);
    json.end_object();
    response = call("POST", "/events/subscribe", request);
  }
  if (!response || response->status == 204) return {};
  EXPECT_EQ(response->status, 200) << response->body;
  const JsonValue body = parser_.parse(response->body).value();
  const auto events = member(body, "events");
  return read_deliveries(events ? events->elements() : std::vector{body}, wanted.worker_id);
}

std::vector<DeliveredEvent> CrashClient::turn(const Wanted& wanted,
                                              const std::vector<DeliveredEvent>& finished) {
  std::string request;
  JsonWriter json(request);
  json.begin_object();
  write_wanted(json, wanted);
  write_completions(json, "completed", finished);
  json.end_object();
  const auto response = call("POST", "/events/next", request);
  if (!response) {
    read_results(std::nullopt, finished, invoked_);
    return {};
  }
  EXPECT_EQ(response->status, 200) << response->body;
  const JsonValue body = parser_.parse(response->body).value();
  read_results(member(body, "results"), finished, invoked_);
  return read_deliveries(member(body, "events").value().elements(), wanted.worker_id);
}

void CrashClient::claim_and_disconnect(const Wanted& wanted) {
  const std::string target = "/events/subscribe?tags=" + wanted.tags + "&worker_id=" + wanted.worker_id +
                             "&wait=" + std::to_string(wanted.wait_seconds) +
                             "&limit=" + std::to_string(wanted.limit) + queue_of(wanted);
  alive_ = http_.send("GET", target).has_value();
  http_.close();
}

ReportCall CrashClient::report(Kind kind, const DeliveredEvent& event, bool with_errors, std::string* body) {
  std::string request;
  JsonWriter json(request);
  json.begin_object().key("worker_id").string(event.worker_id).key("attempt").integer(event.attempt);
  if (kind == Kind::fail) json.key("error_message").string("Service unavailable, will retry");
  if (with_errors) json.key("errors").begin_array().string("one").string("two").end_array();
  json.end_object();
  const auto response =
      call("POST", "/events/" + std::to_string(event.id) + std::string(path_of(kind)), request);

  ReportCall made{kind,  event.id, event.attempt, event.worker_id, unanswered_outcome_,
                  false, invoked_, returned_};
  if (response) {
    const bool last = is_last_failure(response->status, parser_.parse(response->body).value());
    made.outcome = response->status == 200 || last ? CallOutcome::ok : CallOutcome::refused;
    made.ended = made.outcome == CallOutcome::ok && (kind == Kind::complete || last);
    EXPECT_TRUE(made.outcome == CallOutcome::ok || response->status == 409) << response->body;
    if (body != nullptr) *body = response->body;
  }
  history_.reports.push_back(made);
  return made;
}

void CrashClient::complete_all(const std::vector<DeliveredEvent>& events) {
  std::string request;
  JsonWriter json(request);
  json.begin_object().key("worker_id").string(events.front().worker_id);
  write_completions(json, "events", events);
  json.end_object();
  const auto response = call("POST", "/events/complete", request);
  if (!response) return read_results(std::nullopt, events, invoked_);
  EXPECT_EQ(response->status, 200) << response->body;
  read_results(member(parser_.parse(response->body).value(), "results"), events, invoked_);
}

// Reads one result for each completion. Without `results` the outcome of all of them is unknown.
void CrashClient::read_results(const std::optional<JsonValue>& results,
                               const std::vector<DeliveredEvent>& reported, SteadyTime invoked) {
  const auto answers = results ? results->elements() : std::vector<JsonValue>();
  for (std::size_t i = 0; i < reported.size(); ++i) {
    ReportCall made{Kind::complete,
                    reported[i].id,
                    reported[i].attempt,
                    reported[i].worker_id,
                    unanswered_outcome_,
                    false,
                    invoked,
                    returned_};
    if (results) {
      made.outcome = outcome_of(number(answers.at(i), "status"));
      made.ended = made.outcome == CallOutcome::ok;
    }
    history_.reports.push_back(made);
  }
}

std::optional<std::vector<FinalEvent>> read_everything(std::uint16_t port) {
  HttpClient http(port, kLimit);
  JsonParser parser;
  std::vector<std::int64_t> ids;
  for (std::size_t found = kPage; found == kPage;) {
    const std::string after = std::to_string(ids.empty() ? 0 : ids.back());
    const auto page = http.get("/events?limit=" + std::to_string(kPage) + "&after_id=" + after);
    if (!page || page->status != 200) return std::nullopt;
    const auto events = member(parser.parse(page->body).value(), "events")->elements();
    for (const JsonValue& event : events) ids.push_back(number(event, "id"));
    found = events.size();
  }
  std::vector<FinalEvent> finals;
  for (const std::int64_t id : ids) {
    const auto event = http.get("/events/" + std::to_string(id) + "?include_logs=true");
    if (!event || event->status != 200) return std::nullopt;
    finals.push_back(read_final(parser.parse(event->body).value()));
  }
  return finals;
}

bool configure(std::uint16_t port, const std::string& queue, const std::string& config) {
  HttpClient http(port, kLimit);
  const auto response = http.request("PUT", "/queues/" + queue, config);
  return response && (response->status == 201 || response->status == 200);
}

std::int64_t number_at(std::uint16_t port, const std::string& target, const std::string& name) {
  HttpClient http(port, kLimit);
  const auto response = http.get(target);
  if (!response || response->status != 200) return -1;
  JsonParser parser;
  return number(parser.parse(response->body).value(), name);
}

std::int64_t count_events(std::uint16_t port, std::string_view status) {
  HttpClient http(port, kLimit);
  const auto page = http.get("/events?limit=1&status=" + std::string(status));
  if (!page || page->status != 200) return -1;
  JsonParser parser;
  return number(parser.parse(page->body).value(), "total");
}

}  // namespace eventq
