// opening.cc: see opening.h.
#include "engine/opening.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/steady.h"
#include "base/time_text.h"
#include "model/policy.h"

namespace eventq {

CoreOptions core_options(const Options& options) {
  return {default_policy(options), options.queues, options.stale_after, options.start_within};
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

std::optional<Error> check_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed && std::filesystem::is_directory(folder, failed) && access(folder.c_str(), W_OK | X_OK) == 0) {
    return std::nullopt;
  }
  return Error{ErrorCode::invalid_argument,
               "archive_dir is " + folder + ", which is no folder that can be written to. Name another one.",
               "archive_dir"};
}

}  // namespace eventq
