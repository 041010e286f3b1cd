// observe_json.h: how queues and workers are doing, as JSON. prometheus.h says the same to a scraper.
#pragma once

#include <vector>

#include "base/json_writer.h"
#include "model/metrics.h"

namespace eventq::wire {

void write_workers(JsonWriter& json, const std::vector<WorkerState>& workers);

void write_metrics(JsonWriter& json, const Metrics& metrics);

}  // namespace eventq::wire
