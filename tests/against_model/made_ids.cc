// made_ids.cc: see made_ids.h.
#include "against_model/made_ids.h"

#include <string_view>
#include <utility>

namespace eventq {
namespace {

constexpr std::string_view kMadePrefixes[] = {"evt_", "corr_"};
constexpr std::size_t kUuidChars = 36;

// The first generated id in `text` at or after `start`.
struct Found {
  std::size_t place = std::string::npos;
  std::size_t size = 0;
};
Found find_made_id(const std::string& text, std::size_t start) {
  Found first;
  for (const std::string_view prefix : kMadePrefixes) {
    const std::size_t place = text.find(prefix, start);
    if (place < first.place && text.size() - place >= prefix.size() + kUuidChars) {
      first = {place, prefix.size() + kUuidChars};
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

void MadeIds::learn(std::int64_t id, const std::string& event_id, const std::string& correlation_id) {
  const auto is_made = [](const std::string& text, std::size_t prefix) {
    return text.size() == kMadePrefixes[prefix].size() + kUuidChars &&
           text.starts_with(kMadePrefixes[prefix]);
  };
  const std::string number = std::to_string(id);
  const auto call = [&](const std::string& made, std::string name) {
    if (!names_.contains(made) && given_.insert(name).second) names_.emplace(made, std::move(name));
  };
  if (is_made(event_id, 0)) call(event_id, "the event_id made for " + number);
  if (is_made(correlation_id, 1)) call(correlation_id, "the correlation_id made for " + number);
}

void MadeIds::learn(const Event& event) {
  learn(static_cast<std::int64_t>(event.id), event.event_id, event.correlation_id);
}

void MadeIds::learn(const JsonLines& response) {
  const auto learn_at = [&](const std::string& where) {
    const auto id = response.find(where + "id");
    if (id == response.end()) return false;
    learn(std::stoll(id->second), unquoted(response, where + "event_id"),
          unquoted(response, where + "correlation_id"));
    return true;
  };
  if (learn_at("")) return;
  for (int i = 0; learn_at("events[" + std::to_string(i) + "].");) ++i;
}

JsonLines MadeIds::replaced(JsonLines lines) const {
  for (auto& [where, what] : lines) {
    for (Found found = find_made_id(what, 0); found.size > 0; found = find_made_id(what, found.place + 1)) {
      const auto name = names_.find(what.substr(found.place, found.size));
      what.replace(found.place, found.size, name == names_.end() ? "an id never told" : name->second);
    }
  }
  return lines;
}

}  // namespace eventq
