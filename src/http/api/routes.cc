// routes.cc: see routes.h.
#include "http/api/routes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "eventq/limits.h"
#include "http/api/handlers.h"

namespace eventq::http {
namespace {

using enum RouteEffect;
using enum RouteQuery;
using limits::kBatchBody;
using limits::kOneEventBody;

// Events, queues, workers and failures.
std::vector<Route> event_routes(const RefuseRemoval& refuse_removal) {
  using enum wire::ReportKind;
  const auto delete_unless_refused = [refuse_removal](ApiCall& call) {
    return delete_queue(call, refuse_removal);
  };
  return {
      {"POST", "/events", publish_event, changes, kOneEventBody, no_query},
      {"POST", "/events/batch", publish_batch, changes, kBatchBody, no_query},
      {"GET", "/events/subscribe", subscribe_by_query, changes, 0},
      {"POST", "/events/subscribe", subscribe_by_body, changes, kOneEventBody, no_query},
      {"POST", "/events/next", take_next, changes, kBatchBody, no_query},
      {"GET", "/events/stream", stream_events, changes, 0},
      {"POST", "/events/{id}/start", report_on_one(start), changes, kOneEventBody, no_query},
      {"POST", "/events/{id}/heartbeat", report_on_one(heartbeat), changes, kOneEventBody, no_query},
      {"POST", "/events/{id}/complete", report_on_one(complete), changes, kOneEventBody, no_query},
      {"POST", "/events/{id}/fail", report_on_one(fail), changes, kOneEventBody, no_query},
      {"POST", "/events/{id}/release", report_on_one(release), changes, kOneEventBody, no_query},
      {"POST", "/events/complete", report_on_many(complete), changes, kBatchBody, no_query},
      {"POST", "/events/fail", report_on_many(fail), changes, kBatchBody, no_query},
      {"GET", "/events", list_events, reads, 0},
      {"GET", "/events/{id}", get_event, reads, 0},
      {"GET", "/events/{id}/why", explain_event, reads, 0, no_query},
      {"POST", "/events/{id}/retry", reset_event, changes, kOneEventBody},
      {"POST", "/events/{id}/reset", reset_event, changes, kOneEventBody},
      {"POST", "/events/{id}/cancel", cancel_event, changes, kOneEventBody},
      // A wait changes no event, but it holds a connection: pages of other sites must not start one.
      {"POST", "/events/{id}/wait", wait_event, changes, kOneEventBody},
      {"GET", "/events/correlation/{name}", get_correlation, reads, 0},
      {"POST", "/events/correlation/{name}/wait", wait_correlation, changes, kOneEventBody},
      {"GET", "/queues", list_queues, reads, 0, no_query},
      {"GET", "/queues/{name}", get_queue, reads, 0},
      {"PUT", "/queues/{name}", put_queue, changes, kBatchBody},
      {"PATCH", "/queues/{name}", patch_queue, changes, kOneEventBody},
      {"DELETE", "/queues/{name}", delete_unless_refused, changes, kOneEventBody},
      {"POST", "/queues/{name}/pause", pause_queue, changes, kOneEventBody, no_query},
      {"POST", "/queues/{name}/drain", drain_queue, changes, kOneEventBody},
      {"POST", "/queues/{name}/resume", resume_queue, changes, kOneEventBody, no_query},
      {"POST", "/queues/{name}/checkpoint", make_checkpoint, changes, kOneEventBody},
      {"GET", "/queues/{name}/checkpoints", list_checkpoints, reads, 0},
      {"DELETE", "/queues/{name}/checkpoints/{checkpoint}", delete_checkpoint, changes, kOneEventBody},
      {"GET", "/queues/{name}/recovery", get_recovery, reads, 0, no_query},
      {"POST", "/queues/{name}/replay", replay_queue, changes, kOneEventBody, no_query},
      {"POST", "/queues/{name}/supersede", supersede_events, changes, kOneEventBody, no_query},
      {"GET", "/queues/{name}/log", list_queue_log, reads, 0},
      {"GET", "/workers", list_workers, reads, 0, no_query},
      {"GET", "/workers/{name}", get_worker, reads, 0, no_query},
      {"DELETE", "/workers/{name}", sign_off_worker, changes, 0, no_query},
      {"GET", "/workers/{name}/log", list_worker_log, reads, 0},
      {"GET", "/failures", list_failures, reads, 0},
      {"POST", "/failures/retry", retry_failures, changes, kOneEventBody, no_query},
      {"POST", "/failures/redrive", retry_failures_as_before, changes, kOneEventBody, no_query},
  };
}

// The server itself.
std::vector<Route> server_routes() {
  return {
      {"GET", "/healthz", show_health, reads, 0, no_query},
      {"GET", "/readyz", show_readiness, reads, 0, no_query},
      {"GET", "/openapi.json", show_openapi, reads, 0, no_query},
      {"GET", "/", show_dashboard, reads, 0, no_query},
  };
}

bool is_id(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

struct PathParameters {
  TextRange id;
  TextRange name;
  bool by_event_id = false;  // the {id} is not digits
};

// The values of {id} and {name} of `route` in `path`; empty when the path does not match.
std::optional<PathParameters> match_path(std::string_view route, std::string_view path) {
  std::string_view pattern = route;
  PathParameters found;
  std::size_t position = 0;
  // Each pass matches the text before the next parameter, and then the parameter.
  while (true) {
    const std::size_t open = std::min(pattern.find('{'), pattern.size());
    if (!path.substr(position).starts_with(pattern.substr(0, open))) return std::nullopt;
    position += open;
    pattern.remove_prefix(open);
    if (pattern.empty()) return position == path.size() ? std::optional(found) : std::nullopt;
    const bool wants_id = pattern.starts_with("{id}");
    const bool wants_checkpoint = pattern.starts_with("{checkpoint}");
    const TextRange part{position, std::min(path.find('/', position), path.size()) - position};
    if (part.size == 0) return std::nullopt;
    found.by_event_id |= wants_id && !is_id(part.of(path));
    if (found.by_event_id && !route.starts_with("/events/{id}")) return std::nullopt;
    (wants_id || wants_checkpoint ? found.id : found.name) = part;
    position += part.size;
    pattern.remove_prefix(pattern.find('}') + 1);
  }
}

// Each method of a route has a bit in RouteMatch::allowed: its position here.
constexpr std::string_view kMethods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

unsigned bit_of(std::string_view method) {
  const auto* found = std::find(std::begin(kMethods), std::end(kMethods), method);
  return 1U << static_cast<unsigned>(found - std::begin(kMethods));
}

}  // namespace

// The extension's routes are before those of the server, because the sections of docs/api.md are.
RouteTable::RouteTable(ApiExtension extension) : routes_(event_routes(extension.refuse_removal)) {
  const auto show = [add_metrics = std::move(extension.add_metrics)](ApiCall& call) {
    return show_metrics(call, add_metrics);
  };
  routes_.push_back({"GET", "/metrics", show, reads, 0, no_query});
  const auto overview = [started = steady_now()](ApiCall& call) { return show_overview(call, started); };
  routes_.push_back({"GET", "/overview", overview, reads, 0});
  for (Route& route : extension.routes) routes_.push_back(std::move(route));
  auto last = server_routes();
  for (Route& route : last) routes_.push_back(std::move(route));
}

std::string_view without_trailing_slash(std::string_view path) {
  if (path.size() > 1 && path.ends_with('/') && !path.ends_with("//")) path.remove_suffix(1);
  return path;
}

RouteMatch RouteTable::match(std::string_view method, std::string_view path) const {
  path = without_trailing_slash(path);
  unsigned methods = 0;
  RouteMatch by_event_id;  // used only if no other route has this path
  for (const Route& route : routes_) {
    const auto found = match_path(route.path, path);
    if (!found) continue;
    // The response to HEAD has no body, so a claimed event would be lost: HEAD matches only a GET that reads.
    const bool reads_as_head = method == "HEAD" && route.method == "GET" && route.effect == reads;
    const bool fits = route.method == method || reads_as_head;
    if (!found->by_event_id) {
      if (fits) return {&route, found->id, found->name, 0};
      methods |= bit_of(route.method);
    } else if (!by_event_id.route) {
      if (fits) by_event_id = {&route, found->id, found->name, 0};
      if (!fits) by_event_id.allowed |= bit_of(route.method);
    }
  }
  return methods == 0 ? by_event_id : RouteMatch{nullptr, {}, {}, methods};
}

std::string allowed_methods(const RouteMatch& match) {
  std::string names;
  for (const std::string_view method : kMethods) {
    if ((match.allowed & bit_of(method)) != 0) names.append(names.empty() ? "" : ", ").append(method);
  }
  return names;
}

}  // namespace eventq::http
