// operation.h: one request to a queue, as a command for an engine and as an HTTP request.
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
    turn,            // reports, then claims
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
    retry_failed,
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

  // The same request over HTTP.
  std::string method;
  std::string target;
  std::string body;
  HttpHeaders headers;

  // The index, among the checkpoints made by request, of the one that replaces kCheckpoint in the command and
  // in the body. Every system has its own id for the same checkpoint.
  std::optional<std::size_t> checkpoint;
  static constexpr const char* kCheckpoint = "00000000-0000-7000-8000-000000000000";

  // True when the answer may come later than the next operation.
  [[nodiscard]] bool waits() const { return command.claim && command.claim->wait > Millis(0); }
};

// For the message of a failed test.
std::string describe(const Operation& operation);

}  // namespace eventq
