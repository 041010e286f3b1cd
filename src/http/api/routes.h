// routes.h: the whole HTTP surface. docs/api.md has one section per row, in this order, and
// the OpenAPI document describes exactly these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/api/call.h"

namespace eventq::http {

enum class RouteEffect : std::uint8_t { reads, changes };

struct Route {
  std::string_view method;
  // May hold one {id}, which only decimal digits match, and one {name}, which any one segment matches.
  std::string_view path;
  Handler handler;
  RouteEffect effect;
  std::size_t body_max;
};

std::span<const Route> routes();

struct RouteMatch {
  const Route* route = nullptr;  // null: no such path, or not with this method
  std::string_view id;
  std::string_view name;  // as sent
  std::string allowed;    // of a path that is there, but not with this method: its methods, "GET, POST"
};

RouteMatch match(std::string_view method, std::string_view path);

}  // namespace eventq::http
