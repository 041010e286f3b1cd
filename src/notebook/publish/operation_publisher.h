// operation_publisher.h: turns requested changes into events: checks them, combines them with pending
// operations, stores them.
//
// publish/ decides which events the queue gets. It changes no file: the worker and apply/ do that later.
//
// Threads: an OperationPublisher belongs to one thread at a time. It shares the PendingOperations with the
// worker. The worker holds their mutex while it claims, the publisher while it stores, so the publisher only
// combines with events that no worker has claimed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "eventq/error.h"
#include "notebook/operation.h"
#include "notebook/publish/change_request.h"
#include "notebook/publish/pending_operations.h"
#include "notebook/state/notebook_state.h"

namespace eventq::notebook {

class OperationPublisher {
 public:
  // `portable`: refuse names that other systems cannot hold.
  OperationPublisher(Engine& engine, std::string queue, NotebookState state, std::int64_t notebook,
                     SharedPendingOperations& pending_operations, bool portable)
      : engine_(engine),
        queue_(std::move(queue)),
        state_(std::move(state)),
        notebook_(notebook),
        pending_operations_(pending_operations),
        portable_(portable) {}

  // Stores all submissions in one commit of the queue, then calls their replies in order.
  struct ChangeSubmission {
    ChangeRequest request;
    ChangeReply reply;
  };
  void publish(std::vector<ChangeSubmission> submissions);

  // Stores detected changes, in batches of which each is atomic. Errors: those of the queue.
  Result<void> publish(const std::vector<Operation>& syncs);

  // Fills the PendingOperations from the queue. REQUIRES: they are empty. Errors: those of the queue.
  Result<void> load();

 private:
  // One publication before it is stored.
  struct Draft {
    std::vector<NewEvent> events;
    std::vector<OperationTicket> tickets;
    std::vector<PendingOperation> replaced;  // the pending operations that it replaces, if it is stored
    Accepted accepted;                       // without its event
    bool reserves = false;                   // accepted.file_id is not on disk yet
    std::optional<Error> refused;
    bool is_replay = false;  // `accepted` is complete, and nothing is stored
  };
  void publish_together(std::span<ChangeSubmission> submissions);
  Draft draft(const ChangeRequest& request);
  Draft draft_new(const ChangeRequest& request);
  Result<std::optional<Accepted>> first_answer(const ChangeRequest& request);
  Result<Operation> operation_of(const ChangeRequest& request);
  Result<Operation> creation_of(const ChangeRequest& request, Operation operation);
  struct TargetFile {
    std::string path;  // after all pending operations
    bool folder = false;
    std::string version;  // now; empty: the file does not exist yet
  };
  Result<TargetFile> target_of(std::int64_t file);
  Result<std::int64_t> reserve_file();
  void store_reserved(std::vector<Draft>& drafts);
  Result<void> draft_group(Operation operation, Draft& draft);
  void take_back(const Draft& draft);
  void drop_ended(const std::string& path);
  Result<std::vector<std::string>> files_within(const std::string& folder);
  void add(Operation operation, Draft& draft);
  bool add_combined(const Operation& later, const std::string& begins_at, Draft& draft);
  Result<void> check_free(const std::string& path, const std::string& field);
  Result<void> check_portable(const Operation& operation, const std::string& field);
  Result<Accepted> settle(Draft& draft, Answer answer);
  Result<void> load_one(EventId id, Status status);

  Engine& engine_;
  std::string queue_;
  NotebookState state_;
  std::int64_t notebook_;
  SharedPendingOperations& pending_operations_;
  const bool portable_;
  bool reserves_ = false;  // ids were reserved in a transaction that is still open
};

}  // namespace eventq::notebook
