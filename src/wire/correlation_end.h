// correlation_end.h: the payload of an on_complete event that was given without one.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/query.h"

namespace eventq::wire {

// {"correlation_id", "total", "completed", "failed", "results": [{"id", "event_id", "status", "result"}],
// "results_complete"}, of at most `bytes` bytes. `results` are the first of `ends` that fit.
// `results_complete` is false when events of the correlation are missing there.
std::string write_correlation_end(const Correlation& totals, std::span<const CorrelatedEnd> ends,
                                  std::size_t bytes);

}  // namespace eventq::wire
