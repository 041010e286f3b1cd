// open_engine.h: opens one store as an engine.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "queue/open.h"

namespace eventq {

inline Result<std::unique_ptr<Engine>> open_engine(const std::string& url, const Options& options) {
  return open_engine(std::span(&url, 1), options);
}

}  // namespace eventq
