// pending_operations.h: the events of a notebook that have not ended, and what they will make of its files.
//
// Threads: as its user's; the publisher and the worker share one under a mutex.
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
  void name(OperationTicket ticket, EventId id);  // its event was stored under that id
  void drop(OperationTicket ticket);              // it was not, or another takes its place
  void restore(PendingOperation entry);           // that other one was not stored
  void begin(EventId id);
  void give_back(EventId id);
  void end(EventId id);
  void end_group(const FolderOperation& group);  // all of it
  void clear();

  // The last one that changes the file at `path`; null: none does.
  [[nodiscard]] const PendingOperation* last_at(std::string_view path) const;
  // Nothing behind it has to do with what it changes, nor with what `instead` would: no path of theirs is one
  // of these, lies in one or has one in it, and no commit was asked for since.
  [[nodiscard]] bool is_last(const PendingOperation& entry, const Operation& instead) const;

  // A supersede_key for `path` that no event has.
  [[nodiscard]] std::string free_key(const std::string& path) const;

  // Whether there will be a file at `path`; empty: they do not change that.
  [[nodiscard]] std::optional<bool> exists(std::string_view path) const;
  // The same for all paths in `folder`, at any depth.
  void each_within(const std::string& folder,
                   const std::function<void(const std::string& path, bool exists)>& visit) const;
  // Where what is at `path` now will be; empty: nowhere.
  [[nodiscard]] std::string future_path(std::string path) const;

 private:
  using Tickets = std::set<OperationTicket>;
  void insert(PendingOperation entry);
  [[nodiscard]] bool is_touched_since(const std::string& path, OperationTicket ticket) const;

  std::map<OperationTicket, PendingOperation> entries_;
  std::map<std::string, Tickets, std::less<>> by_path_;
  std::map<EventId, OperationTicket> by_id_;
  std::multiset<std::string, std::less<>> keys_;
  std::set<OperationTicket> commits_;  // those that are a batch_commit
  std::size_t groups_ = 0;             // entries that belong to one
  std::uint64_t last_ = 0;
};

// Shared by the publisher and the worker of a notebook.
struct SharedPendingOperations {
  std::mutex mutex;
  PendingOperations operations;
};

}  // namespace eventq::notebook
