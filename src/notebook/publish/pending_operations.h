// pending_operations.h: the operations of events that have not ended, and the paths that files will have
// after them.
//
// Threads: not thread-safe; the publisher and the worker share one under the mutex of
// SharedPendingOperations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/event.h"
#include "notebook/operation.h"

namespace eventq::notebook {

// Numbers operations in the order in which their events run. An event gets its own id only when it is stored.
enum class OperationTicket : std::uint64_t {};

struct PendingOperation {
  OperationTicket ticket{};
  Operation operation;
  std::string key;     // its supersede_key; empty: none
  bool begun = false;  // a worker has claimed it
  std::optional<EventId> id;
};

class PendingOperations {
 public:
  OperationTicket add(Operation operation, std::string key);
  void name(OperationTicket ticket, EventId id);  // its event was stored with this id
  void drop(OperationTicket ticket);              // its event was not stored, or a combined one replaces it
  void restore(PendingOperation entry);           // the combined one was not stored
  void begin(EventId id);
  void give_back(EventId id);
  void end(EventId id);
  void end_group(const FolderOperation& group);  // all events of the group

  // The last operation that changes the file at `path`; null: none.
  [[nodiscard]] const PendingOperation* last_at(std::string_view path) const;
  // Whether `instead` may replace `entry`: no later operation has a path that overlaps a path of either, and
  // no batch_commit follows.
  [[nodiscard]] bool is_last(const PendingOperation& entry, const Operation& instead) const;

  // A supersede_key for `path` that no pending event uses.
  [[nodiscard]] std::string free_key(const std::string& path) const;

  // Whether a file will exist at `path`; empty: no operation changes that.
  [[nodiscard]] std::optional<bool> exists(std::string_view path) const;
  // A path, or a folder of one, that a pending create or move makes, and that equals `path` if the case of
  // letters is ignored; empty: none.
  [[nodiscard]] std::string path_like(const std::string& path) const;
  // Calls `visit` with the same for each changed path in `folder`, at any depth.
  void each_within(const std::string& folder,
                   const std::function<void(const std::string& path, bool exists)>& visit) const;
  // The path that the file now at `path` will have; empty: it will be deleted.
  [[nodiscard]] std::string future_path(std::string path) const { return path_after(std::move(path), {}); }
  // The pending creation of the file with this id; null: none.
  [[nodiscard]] const PendingOperation* creation_of(std::int64_t file) const;
  // The same for a file that this pending operation creates.
  [[nodiscard]] std::string future_path(const PendingOperation& creation) const {
    return path_after(creation.operation.path, creation.ticket);
  }

 private:
  using Tickets = std::set<OperationTicket>;
  [[nodiscard]] std::string path_after(std::string path, OperationTicket ticket) const;
  [[nodiscard]] bool is_touched_since(const std::string& path, OperationTicket ticket) const;

  std::map<OperationTicket, PendingOperation> entries_;
  std::map<std::string, Tickets, std::less<>> by_path_;
  std::map<EventId, OperationTicket> by_id_;
  std::map<std::int64_t, OperationTicket> by_file_;  // creations, by Operation::file
  std::multiset<std::string, std::less<>> keys_;
  std::multimap<std::string, std::string> by_case_;  // new paths and their folders, by case_folded()
  std::set<OperationTicket> commits_;                // the batch_commits
  std::size_t groups_ = 0;                           // entries that belong to a folder operation
  std::uint64_t last_ = 0;
};

// Shared by the publisher and the worker of a notebook.
struct SharedPendingOperations {
  std::mutex mutex;
  PendingOperations operations;
};

}  // namespace eventq::notebook
