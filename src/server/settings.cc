// settings.cc: the table of settings, and the names and values in each format.
#include "server/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/numbers.h"
#include "base/time_text.h"
#include "base/utf8.h"
#include "http/api/cors.h"
#include "store/postgres/connection.h"

namespace eventq::server {
namespace {

bool read_duration(Millis& to, std::string_view text) {
  const auto duration = parse_duration(text);
  if (duration) to = *duration;
  return duration.has_value();
}

// A number beyond int becomes the nearest int, which is outside of every valid range, so validate() refuses
// it.
bool read_int(int& to, std::string_view text) {
  const auto number = parse_whole_signed<std::int64_t>(text);
  if (!number) return false;
  using Int = std::numeric_limits<int>;
  to = static_cast<int>(std::clamp<std::int64_t>(*number, Int::min(), Int::max()));
  return true;
}

bool read_truth(bool& to, std::string_view text) {
  if (text != "true" && text != "false") return false;
  to = text == "true";
  return true;
}

std::string_view kind_text(RetryPolicy::Kind kind) {
  return kind == RetryPolicy::Kind::fixed ? "fixed" : "exponential";
}

bool read_kind(RetryPolicy::Kind& to, std::string_view text) {
  for (const auto kind : {RetryPolicy::Kind::fixed, RetryPolicy::Kind::exponential}) {
    if (kind_text(kind) != text) continue;
    to = kind;
    return true;
  }
  return false;
}

std::vector<std::string> split_texts(std::string_view list) {
  std::vector<std::string> texts;
  for (;;) {
    const std::size_t end = std::min(list.find(kListEnd), list.size());
    texts.emplace_back(list.substr(0, end));
    if (end == list.size()) return texts;
    list.remove_prefix(end + 1);
  }
}

// Accepts text that fits on one line of a TOML file and of the log.
bool read_text(std::string& to, std::string_view text) {
  if (text.empty() || has_control(text) || !valid_utf8(text)) return false;
  to = text;
  return true;
}

// The same, but also accepts an empty text.
bool read_optional_text(std::string& to, std::string_view text) {
  if (!text.empty()) return read_text(to, text);
  to.clear();
  return true;
}

bool names_a_store(std::string_view url) {
  constexpr std::string_view kSqlite = "sqlite:";
  return url == "memory:" || (url.starts_with(kSqlite) && url.size() > kSqlite.size()) ||
         url.starts_with("postgres://") || url.starts_with("postgresql://");
}

bool read_stores(std::vector<std::string>& to, std::string_view list) {
  // Into a copy, so that a refused list leaves `to` unchanged.
  std::vector<std::string> stores;
  for (const std::string& member : split_texts(list)) {
    if (!read_text(stores.emplace_back(), member) || !names_a_store(member)) return false;
  }
  to = std::move(stores);
  return true;
}

// Accepts any number of folders, also none.
bool read_folders(std::vector<std::string>& to, std::string_view list) {
  std::vector<std::string> folders;
  for (const std::string& member : list.empty() ? std::vector<std::string>() : split_texts(list)) {
    if (!read_text(folders.emplace_back(), member)) return false;
  }
  to = std::move(folders);
  return true;
}

// Accepts any number of origins, also none.
bool read_origins(std::vector<std::string>& to, std::string_view list) {
  std::vector<std::string> origins;
  if (!list.empty()) origins = split_texts(list);
  if (!std::all_of(origins.begin(), origins.end(), http::is_origin)) return false;
  to = std::move(origins);
  return true;
}

std::string join_texts(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    if (!list.empty()) list += kListEnd;
    list += text;
  }
  return list;
}

bool read_listen(http::ListenAddress& to, std::string_view text) {
  const auto address = http::parse_listen_address(text);
  if (address) to = *address;
  return address.has_value();
}

using Kind = SettingKind;
using Text = std::string_view;

constexpr Text kDuration = "a whole number and its unit (ms, s, m, h or d)";

// In the order in which --help and --print-config list them.
constexpr ServerSetting kSettings[] = {
    {"listen", Kind::text, "ADDRESS", "The address to listen on; port 0 is any free port",
     "ADDRESS:PORT with an IPv4 address, an IPv6 address in brackets, or localhost",
     [](ServerSettings& s, Text text) { return read_listen(s.listen, text); },
     [](const ServerSettings& s) { return format(s.listen); }},
    {"allow_remote", Kind::truth, "",
     "Accept connections from other machines, although there is no authentication", "true or false",
     [](ServerSettings& s, Text text) { return read_truth(s.allow_remote, text); },
     [](const ServerSettings& s) { return std::string(s.allow_remote ? "true" : "false"); }},
    {"allow_origin", Kind::list, "ORIGIN",
     "Let pages of this site use the API in a browser, such as https://app.example.com; may be given several "
     "times",
     "an origin as browsers send it, such as https://app.example.com or http://localhost:5173, without a "
     "path; "
     "* is refused, because callers are not authenticated",
     [](ServerSettings& s, Text text) { return read_origins(s.allow_origin, text); },
     [](const ServerSettings& s) { return join_texts(s.allow_origin); }},
    {"store", Kind::list, "URL",
     "Where events are stored: sqlite:PATH, memory: (lost at exit) or postgres://USER@HOST/DB; if given "
     "several times, each database is a shard, in this order",
     "sqlite:PATH, memory: or postgres://USER@HOST/DB",
     [](ServerSettings& s, Text text) { return read_stores(s.stores, text); },
     [](const ServerSettings& s) { return without_passwords(join_texts(s.stores)); }},
    {"migrate", Kind::truth, "",
     "Migrate PostgreSQL databases to this eventq's schema first; SQLite files are always migrated",
     "true or false", [](ServerSettings& s, Text text) { return read_truth(s.migrate, text); },
     [](const ServerSettings& s) { return std::string(s.migrate ? "true" : "false"); }},
    {"retry_delay", Kind::text, "DURATION", "How long a failed event waits before it may run again",
     kDuration, [](ServerSettings& s, Text text) { return read_duration(s.queue.retry.base, text); },
     [](const ServerSettings& s) { return format_duration(s.queue.retry.base); }},
    {"retry_kind", Kind::text, "KIND",
     "fixed: every wait is retry_delay; exponential: it doubles with each failure, up to retry_delay_cap",
     "fixed or exponential", [](ServerSettings& s, Text text) { return read_kind(s.queue.retry.kind, text); },
     [](const ServerSettings& s) { return std::string(kind_text(s.queue.retry.kind)); }},
    {"retry_delay_cap", Kind::text, "DURATION", "The longest wait of exponential retries", kDuration,
     [](ServerSettings& s, Text text) { return read_duration(s.queue.retry.cap, text); },
     [](const ServerSettings& s) { return format_duration(s.queue.retry.cap); }},
    {"lease", Kind::text, "DURATION", "How long a worker may be silent before another worker gets its event",
     kDuration, [](ServerSettings& s, Text text) { return read_duration(s.queue.lease, text); },
     [](const ServerSettings& s) { return format_duration(s.queue.lease); }},
    {"max_retries", Kind::number, "N", "The reported failure that reaches this number is final",
     "a whole number", [](ServerSettings& s, Text text) { return read_int(s.queue.max_retries, text); },
     [](const ServerSettings& s) { return std::to_string(s.queue.max_retries); }},
    {"max_attempts", Kind::number, "N", "Claims in a row without a report before an event fails",
     "a whole number", [](ServerSettings& s, Text text) { return read_int(s.queue.max_attempts, text); },
     [](const ServerSettings& s) { return std::to_string(s.queue.max_attempts); }},
    {"archive_dir", Kind::text, "PATH", "The folder for expired events; empty: they are not archived",
     "a path on one line, or empty",
     [](ServerSettings& s, Text text) { return read_optional_text(s.queue.archive_dir, text); },
     [](const ServerSettings& s) { return s.queue.archive_dir; }},
    {"stale_after", Kind::text, "DURATION",
     "How long a worker may be silent before it is shown as stale, and not ask for events before it is idle",
     kDuration, [](ServerSettings& s, Text text) { return read_duration(s.queue.stale_after, text); },
     [](const ServerSettings& s) { return format_duration(s.queue.stale_after); }},
    {"start_within", Kind::text, "DURATION",
     "How long a worker may hold events without starting one before it is shown as stale", kDuration,
     [](ServerSettings& s, Text text) { return read_duration(s.queue.start_within, text); },
     [](const ServerSettings& s) { return format_duration(s.queue.start_within); }},
    {"notebooks.allow", Kind::list, "PATH",
     "A folder that may contain notebooks; may be given several times; without it notebooks are disabled",
     "the path of a folder, or an array of them",
     [](ServerSettings& s, Text text) { return read_folders(s.notebooks_allow, text); },
     [](const ServerSettings& s) { return join_texts(s.notebooks_allow); }},
    {"notebooks.state", Kind::text, "PATH",
     "The file for the state of notebooks; empty: FILE.notebooks beside sqlite:FILE, else eventq.notebooks",
     "a path on one line, or empty",
     [](ServerSettings& s, Text text) { return read_optional_text(s.notebooks_state, text); },
     [](const ServerSettings& s) { return s.notebooks_state; }},
};

}  // namespace

