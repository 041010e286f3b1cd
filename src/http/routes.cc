// routes.cc: see routes.h.
#include "http/routes.h"

#include <algorithm>
#include <optional>

#include "eventq/limits.h"
#include "http/handlers.h"

namespace eventq::http {
namespace {

using enum Route::Effect;
using limits::kBatchBody;
using limits::kOneEventBody;

constexpr Route kRoutes[] = {
    {"POST", "/events", publish_event, changes, kOneEventBody},
    {"POST", "/events/batch", publish_batch, changes, kBatchBody},
    {"GET", "/events/subscribe", subscribe_by_query, changes, 0},
    {"POST", "/events/subscribe", subscribe_by_body, changes, kOneEventBody},
    {"POST", "/events/next", take_turn, changes, kBatchBody},
    {"POST", "/events/{id}/start", start_event, changes, kOneEventBody},
    {"POST", "/events/{id}/heartbeat", beat_event, changes, kOneEventBody},
    {"POST", "/events/{id}/complete", complete_event, changes, kOneEventBody},
    {"POST", "/events/{id}/fail", fail_event, changes, kOneEventBody},
    {"POST", "/events/complete", complete_events, changes, kBatchBody},
    {"POST", "/events/fail", fail_events, changes, kBatchBody},
    {"GET", "/events", list_events, reads, 0},
    {"GET", "/events/{id}", get_event, reads, 0},
    {"GET", "/events/{id}/why", explain_event, reads, 0},
    {"POST", "/events/{id}/reset", reset_event, changes, kOneEventBody},
    {"POST", "/events/{id}/cancel", cancel_event, changes, kOneEventBody},
    {"GET", "/healthz", show_health, reads, 0},
    {"GET", "/readyz", show_readiness, reads, 0},
    {"GET", "/openapi.json", show_openapi, reads, 0},
    {"GET", "/", show_dashboard, reads, 0},
};

bool is_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The id in `path` when it fits `pattern`; empty for a pattern without one.
std::optional<std::string_view> fit(std::string_view pattern, std::string_view path) {
  constexpr std::string_view kId = "{id}";
  const std::size_t place = pattern.find(kId);
  if (place == std::string_view::npos) {
    return pattern == path ? std::optional<std::string_view>("") : std::nullopt;
  }
  const std::string_view tail = pattern.substr(place + kId.size());
  if (!path.starts_with(pattern.substr(0, place))) return std::nullopt;
  const std::string_view rest = path.substr(place);
  if (rest.size() <= tail.size() || !rest.ends_with(tail)) return std::nullopt;
  const std::string_view id = rest.substr(0, rest.size() - tail.size());
  return is_id(id) ? std::optional(id) : std::nullopt;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Match match(std::string_view method, std::string_view path) {
  Match found;
  for (const Route& route : kRoutes) {
    const auto id = fit(route.path, path);
    if (!id) continue;
    // A HEAD is a GET that sends no body, so it must not take an event.
    const bool head = method == "HEAD" && route.method == "GET" && route.effect == reads;
    if (route.method == method || head) return {&route, *id, route.method};
    found.allowed = found.allowed.empty() || found.allowed == route.method ? route.method : "GET, POST";
  }
  return found;
}

}  // namespace eventq::http
