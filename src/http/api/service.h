// service.h: the API on an engine. It turns requests into commands, and answers into responses.
//
// This folder has the routes, one handler per route, and the rendering of answers. Sockets and HTTP syntax
// are in ../transport, JSON in wire/, and rules about events in model/ and core/. A call passes through it
// like this:
//   1. route() finds the Route when the header is complete;
//   2. on_request() runs the route's handler, which returns a HandlerResult (call.h);
//   3. an EngineWork goes to Engine::submit(), and the answer comes to deliver() on an engine's thread;
//   4. deliver() posts all answers of one commit to the IoThread, which renders and sends them.
//
// Threads: as Service. Only deliver() runs on other threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/engine.h"
#include "eventq/options.h"
#include "http/api/cors.h"
#include "http/api/routes.h"
#include "http/transport/server.h"
#include "model/policy.h"

namespace eventq::http {

// The names that the Host field of a request may have. A server on a loopback address accepts only names of
// this machine, because any other name belongs to a page whose DNS entry was pointed here (DNS rebinding).
enum class Hosts : std::uint8_t { loopback, any };

// REQUIRES: `engine` outlives the service and is stopped before the service is destroyed. `io_threads` is
// that of the server. `defaults` is default_policy() of the engine's options. Handlers of `extension` resolve
// no DeferredResult after the server is destroyed. `origins` outlives the service; null: no page of another
// site may use the API.
std::unique_ptr<Service> make_service(Engine& engine, std::size_t io_threads, const Clock& clock, Hosts hosts,
                                      const Policy& defaults, ApiExtension extension = {},
                                      const AllowedOrigins* origins = nullptr);

}  // namespace eventq::http
