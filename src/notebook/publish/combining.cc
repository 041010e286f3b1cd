// combining.cc: see combining.h.
#include "notebook/publish/combining.h"

#include <utility>

#include "base/assert.h"
#include "notebook/files/note_path.h"

namespace eventq::notebook {
namespace {

using Kind = OperationKind;

// Never combined with anything.
bool stands_alone(const Operation& operation) {
  const bool saw_rename = operation.kind == Kind::sync && !operation.source.empty();
  return operation.kind == Kind::batch_commit || operation.folder || operation.group || saw_rename ||
         !operation.if_match.empty();
}

// `earlier` with the members that `later` sets.
Operation updated(Operation earlier, const Operation& later) {
  if (later.content) earlier.content = later.content;
  earlier.metadata.update(later.metadata);
  return earlier;
}

// `later` would undo a change that was never made, so the event that carries it has no effect.
Operation nothing_of(Operation later) {
  later.nothing = true;
  return later;
}

std::optional<Operation> after_create(Operation earlier, const Operation& later) {
  switch (later.kind) {
    case Kind::update: return updated(std::move(earlier), later);
    case Kind::move: earlier.path = later.path; return earlier;
    case Kind::remove: return nothing_of(later);
    default: return std::nullopt;
  }
}

std::optional<Operation> after_update(Operation earlier, const Operation& later) {
  switch (later.kind) {
    case Kind::update: return updated(std::move(earlier), later);
    case Kind::remove: return later;
    default: return std::nullopt;
  }
}

std::optional<Operation> after_move(Operation earlier, Operation later) {
  switch (later.kind) {
    case Kind::move:
      if (later.path == earlier.source) return nothing_of(std::move(later));
      if (overlap(later.path, earlier.source)) return std::nullopt;
      earlier.path = later.path;
      return earlier;
    case Kind::remove: later.path = earlier.source; return later;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<Operation> combine(const Operation& earlier, const Operation& later) {
  if (stands_alone(earlier) || stands_alone(later) || later.nothing) return std::nullopt;
  EVENTQ_ASSERT((later.kind == Kind::move ? later.source : later.path) == earlier.path);

  if (earlier.nothing) return later.kind == Kind::create ? std::optional(later) : std::nullopt;
  switch (earlier.kind) {
    case Kind::create: return after_create(earlier, later);
    case Kind::update: return after_update(earlier, later);
    case Kind::move: return after_move(earlier, later);
    case Kind::sync: return later.kind == Kind::sync ? std::optional(later) : std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace eventq::notebook
