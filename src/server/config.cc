// config.cc: see config.h.
#include "server/config.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "base/utf8.h"
#include "model/validate.h"
#include "server/queue_settings.h"
#include "server/toml_file.h"

namespace eventq::server {
namespace {

constexpr std::string_view kPrefix = "EVENTQ_";
constexpr std::string_view kConfigVariable = "EVENTQ_CONFIG";
constexpr std::string_view kUrlVariable = "EVENTQ_URL";  // for the commands that call a server

struct GivenValue {
  std::string origin;
  std::string_view text;
  std::string shown;  // for a message
  bool right_kind = true;
};

bool is_flag(const std::string& origin) { return origin.starts_with("--"); }

Error fault(const std::string& origin, const std::string& message) {
  return {.code = ErrorCode::invalid_argument,
          .message = origin + ": " + message,
          .field = is_flag(origin) ? origin : ""};
}

// A message that begins with the name of the setting begins with the flag instead, because they are alike.
Error value_fault(const std::string& origin, std::string_view name, const std::string& message) {
  Error error = fault(origin, message);
  if (is_flag(origin) && message.starts_with(name)) error.message = origin + message.substr(name.size());
  return error;
}

// A given value as a message shows it, without passwords.
std::string shown(const std::string& value) { return toml_string(without_passwords(value)); }

Result<void> apply(ServerConfig& config, std::size_t index, const GivenValue& given) {
  const ServerSetting& setting = all_settings()[index];
  if (!given.right_kind || !setting.read(config.settings, given.text)) {
    // `what` names all values, or has an example of its own.
    const bool is_complete =
        setting.kind == SettingKind::truth || setting.what.find("such as") != std::string_view::npos;
    return value_fault(given.origin, setting.name,
                       std::string(setting.name) + " must be " + std::string(setting.what) +
                           (is_complete ? "" : ", such as " + toml_value(setting, ServerSettings{})) +
                           ", not " + given.shown + ".");
  }
  // All settings applied before are valid, so an error is about this one.
  if (const auto bad = validate(config.settings.queue)) {
    return value_fault(given.origin, setting.name, bad->message);
  }
  config.origins[index] = given.origin;
  return {};
}

std::vector<std::string> names_of(std::string (*name)(const ServerSetting&)) {
  std::vector<std::string> names;
  for (const ServerSetting& setting : all_settings()) names.push_back(name(setting));
  return names;
}

bool same_kind(SettingKind wanted, TomlKind found) {
  switch (wanted) {
    case SettingKind::text: return found == TomlKind::text;
    case SettingKind::number: return found == TomlKind::number;
    case SettingKind::truth: return found == TomlKind::truth;
    case SettingKind::list: return found == TomlKind::text || found == TomlKind::list;
  }
  return false;
}

bool is_table_of_settings(const TomlEntry& entry) {
  const std::string beginning = key_of(entry) + ".";
  const auto settings = all_settings();
  return entry.kind == TomlKind::table &&
         std::any_of(settings.begin(), settings.end(),
                     [&](const ServerSetting& setting) { return setting.name.starts_with(beginning); });
}

Result<void> apply_file(ServerConfig& config, const std::string& path) {
  const auto entries = read_toml_file(path);
  if (!entries) return entries.error();
  auto keys = names_of([](const ServerSetting& setting) { return std::string(setting.name); });
  keys.emplace_back(kQueuesTable);
  for (const TomlEntry& entry : *entries) {
    // A table precedes its members, which are entries of their own.
    // read_queue_settings() reads the tables of queues below.
    if (entry.path.front() == kQueuesTable || is_table_of_settings(entry)) continue;
    const std::string key = key_of(entry);
    std::string origin = path + ":" + std::to_string(entry.line);
    const auto found = std::find(keys.begin(), keys.end(), key);
    if (found == keys.end()) {
      const std::string guess = did_you_mean(key, keys);
      return fault(origin, "there is no setting " + toml_string(key) +
                               (guess.empty() ? "; `eventq serve --help` lists the settings." : guess));
    }
    const auto index = static_cast<std::size_t>(found - keys.begin());
    const bool is_text = entry.kind == TomlKind::text;
    // A text with a kListEnd inside would become two members of a list.
    const bool right_kind = same_kind(all_settings()[index].kind, entry.kind) &&
                            !(is_text && entry.text.find(kListEnd) != std::string::npos);
    auto applied =
        apply(config, index,
              {std::move(origin), entry.text, is_text ? shown(entry.text) : entry.shown, right_kind});
    if (!applied) return applied;
  }
  auto queues = read_queue_settings(*entries, path);
  if (!queues) return queues.error();
  config.settings.queue.queues = std::move(queues->queues);
  config.queue_origins = std::move(queues->origins);
  return {};
}

Result<void> apply_variables(ServerConfig& config, const Variables& variables) {
  const auto names = names_of(variable_name);
  for (const auto& [name, value] : variables) {
    // Both are variables of eventq, but no settings.
    if (name == kConfigVariable || name == kUrlVariable) continue;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      config.unknown_variables.push_back(name);
      continue;
    }
    const auto index = static_cast<std::size_t>(found - names.begin());
    auto applied = apply(config, index, {name, value, shown(value)});
    if (!applied) return applied;
  }
  return {};
}

// `origin_of_all` is for values that have no flag of their own; empty: each comes from its flag.
Result<void> apply_values(ServerConfig& config, const std::map<std::string, std::string, std::less<>>& values,
                          std::string_view origin_of_all) {
  for (std::size_t index = 0; index < all_settings().size(); ++index) {
    const ServerSetting& setting = all_settings()[index];
    const auto given = values.find(setting.name);
    if (given == values.end()) continue;
    const std::string& value = given->second;
    const std::string origin = origin_of_all.empty() ? flag_name(setting) : std::string(origin_of_all);
    auto applied = apply(config, index, {origin, value, shown(value)});
    if (!applied) return applied;
  }
  return {};
}

Result<void> check_stores(const ServerConfig& config) {
  const auto& stores = config.settings.stores;
  const auto is_postgres = [](const std::string& url) { return url.starts_with("postgres"); };
  if (stores.size() == 1 || std::all_of(stores.begin(), stores.end(), is_postgres)) return {};
  return fault(
      origin_of(config, "store"),
      "several stores are shards, and only PostgreSQL databases can be shards. Give one sqlite:PATH, or "
      "only postgres:// URLs.");
}

Result<void> check_notebooks(const ServerConfig& config) {
  if (config.settings.notebooks_allow.empty() || config.settings.stores.size() == 1) return {};
  return fault(origin_of(config, "notebooks.allow"),
               "notebooks need a single store, because only one database can keep the order of their "
               "changes. Give one "
               "--store, or run notebooks on another server.");
}

Result<void> check_reach(const ServerConfig& config) {
  const ServerSettings& settings = config.settings;
  if (settings.allow_remote || http::is_loopback(settings.listen)) return {};
  return fault(origin_of(config, "listen"),
               http::remote_refusal(settings.listen, "127.0.0.1 or [::1]", "give --allow-remote"));
}

// TOML comments must be UTF-8 without control characters, and a path may contain both.
std::string comment(const std::string& text) {
  return has_control(text) || !valid_utf8(text) ? "(a file whose name is not printable)" : text;
}

}  // namespace

