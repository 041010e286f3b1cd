// operation.h: one operation on a file, as a value and as the payload of an event.
//
// Payloads by event type: create and update {"path","content","metadata"}, move
// {"source_path","dest_path"}, delete {"path"}, sync {"path","event"}, batch_commit {}. The event's pattern
// names the type: "file.create" and so on. An event of another publisher may have "create" and so on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eventq/error.h"
#include "eventq/event.h"

namespace eventq::wire {
class Fields;
}  // namespace eventq::wire

namespace eventq::notebook {

struct Metadata {
  std::optional<std::string> title;
  std::optional<std::string> description;
  std::string extra;  // JSON object of the other members; empty: none
  friend bool operator==(const Metadata&, const Metadata&) = default;

  void update(const Metadata& given);  // replaces what `given` has
};

// A move or deletion of a whole folder: this event and the others with its correlation id.
struct FolderOperation {
  std::string source;
  std::string dest;  // empty: deleted
  int count = 0;     // events in the group
  friend bool operator==(const FolderOperation&, const FolderOperation&) = default;
};

enum class OperationKind : std::uint8_t { create, update, move, remove, sync, batch_commit };

struct Operation {
  OperationKind kind{};
  std::string path;    // the path afterwards; of a removed file the path before; empty for batch_commit
  std::string source;  // move, and a sync that saw a rename: the path before
  std::optional<std::string> content;    // create, update
  Metadata metadata;                     // create, update
  std::string event;                     // sync: "created", "modified", "deleted" or "moved"
  std::int64_t file = 0;                 // create: the id that was promised; 0: none. Not in the payload
  bool folder = false;                   // `path` is a folder: create, move or remove an empty one
  std::optional<FolderOperation> group;  // move, remove
  // update, move, remove: the versions of which the file must have one, separated by blanks; of a group, the
  // folder. Empty: any version.
  std::string if_match;
  bool nothing = false;  // combined to no effect: the change that it would undo was never made
  friend bool operator==(const Operation&, const Operation&) = default;
};

// "file.create", … and back, also from "create", …; empty when there is no such pattern.
std::string_view pattern_of(OperationKind kind);
std::optional<OperationKind> kind_of(std::string_view pattern);

// The payload, and the operation in a payload. read_operation() checks paths with requested_path() and
// members by type. Errors: invalid_argument, too_large; the message is for the publisher of the event.
std::string write_operation(const Operation& operation);
Result<Operation> read_operation(std::string_view pattern, std::string_view payload);

// The same for an event. The id of a file that will be created is the event's source, because the payload
// may be as large as content can be.
Source source_of(const Operation& operation);
Result<Operation> operation_of(const Event& event);

// Reads the member `metadata` of a payload or a request.
Metadata read_metadata(wire::Fields& fields);

// The paths that the operation changes: one, or two for a move.
std::vector<std::string> paths_of(const Operation& operation);

// The title of the event: "Create notes/a.md".
std::string title_of(const Operation& operation);

}  // namespace eventq::notebook
