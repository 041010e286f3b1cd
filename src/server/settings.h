// settings.h: every setting of the server, once; those of single queues are in queue_settings.h.
//
// The table is the only list of them: flags, environment variables, keys of the
// configuration file, --help, --print-config and the log are all made from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/options.h"
#include "server/listen_address.h"

namespace eventq::server {

struct ServerSettings {
  ListenAddress listen;
  bool allow_remote = false;
  std::vector<std::string> stores = {"sqlite:eventq.db"};  // several: shards, in order
  bool migrate = false;
  std::vector<std::string> notebooks_allow;  // folders; none: there are no notebooks
  std::string notebooks_state;               // empty: see notebooks_state_file()
  Options queue;
};

// How the value is written in TOML. list: one text, or an array of them.
enum class SettingKind : std::uint8_t { text, number, truth, list };

struct ServerSetting {
  std::string_view name;  // the key in the file: retry_delay; of one in a table: notebooks.allow
  SettingKind kind;
  std::string_view placeholder;  // its value in --help
  std::string_view help;
  std::string_view what;  // "it must be ..."

  // False when `text` is no such value. Ranges are left to validate(). The members of a list are separated
  // by kListEnd.
  bool (*read)(ServerSettings& settings, std::string_view text);
  // What read() takes, without passwords.
  std::string (*text)(const ServerSettings& settings);
};

inline constexpr char kListEnd = '\0';

[[nodiscard]] std::span<const ServerSetting> all_settings();

[[nodiscard]] std::string flag_name(const ServerSetting& setting);      // --retry-delay, --notebooks-allow
[[nodiscard]] std::string variable_name(const ServerSetting& setting);  // EVENTQ_RETRY_DELAY

// Where what is known of notebooks is kept: the setting, or beside the store.
[[nodiscard]] std::string notebooks_state_file(const ServerSettings& settings);

// A list of URLs, for messages and files.
[[nodiscard]] std::string without_passwords(std::string_view list);

// The value on a line of the log.
[[nodiscard]] std::string shown_value(const ServerSetting& setting, const ServerSettings& settings);

// The value as TOML: "5m" with its quotes, 3, true.
[[nodiscard]] std::string toml_value(const ServerSetting& setting, const ServerSettings& settings);

// `text` in quotes, on one line whatever it holds.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace eventq::server
