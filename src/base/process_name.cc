// process_name.cc: see process_name.h.
#include "base/process_name.h"

#include <unistd.h>

#include <array>

namespace eventq {

std::string host_name() {
  std::array<char, 256> host{};
  return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

std::string process_name() { return host_name() + ":" + std::to_string(getpid()); }

}  // namespace eventq
