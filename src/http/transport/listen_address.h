// listen_address.h: parses and formats addresses such as "127.0.0.1:8080".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace eventq::http {

struct ListenAddress {
  std::string host = "127.0.0.1";  // an IPv4 or IPv6 address without brackets, or localhost
  std::uint16_t port = 8080;       // 0: any free port
};

// "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". Other host names are not looked up.
[[nodiscard]] std::optional<ListenAddress> parse_listen_address(std::string_view text);

// The inverse of parse_listen_address().
[[nodiscard]] std::string format(const ListenAddress& address);

// True if only this machine can reach the address.
[[nodiscard]] bool is_loopback(const ListenAddress& address);

// Why a server does not listen on an address that is no loopback address. `allowed` are addresses that it
// takes, and `permission` is what allows others.
[[nodiscard]] std::string remote_refusal(const ListenAddress& address, std::string_view allowed,
                                         std::string_view permission);

}  // namespace eventq::http
