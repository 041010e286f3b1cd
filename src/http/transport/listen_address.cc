// listen_address.cc: see listen_address.h.
#include "http/transport/listen_address.h"

#include <arpa/inet.h>

#include "base/numbers.h"

namespace eventq::http {
namespace {

bool is_ipv4(const std::string& host) {
  in_addr bytes{};
  return inet_pton(AF_INET, host.c_str(), &bytes) == 1;
}

bool is_ipv6(const std::string& host) {
  in6_addr bytes{};
  return inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

}  // namespace

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  // The last colon, because an IPv6 address has colons of its own.
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_whole<std::uint16_t>(text.substr(colon + 1));
  if (!port) return std::nullopt;

  // inet_pton() would ignore everything after a NUL.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;

  std::string host(text.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return std::nullopt;
  } else if (host != "localhost" && !is_ipv4(host)) {
    return std::nullopt;
  }
  return ListenAddress{std::move(host), *port};
}

std::string format(const ListenAddress& address) {
  const bool has_colons = address.host.find(':') != std::string::npos;
  const std::string host = has_colons ? "[" + address.host + "]" : address.host;
  return host + ":" + std::to_string(address.port);
}

bool is_loopback(const ListenAddress& address) {
  if (address.host == "localhost") return true;
  if (in6_addr bytes{}; inet_pton(AF_INET6, address.host.c_str(), &bytes) == 1) {
    return IN6_IS_ADDR_LOOPBACK(&bytes);
  }
  return is_ipv4(address.host) && address.host.starts_with("127.");
}

std::string remote_refusal(const ListenAddress& address, std::string_view allowed,
                           std::string_view permission) {
  std::string text = format(address);
  text.append(" can be reached from other machines, and eventq has no authentication yet. Listen on ");
  text.append(allowed).append(", or ").append(permission);
  text.append(" if every machine that can reach it may publish, read and cancel.");
  return text;
}

}  // namespace eventq::http
