// event_stream.h: parses server-sent events from the bytes of one connection.
//
// Threads: belongs to one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "eventq/error.h"

namespace eventq::client {

class EventStream {
 public:
  // Called with the data of each server-sent event named `event`. Its lines are joined by line feeds.
  using OnEvent = std::function<Result<void>(std::string_view data)>;

  explicit EventStream(OnEvent on_event) : on_event_(std::move(on_event)) {}

  // Parses the next bytes.
  // Errors: the first error of `on_event`; the rest of `piece` is dropped.
  Result<void> feed(std::string_view piece);

 private:
  Result<void> take_line(std::string_view line);

  const OnEvent on_event_;
  std::string line_;  // the line whose end has not arrived yet
  std::string name_;
  std::string data_;
};

}  // namespace eventq::client
