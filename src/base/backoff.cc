// backoff.cc: see backoff.h.
#include "base/backoff.h"

#include <random>

namespace eventq {

Millis random_part(Millis pause) {
  thread_local std::minstd_rand random{std::random_device()()};
  return Millis(std::uniform_int_distribution<Millis::rep>(0, pause.count())(random));
}

}  // namespace eventq
