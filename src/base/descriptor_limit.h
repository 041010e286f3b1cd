// descriptor_limit.h: the limit on open files of this process.
#pragma once

#include <cstddef>

namespace eventq {

// The soft limit.
[[nodiscard]] std::size_t descriptor_limit();

// Raises the soft limit to the hard limit, and returns it. The usual soft limit of 1024 protects programs
// that use select(), which eventq does not.
std::size_t raise_descriptor_limit();

}  // namespace eventq
