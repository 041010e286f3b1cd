// operation.h: something asked of a queue, as a command for an engine and as a request over HTTP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "command/command.h"
#include "support/http_client.h"

namespace eventq {

struct Operation {
  enum class Kind : std::uint8_t {
    publish,
    publish_batch,
    subscribe,       // answered with one event
    subscribe_many,  // answered with a list
    turn,            // reports, then takes
    report,
    report_many,
    intervene,  // reset or cancel
    why,
    get,
    list,
    configure,
    set_status,  // pause, resume or drain
    checkpoint,
    supersede,
    replay,
    redrive,
    wait_event,
    wait_correlation,
    queue,
    queues,
    checkpoints,
    correlation,
    failures,
  };
  Kind kind{};

  Command command;

  // The same for HTTP.
  std::string method;
  std::string target;
  std::string body;
  HttpHeaders headers;

  // Every system has its own id for the same checkpoint. This is the how manieth that was made by request; it
  // takes the place of kCheckpoint in the command and in the body.
  std::optional<std::size_t> checkpoint;
  static constexpr const char* kCheckpoint = "00000000-0000-7000-8000-000000000000";

  // True when the answer may come later than the next operation.
  [[nodiscard]] bool waits() const { return command.claim && command.claim->wait > Millis(0); }
};

// For whoever reads why a test failed.
std::string describe(const Operation& operation);

}  // namespace eventq
