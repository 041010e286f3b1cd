// generator_queues.cc: the Generator's operations on queues, waits and ended events.
#include <algorithm>
#include <functional>
#include <utility>

#include "against_model/generator.h"
#include "against_model/words.h"
#include "base/json_writer.h"
#include "model/names.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Kind = Operation::Kind;

constexpr std::array<Status, 5> kEnds = {Status::completed, Status::completed_with_errors, Status::failed,
                                         Status::superseded, Status::cancelled};
// So long that no event is removed: the retention thread removes events at times that the comparison does not
// control.
constexpr std::chrono::seconds kForever = 24h * 365;
constexpr std::size_t kCauses = 8;

std::string path_of(const std::string& queue) { return "/queues/" + percent_encoded(queue); }

std::string_view path_of(QueueStatus status) {
  switch (status) {
    case QueueStatus::active: return "/resume";
    case QueueStatus::paused: return "/pause";
    case QueueStatus::draining: return "/drain";
  }
  return "";
}

void write_config(JsonWriter& json, const QueueConfig& config, const std::function<void()>& write_retry) {
  json.begin_object();
  if (config.max_queue_depth) json.key("maxQueueDepth").integer(*config.max_queue_depth);
  if (config.high_watermark) json.key("highWatermark").integer(*config.high_watermark);
  if (config.batch_size) json.key("batchSize").integer(*config.batch_size);
  if (config.lease) json.key("leaseMs").integer(config.lease->count());
  if (config.max_retries) json.key("maxRetries").integer(*config.max_retries);
  if (config.retry) {
    json.key("retry");
    write_retry();
  }
  if (config.durability) {
    json.key("durability").string(*config.durability == Durability::strict ? "strict" : "buffered");
  }
  if (config.on_failure) {
    json.key("onFailure").string(*config.on_failure == OnFailure::skip ? "skip" : "block");
  }
  json.key("retention").begin_object();
  json.key("completedSeconds").integer(config.completed_retention->count());
  json.key("failedSeconds").integer(config.failed_retention->count()).end_object();
  json.end_object();
}

}  // namespace

void Generator::write_retry(JsonWriter& json, const RetryPolicy& retry) {
  json.begin_object().key("kind").string(retry.kind == RetryPolicy::Kind::fixed ? "fixed" : "exponential");
  json.key("baseMs").integer(retry.base.count()).key("capMs").integer(retry.cap.count());
  json.key("jitter").number(retry.jitter).end_object();
}

Operation Generator::about_queues() {
  for (const auto& [queue, status] : statuses_) {
    if (status != QueueStatus::active && percent(15)) return set_status(queue, QueueStatus::active);
  }
  const int dice = number(1, 100);
  if (dice <= 8) return configure(any_queue(), false);
  if (dice <= 22) return set_status();
  if (dice <= 28) return checkpoint(any_queue());
  if (dice <= 36) return supersede();
  if (dice <= 47) return replay();
  if (dice <= 54) return retry_failed();
  if (dice <= 61) return wait_event();
  if (dice <= 68) return wait_correlation();
  if (dice <= 75) return queue();
  if (dice <= 78) return queues();
  if (dice <= 83) return checkpoints();
  if (dice <= 93) return correlation();
  return failures();
}

// Rarely returns a queue that does not exist.
std::string Generator::any_queue() {
  if (percent(4)) return std::string(kNoQueue);
  return percent(40) ? std::string(kQueues[2]) : std::string(any_of(kQueues));
}

QueueConfig Generator::config(const std::string& queue) {
  QueueConfig config;
  if (percent(queue == "main" ? 10 : 70)) config.max_queue_depth = number(4, queue == "main" ? 60 : 25);
  if (config.max_queue_depth && percent(30)) {
    config.high_watermark = number(1, static_cast<int>(*config.max_queue_depth));
  }
  if (percent(40)) config.batch_size = number(1, 3);
  if (percent(30)) config.lease = std::chrono::seconds(number(20, 45));
  if (percent(40)) config.max_retries = number(0, 4);
  if (percent(30)) {
    config.retry = RetryPolicy{percent(50) ? RetryPolicy::Kind::fixed : RetryPolicy::Kind::exponential, 7s,
                               25s, percent(30) ? 0.5 : 0.0};
  }
  if (percent(20)) config.durability = percent(50) ? Durability::buffered : Durability::strict;
  if (percent(70)) config.on_failure = percent(60) ? OnFailure::block : OnFailure::skip;
  return config;
}

