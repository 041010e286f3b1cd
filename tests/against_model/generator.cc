// generator.cc: see generator.h.
#include "against_model/generator.h"

#include <algorithm>
#include <utility>

#include "against_model/words.h"
#include "model/names.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Kind = Operation::Kind;

constexpr std::array<std::string_view, 6> kTitles = {"Send Email Notification",
                                                     "x",
                                                     "Z\u00fcrich \"quoted\" \\ and\ttab",
                                                     "line\nbreak",
                                                     "\U0001F600",
                                                     "a,b;c' OR 1=1"};
constexpr std::array<std::string_view, 10> kPayloads = {
    "null",
    "{}",
    R"({"user_id": 12345,  "tags":[1,2,{"deep":null}],"email":"user@example.com"})",
    "1e400",
    "-0.0",
    R"("\u00e9 \ud83d\ude00 \/ \n")",
    "[ ]",
    "123456789012345678901234567890",
    "true",
    "{\n  \"b\": 1,\n  \"a\": 2\n}"};
constexpr std::array<std::string_view, 6> kMessages = {
    "Connection timeout: mail server unreachable. Will retry.",
    "",
    "\u00fc \"x\" \\",
    "two\nlines",
    "order 17 of 4",
    "order 9 of 12"};
constexpr std::array<std::string_view, 4> kResults = {"17", "-0.50", "true", "\"done\""};
constexpr std::array<Status, 7> kEveryStatus = {
    Status::pending, Status::processing, Status::completed, Status::completed_with_errors,
    Status::failed,  Status::superseded, Status::cancelled};
constexpr std::size_t kRemembered = 60;

void remember(auto& items, auto item) {
  items.push_back(std::move(item));
  if (items.size() > kRemembered) items.pop_front();
}

// The members of a report beside its event and worker.
void write_report(JsonWriter& json, const Change& change) {
  if (change.lease.attempt) json.key("attempt").integer(*change.lease.attempt);
  if (const auto* it = std::get_if<Complete>(&change.what)) {
    if (it->outcome.status_code) json.key("status_code").integer(*it->outcome.status_code);
    if (it->outcome.execution_time_ms) json.key("execution_time_ms").integer(*it->outcome.execution_time_ms);
    if (!it->outcome.errors.empty()) {
      json.key("errors").begin_array();
      for (const std::string& error : it->outcome.errors) json.string(error);
      json.end_array();
    }
    if (!it->outcome.result.empty()) json.key("result").raw(it->outcome.result);
  }
  if (const auto* it = std::get_if<Fail>(&change.what)) {
    if (it->failure.status_code) json.key("status_code").integer(*it->failure.status_code);
    if (it->failure.execution_time_ms) json.key("execution_time_ms").integer(*it->failure.execution_time_ms);
    if (!it->failure.message.empty()) json.key("error_message").string(it->failure.message);
    if (!it->failure.detail.empty()) json.key("error_detail").string(it->failure.detail);
    if (it->failure.permanent) json.key("permanent").boolean(true);
  }
  if (const auto* it = std::get_if<Release>(&change.what)) {
    const auto delay = std::chrono::floor<std::chrono::seconds>(it->delay).count();
    if (delay > 0) json.key("delay").integer(delay);
    if (!it->reason.empty()) json.key("reason").string(it->reason);
  }
}

void write_reports(JsonWriter& json, std::string_view name, const std::vector<Change>& changes) {
  json.key(name).begin_array();
  for (const Change& change : changes) {
    json.begin_object().key("id").integer(static_cast<std::int64_t>(change.lease.id));
    write_report(json, change);
    json.end_object();
  }
  json.end_array();
}

std::string_view path_of(const Change& change) {
  if (std::holds_alternative<Start>(change.what)) return "/start";
  if (std::holds_alternative<Heartbeat>(change.what)) return "/heartbeat";
  if (std::holds_alternative<Release>(change.what)) return "/release";
  return std::holds_alternative<Complete>(change.what) ? "/complete" : "/fail";
}

}  // namespace

std::string describe(const Operation& operation) {
  std::string text = operation.method + " " + operation.target;
  for (const auto& [name, value] : operation.headers) text += "\n  " + name + ": " + value;
  if (!operation.body.empty()) text += "\n  " + operation.body;
  return text;
}

