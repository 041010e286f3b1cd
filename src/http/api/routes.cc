// routes.cc: see routes.h.
#include "http/api/routes.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "eventq/limits.h"
#include "http/api/handlers.h"

namespace eventq::http {
namespace {

using enum RouteEffect;
using limits::kBatchBody;
using limits::kOneEventBody;

template <Notebooks::Action action>
HandlerResult ask(ApiCall& call) {
  return ask_notebooks(call, action);
}
using Of = Notebooks::Action;

constexpr Route kRoutes[] = {
    {"POST", "/events", publish_event, changes, kOneEventBody},
    {"POST", "/events/batch", publish_batch, changes, kBatchBody},
    {"GET", "/events/subscribe", subscribe_by_query, changes, 0},
    {"POST", "/events/subscribe", subscribe_by_body, changes, kOneEventBody},
    {"POST", "/events/next", take_next, changes, kBatchBody},
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
    {"POST", "/notebooks", ask<Of::add>, changes, kOneEventBody},
    {"GET", "/notebooks", ask<Of::list>, reads, 0},
    {"GET", "/notebooks/{name}", ask<Of::show>, reads, 0},
    {"POST", "/notebooks/{name}/files", ask<Of::create_file>, changes, kOneEventBody},
    {"GET", "/notebooks/{name}/files", ask<Of::list_files>, reads, 0},
    {"GET", "/notebooks/{name}/files/{id}", ask<Of::show_file>, reads, 0},
    {"GET", "/notebooks/{name}/files/{id}/content", ask<Of::read_file>, reads, 0},
    {"PUT", "/notebooks/{name}/files/{id}", ask<Of::update_file>, changes, kOneEventBody},
    {"PATCH", "/notebooks/{name}/files/{id}/move", ask<Of::move_file>, changes, kOneEventBody},
    {"DELETE", "/notebooks/{name}/files/{id}", ask<Of::delete_file>, changes, kOneEventBody},
    {"GET", "/notebooks/{name}/commits", ask<Of::list_commits>, reads, 0},
    {"POST", "/notebooks/{name}/rescan", ask<Of::rescan>, changes, kOneEventBody},
    {"POST", "/events/commit", ask<Of::commit>, changes, kOneEventBody},
    {"GET", "/healthz", show_health, reads, 0},
    {"GET", "/readyz", show_readiness, reads, 0},
    {"GET", "/openapi.json", show_openapi, reads, 0},
    {"GET", "/", show_dashboard, reads, 0},
};

bool is_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct PathParameters {
  std::string_view id;
  std::string_view name;
};

// What stands in `path` for the {id} and the {name} of `pattern`, when it fits.
std::optional<PathParameters> match_path(std::string_view pattern, std::string_view path) {
  PathParameters found;
  while (true) {
    const std::size_t open = std::min(pattern.find('{'), pattern.size());
    if (!path.starts_with(pattern.substr(0, open))) return std::nullopt;
    path.remove_prefix(open);
    pattern.remove_prefix(open);
    if (pattern.empty()) return path.empty() ? std::optional(found) : std::nullopt;
    const bool wants_id = pattern.starts_with("{id}");
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || (wants_id && !is_id(part))) return std::nullopt;
    (wants_id ? found.id : found.name) = part;
    path.remove_prefix(part.size());
    pattern.remove_prefix(pattern.find('}') + 1);
  }
}

// A bit for each method that routes have.
constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

unsigned bit_of(std::string_view method) {
  const auto* found = std::find(std::begin(kMethods), std::end(kMethods), method);
  return 1U << static_cast<unsigned>(found - std::begin(kMethods));
}

std::string names_of(unsigned methods) {
  std::string names;
  for (const std::string_view method : kMethods) {
    if ((methods & bit_of(method)) != 0) names.append(names.empty() ? "" : ", ").append(method);
  }
  return names;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

RouteMatch match(std::string_view method, std::string_view path) {
  unsigned methods = 0;
  for (const Route& route : kRoutes) {
    const auto found = match_path(route.path, path);
    if (!found) continue;
    // A HEAD is a GET that sends no body, so it must not take an event.
    const bool head = method == "HEAD" && route.method == "GET" && route.effect == reads;
    if (route.method == method || head) return {&route, found->id, found->name, {}};
    methods |= bit_of(route.method);
  }
  return {nullptr, {}, {}, names_of(methods)};
}

}  // namespace eventq::http
