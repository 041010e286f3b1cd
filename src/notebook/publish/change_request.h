// change_request.h: a change that a caller requests of a notebook, and what the caller is answered.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/engine.h"
#include "eventq/error.h"
#include "eventq/event.h"
#include "notebook/operation.h"

namespace eventq::notebook {

// The comment of a field names the kinds of changes that use it; the others leave it empty.
struct ChangeRequest {
  OperationKind kind{};   // create, update, move, remove; batch_commit: commit pending changes
  std::string path;       // create
  std::int64_t file = 0;  // update, move, remove: the file's or folder's id
  std::string dest_path;  // move
  std::optional<std::string> source_path;  // move: where the caller believes the file to be
  std::optional<std::string> content;      // create, update
  Metadata metadata;                       // create, update
  bool folder = false;                     // create
  // update, move, remove: the versions of which the file must have one, separated by blanks
  std::optional<std::string> if_match;
  std::optional<IdempotencyKey> key;
};

// The stored request: one event. The move or removal of a folder is a group: one event per file, all with the
// same correlation id.
struct Accepted {
  Event event;  // the only event, or the first of the group
  // The id of the file or folder. A create has it before its file exists. 0 for batch_commit.
  std::int64_t file_id = 0;
  // Where the file or folder will be when all earlier changes and this one are applied; for a removal, where
  // it will be removed. Empty for batch_commit.
  std::string path;
  bool group = false;
  std::string correlation_id;  // of a group
  int file_count = 0;          // of a group: the files in the folder
  bool replayed = false;       // the key was used before: this is the first answer again
};

using ChangeReply = std::function<void(Result<Accepted>)>;

}  // namespace eventq::notebook
