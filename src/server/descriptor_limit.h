// descriptor_limit.h: how many files this process may have open.
#pragma once

#include <cstddef>

namespace eventq::server {

// The soft limit: what is allowed now.
[[nodiscard]] std::size_t descriptor_limit();

// Raises it to the hard one: the usual 1024 is there for programs that use select(). Returns what is allowed
// then.
std::size_t raise_descriptor_limit();

}  // namespace eventq::server
