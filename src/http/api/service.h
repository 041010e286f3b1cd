// service.h: the API on an engine: requests to commands, answers to responses.
//
// Threads: as Service; answers arrive on the engine's threads and are carried over to
// the request's own, all of one commit in one go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/engine.h"
#include "eventq/options.h"
#include "http/api/routes.h"
#include "http/transport/server.h"
#include "model/policy.h"

namespace eventq::http {

// Which names in the Host field a request may call the server by. A server that only this machine
// reaches is called by a name of this machine; any other comes from a page whose own name was made
// to point here (DNS rebinding).
enum class Hosts : std::uint8_t { loopback, any };

// `engine` must outlive the service, and be stopped before it ends. `io_threads` as the server's;
// `defaults` as the engine's: default_policy() of its options. `notebooks` (null: there are none) must
// outlive the service, and reply to nothing any more when the server ends.
std::unique_ptr<Service> make_service(Engine& engine, std::size_t io_threads, const Clock& clock, Hosts hosts,
                                      const Policy& defaults, Extension extension = {});

}  // namespace eventq::http
