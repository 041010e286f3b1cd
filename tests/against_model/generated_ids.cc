// generated_ids.cc: see generated_ids.h.
#include "against_model/generated_ids.h"

#include <string_view>
#include <utility>

namespace eventq {
namespace {

constexpr std::string_view kPrefixes[] = {"evt_", "corr_"};
constexpr std::size_t kUuidChars = 36;

// The first generated id in `text` at or after `start`.
struct Found {
  std::size_t position = std::string::npos;
  std::size_t size = 0;
};
Found find_generated_id(const std::string& text, std::size_t start) {
  Found first;
  for (const std::string_view prefix : kPrefixes) {
    const std::size_t position = text.find(prefix, start);
    if (position < first.position && text.size() - position >= prefix.size() + kUuidChars) {
      first = {position, prefix.size() + kUuidChars};
    }
  }
  return first;
}

std::string unquoted(const JsonLines& lines, const std::string& where) {
  const auto found = lines.find(where);
  if (found == lines.end() || found->second.size() < 2) return "";
  return found->second.substr(1, found->second.size() - 2);
}

}  // namespace

void GeneratedIds::record_ids(std::int64_t id, const std::string& event_id,
                              const std::string& correlation_id) {
  const auto is_generated = [](const std::string& text, std::size_t prefix) {
    return text.size() == kPrefixes[prefix].size() + kUuidChars && text.starts_with(kPrefixes[prefix]);
  };
  const std::string number = std::to_string(id);
  const auto name_id = [&](const std::string& generated, std::string name) {
    if (!names_.contains(generated) && used_names_.insert(name).second)
      names_.emplace(generated, std::move(name));
  };
  if (is_generated(event_id, 0)) name_id(event_id, "the event_id generated for " + number);
  if (is_generated(correlation_id, 1)) name_id(correlation_id, "the correlation_id generated for " + number);
}

void GeneratedIds::record_ids(const Event& event) {
  record_ids(static_cast<std::int64_t>(event.id), event.event_id, event.correlation_id);
}

void GeneratedIds::record_ids(const JsonLines& response) {
  const auto record_at = [&](const std::string& where) {
    const auto id = response.find(where + "id");
    if (id == response.end()) return false;
    record_ids(std::stoll(id->second), unquoted(response, where + "event_id"),
               unquoted(response, where + "correlation_id"));
    return true;
  };
  if (record_at("")) return;
  for (int i = 0; record_at("events[" + std::to_string(i) + "].");) ++i;
}

JsonLines GeneratedIds::replaced(JsonLines lines) const {
  for (auto& [where, what] : lines) {
    for (Found found = find_generated_id(what, 0); found.size > 0;
         found = find_generated_id(what, found.position + 1)) {
      const auto name = names_.find(what.substr(found.position, found.size));
      what.replace(found.position, found.size,
                   name == names_.end() ? "an id that no answer contained" : name->second);
    }
  }
  return lines;
}

}  // namespace eventq