Operation Generator::configure(const std::string& queue, bool plain) {
  // kNoQueue must never be created.
  const std::string name = queue == kNoQueue ? std::string(kQueues[2]) : queue;
  Operation operation{.kind = Kind::configure, .method = "PUT", .target = path_of(name)};
  QueueConfig own = plain ? QueueConfig() : config(name);
  own.completed_retention = kForever;
  own.failed_retention = kForever;
  JsonWriter json(operation.body);
  const bool wrapped = percent(50);
  if (wrapped) json.begin_object().key("config");
  write_config(json, own, [&] { write_retry(json, *own.retry); });
  if (wrapped) json.end_object();
  operation.command.admin = QueueChange{name, QueueChange::Configure{own, true}};
  return operation;
}

Operation Generator::set_status() {
  const std::string queue = any_queue();
  const bool active = statuses_[queue] == QueueStatus::active;
  if (percent(active ? 10 : 70)) return set_status(queue, QueueStatus::active);
  return set_status(queue, percent(60) ? QueueStatus::paused : QueueStatus::draining);
}

Operation Generator::set_status(const std::string& queue, QueueStatus status) {
  Operation operation{
      .kind = Kind::set_status, .method = "POST", .target = path_of(queue) + std::string(path_of(status))};
  Actor actor;
  if (percent(50)) {
    actor.reason = any_of(kReasons);
    if (percent(50)) actor.by = "operator@example.com";
    JsonWriter json(operation.body);
    json.begin_object();
    if (!actor.reason.empty()) json.key("reason").string(actor.reason);
    if (!actor.by.empty()) json.key("by").string(actor.by);
    json.end_object();
  }
  if (status == QueueStatus::draining && percent(50)) {
    operation.target += "?timeout=0";
    operation.command.wait = WaitRequest{WaitRequest::Drained{queue}, 0ms};
  }
  operation.command.admin = QueueChange{queue, QueueChange::SetStatus{status}, std::move(actor)};
  return operation;
}

Operation Generator::checkpoint(const std::string& queue) {
  Operation operation{.kind = Kind::checkpoint, .method = "POST", .target = path_of(queue) + "/checkpoint"};
  operation.command.admin = QueueChange{queue, QueueChange::MakeCheckpoint{}};
  return operation;
}

Operation Generator::supersede() {
  const std::string queue = any_queue();
  Operation operation{.kind = Kind::supersede, .method = "POST", .target = path_of(queue) + "/supersede"};
  QueueChange::SupersedeKey wanted{std::string(any_of(kSupersedeKeys))};
  Actor actor{.by = "", .reason = std::string(any_of(kReasons))};
  JsonWriter json(operation.body);
  json.begin_object().key("supersede_key").string(wanted.key);
  if (!actor.reason.empty()) json.key("reason").string(actor.reason);
  json.end_object();
  operation.command.admin = QueueChange{queue, std::move(wanted), std::move(actor)};
  return operation;
}

