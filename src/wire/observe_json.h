// observe_json.h: metrics of queues and workers as JSON. prometheus.h has the same for Prometheus.
#pragma once

#include <vector>

#include "base/json_writer.h"
#include "model/metrics.h"

namespace eventq::wire {

void write_worker(JsonWriter& json, const ListedWorker& worker);
void write_workers(JsonWriter& json, const std::vector<ListedWorker>& workers);

void write_metrics(JsonWriter& json, const Metrics& metrics);

}  // namespace eventq::wire
