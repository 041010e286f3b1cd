// reload.cc: see reload.h.
#include "server/reload.h"

#include <utility>
#include <variant>

#include "base/log.h"

namespace eventq::server {
namespace {

std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

bool differs(const ServerSetting& setting, const ServerSettings& a, const ServerSettings& b) {
  // The text of a store has no password.
  return setting.text(a) != setting.text(b) || (setting.name == "store" && a.stores != b.stores);
}

Result<void> configure(Engine& engine, const std::string& queue, const QueueConfig& config) {
  Command command;
  command.admin =
      QueueChange{queue, QueueChange::Configure{config}, {"", "The server's configuration was reloaded."}};
  const Answer answer = engine.call(std::move(command));
  if (answer.error) return *answer.error;
  const auto& changed = std::get<Result<QueueChanged>>(answer.admin);
  if (!changed) return changed.error();
  return {};
}

}  // namespace

ConfigDifference difference(const ServerConfig& running, const ServerConfig& wanted) {
  ConfigDifference found;
  for (const ServerSetting& setting : all_settings()) {
    if (!differs(setting, running.settings, wanted.settings)) continue;
    if (setting.name == "allow_origin") {
      found.origins = true;
    } else {
      found.needs_restart.emplace_back(setting.name);
    }
  }
  const auto& before = running.settings.queue.queues;
  const auto& after = wanted.settings.queue.queues;
  for (const auto& [name, config] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != config) found.queues.push_back(name);
  }
  for (const auto& [name, config] : before) {
    if (!after.contains(name)) found.removed.push_back(name);
  }
  return found;
}

void reload(ServerConfig& running, const Result<ServerConfig>& wanted, Engine& engine,
            http::AllowedOrigins& origins, const Logger& log) {
  if (!wanted) {
    log(LogLevel::error, LogLine("configuration not reloaded, the running one stays")
                             .add("error", wanted.error().message)
                             .str());
    return;
  }
  const ConfigDifference changes = difference(running, *wanted);
  if (changes.origins) {
    running.settings.allow_origin = wanted->settings.allow_origin;
    origins.set(running.settings.allow_origin);
  }
  std::vector<std::string> configured;
  for (const std::string& queue : changes.queues) {
    const QueueConfig& config = wanted->settings.queue.queues.at(queue);
    if (const auto done = configure(engine, queue, config); !done) {
      log(LogLevel::error,
          LogLine("queue not configured").add("queue", queue).add("error", done.error().message).str());
      // Each call to a store that does not answer takes its whole time limit, and signals wait for it.
      if (done.error().code == ErrorCode::unavailable) break;
      continue;
    }
    running.settings.queue.queues[queue] = config;
    configured.push_back(queue);
  }
  for (const std::string& queue : changes.removed) running.settings.queue.queues.erase(queue);
  LogLine line("configuration reloaded");
  if (changes.origins) line.add("allow_origin", name_list(running.settings.allow_origin));
  if (!configured.empty()) line.add("queues", name_list(configured));
  if (!changes.removed.empty()) line.add("queues_kept", name_list(changes.removed));
  log(LogLevel::info, line.str());
  if (changes.needs_restart.empty()) return;
  log(LogLevel::warning,
      LogLine("changed settings need a restart").add("settings", name_list(changes.needs_restart)).str());
}

}  // namespace eventq::server
