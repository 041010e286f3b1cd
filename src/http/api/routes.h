// routes.h: the table of routes, and which of them serves a request.
//
// http has the routes of events, queues and the server itself. A layer above registers its own as an
// ApiExtension, so http need not know that layer. docs/api.md has one section per row, in the order of the
// table, and the OpenAPI document describes exactly these.
//
// Threads: a table never changes, so every method may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/api/call.h"

namespace eventq::http {

enum class RouteEffect : std::uint8_t { reads, changes };

enum class RouteQuery : std::uint8_t {
  handled,   // the handler checks the parameters
  no_query,  // the service refuses a request with a parameter
};

struct Route {
  std::string_view method;
  // May contain one {id} and one {name}, which matches any one segment. {id} matches decimal digits; below
  // /events/ it matches any segment, because an event also has an event_id. {checkpoint} instead of {id}
  // matches any segment.
  std::string_view path;
  Handler handler;
  RouteEffect effect;
  std::size_t body_max;
  RouteQuery query = RouteQuery::handled;
};

// Appends the metrics of a layer to the Prometheus text of GET /metrics. Runs as a handler does.
using AddMetrics = std::function<HandlerResult(Response)>;

// The error when a layer needs the queue, so that it must not be deleted; empty when it may be. Runs as a
// handler does.
using RefuseRemoval = std::function<std::optional<Error>(const std::string& queue)>;

// What a layer above http adds to the API.
struct ApiExtension {
  std::vector<Route> routes;
  AddMetrics add_metrics;             // empty: the layer has none
  RefuseRemoval refuse_removal = {};  // empty: the layer has no queues
};

class RouteTable {
 public:
  explicit RouteTable(ApiExtension extension);

  [[nodiscard]] std::span<const Route> routes() const { return routes_; }

  // `path` is without its query, and may end with one slash. The ranges of the answer are those of `path`. A
  // route without an {id}, and an {id} of digits, win over an event_id, whatever the method.
  [[nodiscard]] RouteMatch match(std::string_view method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

// `path` without one slash at its end. "/" and a path that ends with "//" stay as they are.
[[nodiscard]] std::string_view without_trailing_slash(std::string_view path);

// The methods of RouteMatch::allowed: "GET, POST".
[[nodiscard]] std::string allowed_methods(const RouteMatch& match);

}  // namespace eventq::http
