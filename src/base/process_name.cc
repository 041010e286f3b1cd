// process_name.cc: see process_name.h.
#include "base/process_name.h"

#include <unistd.h>

#include <array>

namespace eventq {

std::string process_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return "localhost:" + std::to_string(getpid());
  return std::string(host.data()) + ":" + std::to_string(getpid());
}

}  // namespace eventq
