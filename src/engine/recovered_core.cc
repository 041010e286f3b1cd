// recovered_core.cc: see recovered_core.h.
#include "engine/recovered_core.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "base/steady.h"
#include "base/time_text.h"
#include "model/policy.h"

namespace eventq {

CoreOptions core_options(const Options& options) {
  return {default_policy(options), options.queues, {options.stale_after, options.start_within}};
}

Result<std::unique_ptr<Core>> recovered_core(Store& store, CoreOptions options, const Logger& logger) {
  auto core = std::make_unique<Core>(store, std::move(options), Uuid7Source::from_entropy());
  const SteadyTime start = steady_now();
  const auto live = core->recover();
  if (!live) return live.error();
  if (logger) {
    logger(LogLevel::info, LogLine("recovered")
                               .add("live_events", std::to_string(*live))
                               .add("took", format_duration(millis_since(start)))
                               .str());
  }
  return core;
}

}  // namespace eventq
