// descriptor_limit.cc: see descriptor_limit.h.
#include "base/descriptor_limit.h"

#include <sys/resource.h>

namespace eventq {

std::size_t descriptor_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  return descriptor_limit();
}

}  // namespace eventq
