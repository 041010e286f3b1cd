// api_wait.h: the response to a change: accepted, or after a wait for its event, its result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/steady.h"
#include "http/api/call.h"
#include "notebook/notebook.h"
#include "notebook/notebooks.h"

namespace eventq::notebook {

// A change that was sent to the queue, with what its response needs.
struct SubmittedChange {
  Notebooks& notebooks;
  std::shared_ptr<Notebook> notebook;
  OperationKind kind{};
  Millis timeout{0};
  std::string request_id;
  Accepted accepted = {};
  // Set by wait_for().
  SteadyTime deadline = {};
  EventId awaited = {};  // the published event, or the one that superseded it
};

// 202, with the event as it was published.
http::Response respond_accepted(const SubmittedChange& change);

// Waits for the event's end. 201 or 200 with the file, or with the event when the change leaves no file; 409
// when the event failed; 202 when the timeout is over.
http::EngineWork wait_for(SubmittedChange change);

}  // namespace eventq::notebook