Variables read_environment() {
  Variables variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Result<ServerConfig> load_config(const ServeFlags& flags, const Variables& variables) {
  ServerConfig config;
  config.origins.assign(all_settings().size(), "default");

  std::optional<std::string> path = flags.config;
  const auto named = variables.find(kConfigVariable);
  if (!path && named != variables.end()) path = named->second;
  // From the weakest origin to the strongest, so that each overrides the ones before.
  if (auto applied = apply_values(config, flags.defaults, "default"); !applied) return applied.error();
  if (path) {
    if (auto applied = apply_file(config, *path); !applied) return applied.error();
  }
  if (auto applied = apply_variables(config, variables); !applied) return applied.error();
  if (auto applied = apply_values(config, flags.values, ""); !applied) return applied.error();
  // Last, because these settings may come from different origins.
  if (auto checked = check_stores(config); !checked) return checked.error();
  if (auto checked = check_notebooks(config); !checked) return checked.error();
  if (auto checked = check_reach(config); !checked) return checked.error();
  return config;
}

std::string origin_of(const ServerConfig& config, std::string_view name) {
  const auto settings = all_settings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const ServerSetting& setting) { return setting.name == name; });
  return found == settings.end() ? "" : config.origins[static_cast<std::size_t>(found - settings.begin())];
}

std::string print_config(const ServerConfig& config) {
  std::string text;
  for (std::size_t index = 0; index < all_settings().size(); ++index) {
    const ServerSetting& setting = all_settings()[index];
    text += "# " + std::string(setting.help) + ".\n";
    text += std::string(setting.name) + " = " + toml_value(setting, config.settings) + "  # " +
            comment(config.origins[index]) + "\n";
  }
  for (const auto& [name, queue] : config.settings.queue.queues) {
    text += "\n" + queue_table_header(name) + "  # " + comment(config.queue_origins.at(name)) + "\n" +
            queue_table_members(queue);
  }
  return text;
}

}  // namespace eventq::server
