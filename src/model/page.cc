// page.cc: see page.h.
#include "model/page.h"

#include <algorithm>

#include "base/ascii.h"

namespace eventq {
namespace {

// About the JSON of an entry without its texts. A log of many short entries must also end a page.
constexpr std::size_t kPlainEntry = 256;

std::size_t bytes_of(const LogEntry& entry) {
  std::size_t bytes =
      kPlainEntry + entry.reason.size() + entry.error_message.value_or("").size() + entry.error_detail.size();
  for (const std::string& error : entry.errors) bytes += error.size();
  return bytes;
}

}  // namespace

std::size_t included_bytes(const EventPage& page, const Event& event) {
  std::size_t bytes = event.payload.size() + event.description.value_or("").size() + event.result.size();
  if (const auto log = page.logs.find(event.id); log != page.logs.end()) {
    for (const LogEntry& entry : log->second) bytes += bytes_of(entry);
  }
  return bytes;
}

void end_page_behind(EventPage& page, std::size_t kept) {
  if (kept >= page.events.size()) return;
  for (std::size_t i = kept; i < page.events.size(); ++i) {
    page.last_errors.erase(page.events[i].id);
    page.logs.erase(page.events[i].id);
  }
  page.events.resize(kept);
  page.scanned_to = page.events.back().id;
  page.more = true;
}

void drop_removed(EventPage& page, const std::set<EventId>& removed) {
  if (removed.empty()) return;
  const EventId last = page.events.back().id;
  std::erase_if(page.events, [&](const Event& event) { return removed.contains(event.id); });
  if (page.more && !page.scanned_to) page.scanned_to = last;
}

void limit_bytes(EventPage& page, std::size_t most) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < page.events.size(); ++i) {
    bytes += included_bytes(page, page.events[i]);
    if (bytes >= most) return end_page_behind(page, i + 1);
  }
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) { return to_lower(a) == to_lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace eventq
