// settings.h: the table of all server settings. Settings of single queues are in queue_settings.h.
//
// The table is the only list: flags, environment variables, keys of the configuration
// file, --help, --print-config and the log are generated from it. The defaults are the initializers of
// ServerSettings, ListenAddress and Options; those of queues are in model/policy.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/options.h"
#include "http/transport/listen_address.h"

namespace eventq::server {

struct ServerSettings {
  http::ListenAddress listen;
  bool allow_remote = false;
  std::vector<std::string> allow_origin;                   // pages of these origins may use the API
  std::vector<std::string> stores = {"sqlite:eventq.db"};  // several stores are shards, in this order
  bool migrate = false;
  std::vector<std::string> notebooks_allow;  // folders; empty: notebooks are disabled
  std::string notebooks_state;               // empty: the default of notebooks_state_file()
  Options queue;
};

// How the value is written in TOML. list: one text, or an array of them.
enum class SettingKind : std::uint8_t { text, number, truth, list };

struct ServerSetting {
  std::string_view name;  // the key in the file: retry_delay, or with its table: notebooks.allow
  SettingKind kind;
  std::string_view placeholder;  // the placeholder of the value in --help
  std::string_view help;
  std::string_view what;  // "it must be ..."

  // Parses `text`. False when it is invalid. validate() checks ranges later. kListEnd separates the members
  // of a list.
  bool (*read)(ServerSettings& settings, std::string_view text);
  // The inverse of read(), without passwords.
  std::string (*text)(const ServerSettings& settings);
};

inline constexpr char kListEnd = '\0';

[[nodiscard]] std::span<const ServerSetting> all_settings();

[[nodiscard]] std::string flag_name(const ServerSetting& setting);      // --retry-delay, --notebooks-allow
[[nodiscard]] std::string variable_name(const ServerSetting& setting);  // EVENTQ_RETRY_DELAY

// The path of the file with the state of notebooks: the setting, or a file beside the store.
[[nodiscard]] std::string notebooks_state_file(const ServerSettings& settings);

// Removes the passwords from a list of URLs, for messages and files.
[[nodiscard]] std::string without_passwords(std::string_view list);

// The value as a log line shows it.
[[nodiscard]] std::string shown_value(const ServerSetting& setting, const ServerSettings& settings);

// The value as TOML: "5m" with its quotes, 3, true.
[[nodiscard]] std::string toml_value(const ServerSetting& setting, const ServerSettings& settings);

// `text` as a TOML string on one line, with control characters escaped.
[[nodiscard]] std::string toml_string(std::string_view text);

// The shortest text that is read back as the same number.
[[nodiscard]] std::string toml_fraction(double number);

}  // namespace eventq::server
