// routes.cc: see routes.h.
#include "http/routes.h"

#include <algorithm>
#include <iterator>
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
    {"GET", "/events/stream", stream_events, changes, 0},
    {"POST", "/events/{id}/start", start_event, changes, kOneEventBody},
    {"POST", "/events/{id}/heartbeat", beat_event, changes, kOneEventBody},
    {"POST", "/events/{id}/complete", complete_event, changes, kOneEventBody},
    {"POST", "/events/{id}/fail", fail_event, changes, kOneEventBody},
    {"POST", "/events/{id}/release", release_event, changes, kOneEventBody},
    {"POST", "/events/complete", complete_events, changes, kBatchBody},
    {"POST", "/events/fail", fail_events, changes, kBatchBody},
    {"GET", "/events", list_events, reads, 0},
    {"GET", "/events/{id}", get_event, reads, 0},
    {"GET", "/events/{id}/why", explain_event, reads, 0},
    {"POST", "/events/{id}/reset", reset_event, changes, kOneEventBody},
    {"POST", "/events/{id}/cancel", cancel_event, changes, kOneEventBody},
    // A wait changes nothing, but a page of another site has no business holding one.
    {"POST", "/events/{id}/wait", wait_event, changes, kOneEventBody},
    {"GET", "/events/correlation/{name}", get_correlation, reads, 0},
    {"POST", "/events/correlation/{name}/wait", wait_correlation, changes, kOneEventBody},
    {"GET", "/queues", list_queues, reads, 0},
    {"GET", "/queues/{name}", get_queue, reads, 0},
    {"PUT", "/queues/{name}", put_queue, changes, kOneEventBody},
    {"POST", "/queues/{name}/pause", pause_queue, changes, kOneEventBody},
    {"POST", "/queues/{name}/drain", drain_queue, changes, kOneEventBody},
    {"POST", "/queues/{name}/resume", resume_queue, changes, kOneEventBody},
    {"POST", "/queues/{name}/checkpoint", make_checkpoint, changes, kOneEventBody},
    {"GET", "/queues/{name}/checkpoints", list_checkpoints, reads, 0},
    {"GET", "/queues/{name}/recovery", get_recovery, reads, 0},
    {"POST", "/queues/{name}/replay", replay_queue, changes, kOneEventBody},
    {"POST", "/queues/{name}/supersede", supersede_events, changes, kOneEventBody},
    {"GET", "/workers", list_workers, reads, 0},
    {"GET", "/failures", list_failures, reads, 0},
    {"POST", "/failures/redrive", redrive_failures, changes, kOneEventBody},
    {"GET", "/metrics", show_metrics, reads, 0},
    {"GET", "/healthz", show_health, reads, 0},
    {"GET", "/readyz", show_readiness, reads, 0},
    {"GET", "/openapi.json", show_openapi, reads, 0},
    {"GET", "/", show_dashboard, reads, 0},
};

bool is_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_segment(std::string_view text) { return !text.empty() && text.find('/') == std::string_view::npos; }

struct Found {
  std::string_view id;
  std::string_view name;
};

// What stands in `path` for the {id} or {name} of `pattern`, when it fits.
std::optional<Found> fit(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) return pattern == path ? std::optional(Found{}) : std::nullopt;
  const std::size_t close = pattern.find('}');
  const std::string_view tail = pattern.substr(close + 1);
  if (!path.starts_with(pattern.substr(0, open))) return std::nullopt;
  const std::string_view rest = path.substr(open);
  if (rest.size() <= tail.size() || !rest.ends_with(tail)) return std::nullopt;
  const std::string_view part = rest.substr(0, rest.size() - tail.size());
  if (pattern.substr(open, close + 1 - open) == "{id}") {
    return is_id(part) ? std::optional(Found{.id = part}) : std::nullopt;
  }
  return is_segment(part) ? std::optional(Found{.name = part}) : std::nullopt;
}

// A bit for each method that routes have.
constexpr std::string_view kMethods[] = {"GET", "POST", "PUT"};
constexpr std::string_view kAllowed[] = {
    "", "GET", "POST", "GET, POST", "PUT", "GET, PUT", "POST, PUT", "GET, POST, PUT",
};

unsigned bit_of(std::string_view method) {
  const auto* found = std::find(std::begin(kMethods), std::end(kMethods), method);
  return 1U << static_cast<unsigned>(found - std::begin(kMethods));
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Match match(std::string_view method, std::string_view path) {
  unsigned methods = 0;
  for (const Route& route : kRoutes) {
    const auto found = fit(route.path, path);
    if (!found) continue;
    // A HEAD is a GET that sends no body, so it must not take an event.
    const bool head = method == "HEAD" && route.method == "GET" && route.effect == reads;
    if (route.method == method || head) return {&route, found->id, found->name, route.method};
    methods |= bit_of(route.method);
  }
  return {nullptr, {}, {}, kAllowed[methods]};
}

}  // namespace eventq::http
