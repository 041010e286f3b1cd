// open.h: opens the URL of a store, or of several, as a running engine.
//
// The folder queue/ puts the layers together: open.cc chooses the store for a URL and starts its engine,
// embedded_queue.h implements the public Queue on an engine. It holds no rules of its own. A call of Queue
// passes through EmbeddedQueue, which validates it and makes a Command, to Engine::call(), which waits for
// the Answer.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/engine.h"
#include "eventq/error.h"
#include "eventq/options.h"

namespace eventq {

// Opens one store, or several `postgres:` URLs as the shards of one queue. Errors: as Queue::open().
// REQUIRES: every server that uses the shards names all of them, in the same order.
Result<std::unique_ptr<Engine>> open_engine(std::span<const std::string> urls, const Options& options);

}  // namespace eventq
