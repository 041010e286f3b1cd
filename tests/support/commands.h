// commands.h: short makers of commands for tests, and readers of their answers.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "command/command.h"

namespace eventq {

using Tags = std::vector<std::string>;

inline Command publish_all(std::vector<NewEvent> events) {
  Command command;
  command.publication = Publication{.events = std::move(events), .key = {}, .correlated = false};
  return command;
}

inline Command publish(NewEvent event) { return publish_all({std::move(event)}); }

inline Command publish(NewEvent event, IdempotencyKey key) {
  Command command = publish(std::move(event));
  command.publication->key = std::move(key);
  return command;
}

// Claims up to `limit` ready events, and does not wait.
inline Command claim(Tags tags, std::string worker_id, std::size_t limit = 1) {
  Command command;
  command.claim = ClaimRequest{.selector = {"main", std::move(tags)},
                               .worker_id = std::move(worker_id),
                               .limit = limit,
                               .wait = Millis(0)};
  return command;
}

// The same, but waits for up to 20 seconds if there is no event.
inline Command claim_or_wait(Tags tags, std::string worker_id, std::size_t limit = 1) {
  Command command = claim(std::move(tags), std::move(worker_id), limit);
  command.claim->wait = std::chrono::seconds(20);
  return command;
}

inline Command change(Change change) {
  Command command;
  command.changes.push_back(std::move(change));
  return command;
}

inline Command complete(Lease lease) { return change({std::move(lease), Complete{}}); }

inline Command fail(Lease lease, std::string message = "") {
  Failure failure;
  failure.message = std::move(message);
  return change({std::move(lease), Fail{std::move(failure)}});
}

inline Command cancel(EventId id, std::string reason = "") {
  return change({Lease{id, "", {}}, Cancel{std::move(reason)}});
}

inline Command reset(EventId id, std::string reason = "") {
  return change({Lease{id, "", {}}, Reset{std::move(reason)}});
}

inline Command why(EventId id) {
  Command command;
  command.why = id;
  return command;
}

inline Command get(EventId id) {
  Command command;
  command.get = id;
  return command;
}

inline std::vector<std::string> titles(const std::vector<Claim>& claims) {
  std::vector<std::string> titles;
  for (const Claim& claim : claims) titles.push_back(claim.event.title);
  return titles;
}

inline std::vector<EventId> ids(const std::vector<Claim>& claims) {
  std::vector<EventId> ids;
  for (const Claim& claim : claims) ids.push_back(claim.event.id);
  return ids;
}

inline std::vector<Action> actions(const std::vector<LogEntry>& log) {
  std::vector<Action> actions;
  for (const LogEntry& entry : log) actions.push_back(entry.action);
  return actions;
}

}  // namespace eventq
