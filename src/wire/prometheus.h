// prometheus.h: metrics in the text format of Prometheus, version 0.0.4.
//
// Never rename a metric, because alerts and dashboards refer to its name. Worker ids and tags are never
// labels, because their number is unbounded.
#pragma once

#include <string>
#include <string_view>

#include "model/metrics.h"

namespace eventq::wire {

inline constexpr std::string_view kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

// `version` is the program's.
std::string write_prometheus(const Metrics& metrics, std::string_view version);

}  // namespace eventq::wire