// Since a checkpoint or a time. Few events per call, so that replays do not outnumber events.
Operation Generator::replay() {
  const std::string queue = any_queue();
  Operation operation{.kind = Kind::replay, .method = "POST", .target = path_of(queue) + "/replay"};
  Revival revival{.kind = RevivalKind::replay};
  revival.filter.queue = queue;
  revival.filter.statuses = {Status::completed, Status::completed_with_errors};
  JsonWriter json(operation.body);
  json.begin_object();
  if (percent(50)) {
    revival.checkpoint = Operation::kCheckpoint;
    for (std::size_t i = checkpoints_.size(); i > 0 && percent(95); --i) {
      if (checkpoints_[i - 1] == queue) operation.checkpoint = i - 1;
      if (operation.checkpoint && percent(50)) break;
    }
    json.key("checkpoint").string(Operation::kCheckpoint);
  } else {
    write_from(json, revival.filter);
  }
  if (percent(20)) {
    revival.filter.to = now_ + Millis(number(1, 1'000));
    json.key("to").time(*revival.filter.to);
  }
  if (percent(40)) {
    revival.filter.statuses = {any_of(kEnds)};
    json.key("statuses").begin_array().string(name_of(revival.filter.statuses[0])).end_array();
  }
  if (percent(30)) write_some_tags(json, revival.filter);
  if (percent(10)) json.key("pattern").string(revival.filter.pattern = any_of(kPatterns));
  write_limit_and_dry_run(json, revival, 4);
  operation.command.admin = std::move(revival);
  return operation;
}

Operation Generator::retry_failed() {
  Operation operation{.kind = Kind::retry_failed, .method = "POST", .target = "/failures/retry"};
  Revival revival{.kind = RevivalKind::retry};
  revival.filter.statuses = {Status::failed};
  JsonWriter json(operation.body);
  json.begin_object();
  if (percent(70)) json.key("queue").string(revival.filter.queue = any_queue());
  if (percent(30) && !causes_.empty()) json.key("cause").string(*(revival.filter.cause = any_of(causes_)));
  if (percent(20)) write_some_tags(json, revival.filter);
  if (percent(10)) write_from(json, revival.filter);
  revival.reason = any_of(kReasons);
  if (!revival.reason.empty()) json.key("reason").string(revival.reason);
  write_limit_and_dry_run(json, revival, 6);
  operation.command.admin = std::move(revival);
  return operation;
}

void Generator::write_some_tags(JsonWriter& json, EndedFilter& filter) {
  filter.tags = some_tags(1, 3);
  write_tags(json, filter.tags);
}

void Generator::write_from(JsonWriter& json, EndedFilter& filter) {
  filter.from = now_ - Millis(number(0, 120'000));
  json.key("from").time(*filter.from);
}

// The last members, and the end of the body. The limit is at most `most`.
void Generator::write_limit_and_dry_run(JsonWriter& json, Revival& revival, int most) {
  revival.filter.limit = static_cast<std::size_t>(number(1, most));
  json.key("limit").integer(static_cast<std::int64_t>(revival.filter.limit));
  revival.dry_run = percent(30);
  if (revival.dry_run || percent(20)) json.key("dry_run").boolean(revival.dry_run);
  json.end_object();
}

Operation Generator::wait_event() {
  const EventId id = some_id();
  Operation operation{
      .kind = Kind::wait_event, .method = "POST", .target = "/events/" + text_of(id) + "/wait?timeout=0"};
  if (percent(30)) operation.body = "{}";
  operation.command.wait = WaitRequest{id, 0ms};
  return operation;
}

Operation Generator::wait_correlation() {
  const std::string id = some_correlation();
  Operation operation{.kind = Kind::wait_correlation,
                      .method = "POST",
                      .target = "/events/correlation/" + id + "/wait?timeout=0"};
  operation.command.wait = WaitRequest{WaitRequest::Correlated{id}, 0ms};
  return operation;
}

Operation Generator::queue() {
  QueueQuery query{any_queue(), 10};
  Operation operation{.kind = Kind::queue, .method = "GET", .target = path_of(query.id)};
  if (percent(60)) {
    query.events = static_cast<std::size_t>(number(0, 20));
    operation.target += "?events=" + std::to_string(query.events);
  }
  operation.command.admin = std::move(query);
  return operation;
}

Operation Generator::queues() {
  Operation operation{.kind = Kind::queues, .method = "GET", .target = "/queues"};
  operation.command.admin = QueuesQuery{};
  return operation;
}

Operation Generator::checkpoints() {
  CheckpointsQuery query{any_queue(), 20};
  Operation operation{
      .kind = Kind::checkpoints, .method = "GET", .target = path_of(query.queue) + "/checkpoints"};
  if (percent(50)) {
    query.limit = static_cast<std::size_t>(number(1, 100));
    operation.target += "?limit=" + std::to_string(query.limit);
  }
  operation.command.admin = std::move(query);
  return operation;
}

Operation Generator::correlation() {
  CorrelationQuery query{some_correlation(), {}, 100};
  Operation operation{
      .kind = Kind::correlation, .method = "GET", .target = "/events/correlation/" + query.id};
  if (percent(50)) {
    query.limit = static_cast<std::size_t>(number(1, 20));
    operation.target += "?limit=" + std::to_string(query.limit);
    if (percent(50)) {
      query.after = some_id();
      operation.target += "&after_id=" + text_of(query.after);
    }
  }
  operation.command.admin = std::move(query);
  return operation;
}

Operation Generator::failures() {
  FailuresQuery query{std::nullopt, 100};
  Operation operation{.kind = Kind::failures, .method = "GET", .target = "/failures"};
  if (percent(60)) operation.target += "?queue=" + percent_encoded(*(query.queue = any_queue()));
  if (percent(40)) {
    query.limit = static_cast<std::size_t>(number(1, 4));
    operation.target += (query.queue ? "&limit=" : "?limit=") + std::to_string(query.limit);
  }
  operation.command.admin = std::move(query);
  return operation;
}

void Generator::learn_queues(const Operation& operation, const Answer& answer) {
  if (const auto* changed = std::get_if<Result<QueueChanged>>(&answer.admin); changed && *changed) {
    statuses_[(*changed)->row.id] = (*changed)->row.status;
    if (operation.kind == Kind::checkpoint) checkpoints_.push_back((*changed)->row.id);
  }
  if (const auto* groups = std::get_if<Result<std::vector<FailureGroup>>>(&answer.admin); groups && *groups) {
    for (const FailureGroup& group : **groups) {
      if (std::find(causes_.begin(), causes_.end(), group.cause) == causes_.end()) {
        causes_.push_back(group.cause);
      }
      if (causes_.size() > kCauses) causes_.pop_front();
    }
  }
}

}  // namespace eventq
