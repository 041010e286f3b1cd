// operation.h: something asked of a queue, as a command for an engine and as a request over HTTP.
#pragma once

#include <cstdint>
#include <string>

#include "queue/command.h"
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
  };
  Kind kind{};

  Command command;

  // The same for HTTP.
  std::string method;
  std::string target;
  std::string body;
  HttpHeaders headers;

  // True when the answer may come later than the next operation.
  [[nodiscard]] bool waits() const { return command.claim && command.claim->wait > Millis(0); }
};

// For whoever reads why a test failed.
std::string describe(const Operation& operation);

}  // namespace eventq
