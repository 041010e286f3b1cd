// operation_publisher.h: changes that somebody asks for, as events: checked, combined with what has not
// begun, stored.
//
// Threads: a OperationPublisher belongs to one thread at a time, but for the PendingOperations it shares with
// the worker under its mutex. The worker holds the mutex while it takes events, the publisher while it stores
// them: so what is combined has not begun.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/error.h"
#include "notebook/notebook.h"
#include "notebook/operation.h"
#include "notebook/pending_operations.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

class OperationPublisher {
 public:
  OperationPublisher(Engine& engine, std::string queue, NotebookState state, std::int64_t notebook,
                     SharedPendingOperations& pending_operations)
      : engine_(engine),
        queue_(std::move(queue)),
        state_(std::move(state)),
        notebook_(notebook),
        pending_operations_(pending_operations) {}

  // Stores them all in one go; a reply each, in order, after the commit.
  struct Submission {
    ChangeRequest request;
    Notebook::Reply reply;
  };
  void publish(std::vector<Submission> submissions);

  // What others did; in pieces, each all or nothing. Errors: what the queue answers.
  Result<void> publish(const std::vector<Operation>& syncs);

  // Fills PendingOperations from what the queue has. Errors: what the queue answers.
  Result<void> load();

 private:
  // One publication on its way.
  struct Draft {
    std::vector<NewEvent> events;
    std::vector<OperationTicket> tickets;
    std::vector<PendingOperation> replaced;  // what it takes the place of, if it is stored
    std::string path;
    bool group = false;
    int file_count = 0;
    std::optional<Error> refused;
  };
  Draft draft(const ChangeRequest& request);
  Result<Operation> operation_of(const ChangeRequest& request);
  Result<void> draft_group(Operation operation, Draft& draft);
  void take_back(const Draft& draft);
  void drop_ended(const std::string& path);
  Result<std::vector<std::string>> files_within(const std::string& folder);
  void add(Operation operation, Draft& draft);
  [[nodiscard]] Result<bool> is_taken(const std::string& path);
  Result<Accepted> settle(const Draft& draft, Answer answer);
  Result<void> load_one(EventId id, Status status);

  Engine& engine_;
  std::string queue_;
  NotebookState state_;
  std::int64_t notebook_;
  SharedPendingOperations& pending_operations_;
};

}  // namespace eventq::notebook