Operation Generator::next() {
  if (next_) return *std::exchange(next_, std::nullopt);
  const int dice = number(1, 100);
  if (dice <= 15) return publish();
  if (dice <= 20) return publish_batch();
  if (dice <= 36) return subscribe();
  if (dice <= 46) return turn();
  if (dice <= 67) return report();
  if (dice <= 72) return report_many();
  if (dice <= 77) return intervene();
  if (dice <= 80) return why();
  if (dice <= 83) return get();
  if (dice <= 86) return list();
  return about_queues();
}

Millis Generator::next_advance(TimePoint now) {
  now_ = now;
  const int dice = number(1, 1000);
  if (dice <= 800) return 0ms;
  if (dice <= 965) return Millis(number(1, 1500));
  std::erase_if(due_times_, [&](const Due& due) { return due.time <= now + 1ms; });
  if (dice <= 993 && !due_times_.empty()) {
    const Due due = any_of(due_times_);
    ClaimRequest request{
        .selector = {due.queue, some_tags(5, 6)}, .worker_id = std::string(any_of(kWorkers)), .limit = 4};
    next_ = subscribe(std::move(request));
    return due.time + Millis(number(-1, 1)) - now;
  }
  if (dice <= 998 || !last_keyed_) return Millis(number(5000, 70'000));
  next_ = last_keyed_->operation;
  return std::max(last_keyed_->time + 24h + Millis(number(-1, 1)) - now, 0ms);
}

void Generator::learn(const Operation& operation, const Answer& answer, TimePoint now) {
  if (answer.published && *answer.published) {
    for (const Event& event : (*answer.published)->events) {
      last_id_ = std::max(last_id_, static_cast<std::int64_t>(event.id));
    }
    for (const Event& event : (*answer.published)->events) {
      if (event.due_at > now) remember(due_times_, Due{event.due_at, event.queue});
    }
    const bool keyed = operation.command.publication->key.has_value();
    if (keyed && !(*answer.published)->replayed) last_keyed_ = Keyed{now, operation};
  }
  for (const Claim& claim : answer.claims) {
    last_id_ = std::max(last_id_, static_cast<std::int64_t>(claim.event.id));
    remember(leases_, Lease{claim.event.id, claim.event.worker_id, claim.event.attempts});
    remember(due_times_, Due{claim.lease_until, claim.event.queue});
  }
  for (const Result<Changed>& changed : answer.changed) {
    if (changed && changed->entry.next_retry_at)
      remember(due_times_, Due{*changed->entry.next_retry_at, "main"});
  }
  if (operation.command.publication) {
    for (const NewEvent& event : operation.command.publication->events) {
      if (!event.event_id.empty()) event_ids_.push_back(event.event_id);
    }
  }
  learn_queues(operation, answer);
}

NewEvent Generator::new_event() {
  NewEvent event;
  event.title = any_of(kTitles);
  if (percent(40)) event.description = percent(20) ? "" : "Send welcome email to new user";
  event.tags = some_tags(1, 3);
  event.payload = any_of(kPayloads);
  event.queue = some_queue();
  if (percent(50)) event.priority = number(-2, 2);
  if (percent(30)) event.max_retries = number(0, 4);
  if (percent(15)) event.max_attempts = number(1, 3);
  if (percent(20)) event.event_id = "own-" + std::to_string(event_ids_.size());
  if (percent(25) && !event_ids_.empty()) event.event_id = any_of(event_ids_);
  if (percent(30)) event.correlation_id = some_correlation();
  add_more(event);
  return event;
}

// Optional fields, which only some events have.
void Generator::add_more(NewEvent& event) {
  if (percent(event.queue == "orders" ? 60 : 15)) event.ordering_key = any_of(kOrderingKeys);
  if (percent(15)) event.supersede_key = any_of(kSupersedeKeys);
  if (percent(8)) {
    event.delay = std::chrono::seconds(number(0, 30));
  } else if (percent(5)) {
    event.run_at = now_ + Millis(number(-10'000, 40'000));
  }
  if (percent(8)) {
    event.retry = RetryPolicy{percent(50) ? RetryPolicy::Kind::fixed : RetryPolicy::Kind::exponential,
                              Millis(number(2'000, 9'000)), 20s, percent(50) ? 0.25 : 0.0};
  }
  if (percent(80)) return;
  if (percent(50)) event.pattern = any_of(kPatterns);
  if (percent(50)) event.version = "1.2";
  if (percent(50)) event.causation_id = "evt-cause:1";
  if (percent(50)) event.trace_id = "0af7651916cd43dd8448eb211c80319c";
  if (percent(50)) event.source.type = "workflow";
  if (percent(50)) event.source.name = "\u00dcbung";
  if (percent(50)) event.timestamp = now_ - Millis(number(0, 5'000));
}

// The last queue gets few events, so it is often empty.
std::string Generator::some_queue() {
  const int dice = number(1, 100);
  if (dice <= 45) return std::string(kQueues[0]);
  if (dice <= 65) return std::string(kQueues[1]);
  return std::string(dice <= 95 ? kQueues[2] : kQueues[3]);
}

std::string Generator::some_correlation() { return "order-" + std::to_string(number(1, kCorrelations)); }

std::vector<std::string> Generator::some_tags(int least, int most) {
  std::vector<std::string> tags(kTags.begin(), kTags.end());
  std::shuffle(tags.begin(), tags.end(), random_);
  tags.resize(static_cast<std::size_t>(number(least, most)));
  return tags;
}

// Writes a string or an array, with blanks and repetitions that the server must ignore.
void Generator::write_tags(JsonWriter& json, const std::vector<std::string>& tags) {
  json.key("tags");
  if (percent(50)) {
    std::string joined;
    for (const std::string& tag : tags) joined += (joined.empty() ? "" : ",") + tag;
    if (percent(20)) joined = " " + joined + " , " + tags.front();
    json.string(joined);
    return;
  }
  json.begin_array();
  for (const std::string& tag : tags) json.string(tag);
  if (percent(20)) json.string(tags.front());
  json.end_array();
}

std::string Generator::tags_in_query(const std::vector<std::string>& tags) {
  std::string joined;
  for (const std::string& tag : tags) joined += (joined.empty() ? "" : ",") + tag;
  return "tags=" + (percent(50) ? percent_encoded(joined) : joined);
}

void Generator::write_event(JsonWriter& json, const NewEvent& event, bool in_batch) {
  json.begin_object().key("title").string(event.title);
  if (event.description) json.key("description").string(*event.description);
  if (!event.description && percent(10)) json.key("description").null();
  write_tags(json, event.tags);
  if (event.payload != "null" || percent(50))
    json.key("payload").raw(percent(20) ? " " + event.payload + "\n" : event.payload);
  if (event.queue != "main" || percent(20)) json.key("queue").string(event.queue);
  if (event.priority != 0 || percent(10)) json.key("priority").integer(event.priority);
  if (event.max_retries) json.key("max_retries").integer(*event.max_retries);
  if (event.max_attempts) json.key("max_attempts").integer(*event.max_attempts);
  if (!event.event_id.empty()) json.key("event_id").string(event.event_id);
  if (!in_batch && !event.correlation_id.empty()) json.key("correlation_id").string(event.correlation_id);
  write_more(json, event);
  json.end_object();
}

void Generator::write_more(JsonWriter& json, const NewEvent& event) {
  const auto put = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) json.key(name).string(text);
  };
  put("ordering_key", event.ordering_key);
  put("supersede_key", event.supersede_key);
  if (event.run_at) json.key("run_at").time(*event.run_at);
  if (event.delay > 0ms) {
    json.key("delay").integer(std::chrono::floor<std::chrono::seconds>(event.delay).count());
  }
  if (event.retry) {
    json.key("retry");
    write_retry(json, *event.retry);
  }
  put("pattern", event.pattern);
  put("version", event.version);
  put("causation_id", event.causation_id);
  put("trace_id", event.trace_id);
  if (event.timestamp) json.key("timestamp").time(*event.timestamp);
  if (event.source == Source()) return;
  json.key("source").begin_object();
  put("type", event.source.type);
  put("name", event.source.name);
  json.end_object();
}

Operation Generator::publish() {
  Operation operation{.kind = Kind::publish, .method = "POST", .target = "/events"};
  NewEvent event = new_event();
  JsonWriter json(operation.body);
  write_event(json, event, false);
  operation.command.publication = Publication{.events = {std::move(event)}};
  if (percent(6)) {
    operation.headers.emplace_back("Prefer", "wait=0");
    operation.command.wait = WaitRequest{WaitRequest::ThisPublication{}, 0ms};
  }
  return percent(25) ? with_key(std::move(operation)) : operation;
}

Operation Generator::publish_batch() {
  Operation operation{.kind = Kind::publish_batch, .method = "POST", .target = "/events/batch"};
  Publication publication{.correlated = true};
  const std::string correlation_id = percent(50) ? some_correlation() : "";
  const bool completes = percent(40);
  const std::string one_queue = some_queue();
  JsonWriter json(operation.body);
  json.begin_object().key("events").begin_array();
  for (int i = number(1, 4); i > 0; --i) {
    NewEvent event = new_event();
    event.correlation_id = correlation_id;
    if (completes) event.queue = one_queue;
    write_event(json, event, true);
    publication.events.push_back(std::move(event));
  }
  json.end_array();
  if (!correlation_id.empty()) json.key("correlation_id").string(correlation_id);
  publication.ordered = percent(30);
  if (publication.ordered || percent(10)) json.key("ordered").boolean(publication.ordered);
  if (completes) {
    publication.on_complete = on_complete(one_queue);
    json.key("on_complete").begin_object();
    json.key("title").string(publication.on_complete->title);
    write_tags(json, publication.on_complete->tags);
    json.key("payload").raw(publication.on_complete->payload);
    if (publication.on_complete->priority != 0) {
      json.key("priority").integer(publication.on_complete->priority);
    }
    write_more(json, *publication.on_complete);
    json.end_object();
  }
  json.end_object();
  operation.command.publication = std::move(publication);
  return percent(25) ? with_key(std::move(operation)) : operation;
}

// Each title is unique.
NewEvent Generator::on_complete(const std::string& queue) {
  NewEvent event;
  event.title = "all done " + std::to_string(++completions_);
  event.tags = some_tags(1, 3);
  event.payload = any_of(kPayloads);
  event.queue = queue;
  event.priority = number(-1, 1);
  add_more(event);
  event.causation_id.clear();
  return event;
}

// Uses a new key, or a used one with the same request or with another request.
Operation Generator::with_key(Operation operation) {
  const std::string key = "key-" + std::to_string(number(1, 25));
  const auto used = by_key_.find(key);
  if (used != by_key_.end() && percent(60)) return used->second;
  operation.headers.emplace_back("Idempotency-Key", key);
  operation.command.publication->key = IdempotencyKey{key, operation.target + "\n" + operation.body};
  if (used == by_key_.end() || percent(30)) by_key_.insert_or_assign(key, operation);
  return operation;
}

ClaimRequest Generator::claim_request() {
  ClaimRequest request;
  request.selector = {some_queue(), some_tags(1, 4)};
  request.worker_id = any_of(kWorkers);
  if (percent(88)) return request;
  request.wait = std::chrono::seconds(number(1, 20));
  if (percent(60)) request.selector.queue = kQueues[3];
  return request;
}

Operation Generator::subscribe() {
  ClaimRequest request = claim_request();
  if (percent(50)) request.limit = static_cast<std::size_t>(number(1, 4));
  return subscribe(std::move(request));
}

// Uses a query or a body. With a limit, even a limit of 1, the answer is a list.
Operation Generator::subscribe(ClaimRequest request) {
  const bool many = request.limit > 1 || percent(20);
  Operation operation{.kind = many ? Kind::subscribe_many : Kind::subscribe};
  const auto wait = std::chrono::floor<std::chrono::seconds>(request.wait).count();
  if (percent(50)) {
    operation.method = "GET";
    operation.target = "/events/subscribe?" + tags_in_query(request.selector.tags) +
                       "&worker_id=" + percent_encoded(request.worker_id);
    if (request.selector.queue != "main")
      operation.target += "&queue=" + percent_encoded(request.selector.queue);
    if (wait > 0) operation.target += "&wait=" + std::to_string(wait);
    if (many) operation.target += "&limit=" + std::to_string(request.limit);
  } else {
    operation.method = "POST";
    operation.target = "/events/subscribe";
    JsonWriter json(operation.body);
    json.begin_object().key("worker_id").string(request.worker_id);
    write_tags(json, request.selector.tags);
    if (request.selector.queue != "main") json.key("queue").string(request.selector.queue);
    if (wait > 0) json.key("wait").integer(wait);
    if (many) json.key("limit").integer(static_cast<std::int64_t>(request.limit));
    json.end_object();
  }
  operation.command.claim = std::move(request);
  return operation;
}

Outcome Generator::outcome() {
  Outcome outcome;
  if (percent(60)) outcome.status_code = number(0, 999);
  if (percent(60)) outcome.execution_time_ms = number(0, 100'000);
  if (percent(20)) outcome.errors = {"first", "second \"quoted\""};
  if (percent(30)) outcome.result = any_of(kResults);
  return outcome;
}

Failure Generator::failure() {
  Failure failure;
  if (percent(60)) failure.status_code = number(0, 999);
  if (percent(60)) failure.execution_time_ms = number(0, 100'000);
  failure.message = any_of(kMessages);
  failure.permanent = percent(10);
  if (percent(30)) failure.detail = "at line " + std::to_string(number(1, 9));
  return failure;
}

Release Generator::release(bool delayed) {
  return {.reason = percent(50) ? "later" : "", .delay = std::chrono::seconds(delayed ? number(1, 90) : 0)};
}

EventId Generator::some_id() {
  if (last_id_ == 0 || percent(3)) return EventId{last_id_ + number(1, 1000)};
  if (percent(70)) return EventId{std::max<std::int64_t>(1, last_id_ - number(0, 100))};
  return EventId{number(1, static_cast<int>(last_id_))};
}

// A lease that was given out, sometimes with a wrong worker or attempt.
Lease Generator::lease() {
  if (leases_.empty() || percent(4)) return {some_id(), std::string(any_of(kWorkers)), {}};
  const auto newest = static_cast<int>(leases_.size()) - 1;
  Lease lease = leases_[static_cast<std::size_t>(number(percent(80) ? std::max(0, newest - 8) : 0, newest))];
  if (percent(5)) lease.worker_id = any_of(kWorkers);
  if (percent(25)) lease.attempt.reset();
  if (percent(5) && lease.attempt) lease.attempt = std::max(1, *lease.attempt + number(-1, 1));
  return lease;
}

// Reports by one worker: each lease gets this worker_id.
std::vector<Change> Generator::changes(const std::string& worker_id, ReportKind kind) {
  std::vector<Change> changes;
  for (int i = number(0, 3); i > 0; --i) {
    Lease one = lease();
    one.worker_id = worker_id;
    Change& change = changes.emplace_back(Change{std::move(one), {}});
    if (kind == ReportKind::completions) change.what = Complete{outcome()};
    if (kind == ReportKind::failures) change.what = Fail{failure()};
    // A delay, so that the same turn cannot claim the event again: the oracle reads it after the turn.
    if (kind == ReportKind::releases) change.what = release(true);
  }
  return changes;
}

Operation Generator::turn() {
  Operation operation{.kind = Kind::turn, .method = "POST", .target = "/events/next"};
  ClaimRequest request = claim_request();
  if (!leases_.empty()) request.worker_id = any_of(leases_).worker_id;
  request.limit = static_cast<std::size_t>(number(0, 4));
  if (percent(20)) request.selector.tags.clear();
  const std::vector<Change> completed = changes(request.worker_id, ReportKind::completions);
  const std::vector<Change> failed = changes(request.worker_id, ReportKind::failures);
  const std::vector<Change> released = changes(request.worker_id, ReportKind::releases);

  JsonWriter json(operation.body);
  json.begin_object().key("worker_id").string(request.worker_id);
  if (!request.selector.tags.empty()) write_tags(json, request.selector.tags);
  if (request.selector.queue != "main") json.key("queue").string(request.selector.queue);
  if (request.wait > 0ms)
    json.key("wait").integer(std::chrono::floor<std::chrono::seconds>(request.wait).count());
  if (request.limit != 1 || percent(50)) json.key("limit").integer(static_cast<std::int64_t>(request.limit));
  if (!completed.empty() || percent(20)) write_reports(json, "completed", completed);
  if (!failed.empty() || percent(20)) write_reports(json, "failed", failed);
  if (!released.empty() || percent(20)) write_reports(json, "released", released);
  json.end_object();

  for (const std::vector<Change>* made : {&completed, &failed, &released}) {
    operation.command.changes.insert(operation.command.changes.end(), made->begin(), made->end());
  }
  if (request.limit > 0) operation.command.claim = std::move(request);
  return operation;
}

Operation Generator::report() {
  Change change{lease(), {}};
  const int dice = number(1, 29);
  if (dice <= 5) change.what = Start{};
  if (dice > 5 && dice <= 9) change.what = Heartbeat{};
  if (dice > 9 && dice <= 17) change.what = Complete{outcome()};
  if (dice > 17 && dice <= 26) change.what = Fail{failure()};
  if (dice > 26) change.what = release(percent(50));
  Operation operation{.kind = Kind::report,
                      .method = "POST",
                      .target = "/events/" + text_of(change.lease.id) + std::string(path_of(change))};
  JsonWriter json(operation.body);
  json.begin_object().key("worker_id").string(change.lease.worker_id);
  write_report(json, change);
  json.end_object();
  operation.command.changes.push_back(std::move(change));
  return operation;
}

Operation Generator::report_many() {
  const bool failures = percent(40);
  const std::string worker_id(leases_.empty() ? kWorkers[0] : any_of(leases_).worker_id);
  std::vector<Change> reports;
  while (reports.empty())
    reports = changes(worker_id, failures ? ReportKind::failures : ReportKind::completions);
  Operation operation{
      .kind = Kind::report_many, .method = "POST", .target = failures ? "/events/fail" : "/events/complete"};
  JsonWriter json(operation.body);
  json.begin_object().key("worker_id").string(worker_id);
  write_reports(json, "events", reports);
  json.end_object();
  operation.command.changes = std::move(reports);
  return operation;
}

Operation Generator::intervene() {
  const bool cancels = percent(40);
  const std::string reason(any_of(kReasons));
  const EventId id = some_id();
  Operation operation{.kind = Kind::intervene,
                      .method = "POST",
                      .target = "/events/" + text_of(id) + (cancels ? "/cancel" : "/reset")};
  const bool spares_processing = !cancels && percent(30);
  if (spares_processing) operation.target += "?spare_processing=true";
  if (!reason.empty())
    operation.target += (spares_processing ? "&reason=" : "?reason=") + percent_encoded(reason);
  if (percent(30)) operation.body = "{}";
  Change change{Lease{id, "", {}}, Cancel{reason}};
  if (!cancels) change.what = Reset{.reason = reason, .spare_processing = spares_processing};
  operation.command.changes.push_back(std::move(change));
  return operation;
}

Operation Generator::why() {
  const EventId id = some_id();
  Operation operation{.kind = Kind::why, .method = "GET", .target = "/events/" + text_of(id) + "/why"};
  operation.command.why = id;
  return operation;
}

Operation Generator::get() {
  const EventId id = some_id();
  const bool with_log = percent(70);
  Operation operation{.kind = Kind::get, .method = "GET", .target = "/events/" + text_of(id)};
  if (with_log) operation.target += "?include_logs=true";
  operation.command.get = id;
  return operation;
}

Operation Generator::list() {
  Operation operation{.kind = Kind::list, .method = "GET", .target = "/events"};
  ListFilter filter;
  const auto add = [&](const std::string& parameter) {
    operation.target += (operation.target.find('?') == std::string::npos ? "?" : "&") + parameter;
  };
  if (percent(40)) {
    filter.status = any_of(kEveryStatus);
    add("status=" + std::string(name_of(*filter.status)));
  }
  if (percent(30)) {
    filter.tags = some_tags(1, 2);
    add(tags_in_query(filter.tags));
  }
  if (percent(30)) add("queue=" + percent_encoded(*(filter.queue = any_of(kQueues))));
  if (percent(20)) add("worker_id=" + percent_encoded(*(filter.worker_id = any_of(kWorkers))));
  if (percent(20)) add("correlation_id=" + *(filter.correlation_id = some_correlation()));
  if (percent(60)) add("limit=" + std::to_string(filter.limit = static_cast<std::size_t>(number(1, 40))));
  if (percent(30)) add("offset=" + std::to_string(filter.offset = number(0, 60)));
  if (percent(30)) {
    filter.after = some_id();
    add("after_id=" + text_of(filter.after));
  }
  if (percent(30)) {
    filter.order = ListOrder::descending;
    add("order=desc");
  }
  if (percent(20)) {
    filter.before = some_id();
    add("before_id=" + text_of(*filter.before));
  }
  operation.command.list = std::move(filter);
  return operation;
}

}  // namespace eventq
