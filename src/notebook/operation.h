// operation.h: what is to be done to a file, as a value and as the payload of an event.
//
// Payloads are those of the event types: create and update {"path","content","metadata"}, move
// {"source_path","dest_path"}, delete {"path"}, sync {"path","event"}, batch_commit {}. The event's
// pattern says which it is: "file.create" and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"

namespace eventq::wire {
class Fields;
}  // namespace eventq::wire

namespace eventq::notebook {

struct Metadata {
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::string extra;  // JSON object of the other members; empty: none
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// The folder that is moved or deleted as a whole by this and the other events of its correlation id.
struct FolderOperation {
  std::string source;
  std::string dest;  // empty: deleted
  int count = 0;     // events in the group
  friend bool operator==(const FolderOperation&, const FolderOperation&) = default;
};

enum class OperationKind : std::uint8_t { create, update, move, remove, sync, batch_commit };

struct Operation {
  OperationKind kind{};
  std::string path;                      // where the file is afterwards, or was; empty for batch_commit
  std::string source;                    // move, and a sync that saw a rename: where it was before
  std::optional<std::string> content;    // create, update
  Metadata metadata;                     // create, update
  std::string event;                     // sync: "created", "modified", "deleted" or "moved"
  bool folder = false;                   // the path is a folder's: create, move or remove an empty one
  std::optional<FolderOperation> group;  // move, remove
  bool nothing = false;                  // there is nothing left to do: what it would undo was never done
  friend bool operator==(const Operation&, const Operation&) = default;
};

// "file.create", … and back; empty when there is no such pattern.
std::string_view pattern_of(OperationKind kind);
std::optional<OperationKind> kind_of(std::string_view pattern);

// The payload, and the operation in a payload. What is read has been checked: paths by note_path(), members
// by type. Errors: invalid_argument, too_large, as whoever published it should read them.
std::string write_operation(const Operation& operation);
Result<Operation> read_operation(std::string_view pattern, std::string_view payload);

// The member `metadata` of a payload, or of a request.
Metadata read_metadata(wire::Fields& fields);

// The paths whose files it changes: one, or for a move two.
std::vector<std::string> paths_of(const Operation& operation);

// For people: "Create notes/a.md".
std::string title_of(const Operation& operation);

}  // namespace eventq::notebook
