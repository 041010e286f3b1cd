// cors.cc: see cors.h.
#include "http/api/cors.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "base/numbers.h"

namespace eventq::http {
namespace {

// A page can read these fields of an answer only if they are named.
constexpr std::string_view kExposed =
    "Allow, Content-Disposition, ETag, Eventq-Backpressure, Idempotency-Replayed, Location, "
    "Preference-Applied, Retry-After, X-Request-Id";

bool is_origin_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
}

bool is_origin_host(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return host.find_first_not_of("0123456789abcdef:.", 1) == host.size() - 1;
  }
  return !host.empty() && std::all_of(host.begin(), host.end(), is_origin_char);
}

bool is_origin_port(std::string_view text, std::string_view of_scheme) {
  const auto port = parse_whole<std::uint16_t>(text);
  return port && *port > 0 && text.front() != '0' && text != of_scheme;
}

}  // namespace

void AllowedOrigins::set(std::vector<std::string> origins) {
  const std::scoped_lock lock(mutex_);
  origins_ = std::move(origins);
  empty_ = origins_.empty();
}

bool AllowedOrigins::contains(std::string_view origin) const {
  const std::scoped_lock lock(mutex_);
  return std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

bool is_origin(std::string_view text) {
  const bool secure = text.starts_with("https://");
  if (!secure && !text.starts_with("http://")) return false;
  text.remove_prefix(secure ? 8 : 7);
  // The colons of an IPv6 address are inside brackets.
  const std::size_t colon = text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  if (!is_origin_host(text.substr(0, colon))) return false;
  return colon == std::string_view::npos || is_origin_port(text.substr(colon + 1), secure ? "443" : "80");
}

bool is_preflight(const Request& request) {
  return request.method == "OPTIONS" && !request.headers.origin.empty() &&
         !request.headers.access_control_request_method.empty();
}

Response preflight_response() {
  Response response;
  response.status = 204;
  response.headers.emplace_back("Access-Control-Allow-Methods", "DELETE, GET, HEAD, PATCH, POST, PUT");
  // A star does not include Authorization, which a proxy in front of the server may need.
  response.headers.emplace_back("Access-Control-Allow-Headers", "*, Authorization");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

void add_cors_fields(Response& response, const std::string& origin) {
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Access-Control-Expose-Headers", kExposed);
}

}  // namespace eventq::http