std::span<const ServerSetting> all_settings() { return kSettings; }

std::string flag_name(const ServerSetting& setting) {
  std::string name = "--" + std::string(setting.name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return name;
}

std::string variable_name(const ServerSetting& setting) {
  std::string name = "EVENTQ_";
  for (const char c : setting.name) {
    if (c == '.') {
      name += '_';
    } else {
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return name;
}

// Reads only the first store, because the configuration refuses notebooks with several stores. A PostgreSQL
// store has no folder on this machine, so the default is then a file in the working directory.
std::string notebooks_state_file(const ServerSettings& settings) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!settings.notebooks_state.empty()) return settings.notebooks_state;
  const std::string& store = settings.stores.front();
  return (store.starts_with(kSqlite) ? store.substr(kSqlite.size()) : std::string("eventq")) + ".notebooks";
}

std::string without_passwords(std::string_view list) {
  std::vector<std::string> urls = split_texts(list);
  for (std::string& url : urls) url = postgres::without_password(url);
  return join_texts(urls);
}

std::string shown_value(const ServerSetting& setting, const ServerSettings& settings) {
  std::string text = setting.text(settings);
  std::replace(text.begin(), text.end(), kListEnd, ' ');
  return text;
}

std::string toml_value(const ServerSetting& setting, const ServerSettings& settings) {
  std::string text = setting.text(settings);
  if (setting.kind == Kind::list) {
    if (text.empty()) return "[]";
    const auto members = split_texts(text);
    // One store is written as a text, as most files have it; both spellings are read.
    if (members.size() == 1) return toml_string(text);
    std::string array;
    for (const std::string& member : members) array += (array.empty() ? "[" : ", ") + toml_string(member);
    return array + "]";
  }
  return setting.kind == Kind::text ? toml_string(text) : text;
}

std::string toml_string(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      quoted += "\\u00";
      quoted += kHex[byte >> 4];
      quoted += kHex[byte & 0xF];
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string toml_fraction(double number) {
  std::array<char, 32> text{};  // the longest is "-2.2250738585072014e-308"
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace eventq::server
