// combining.h: two operations in a row on one file, of which none has been begun: what they mean together.
// Pure.
//
//   earlier \ later  update          move b→c         delete       sync   create
//   create           create, newest  create at c      nothing      -      -
//   update           the last        -                delete       -      -
//   move a→b         -               move a→c, or     delete a     -      -
//                                    nothing if c = a
//   delete           -               -                -            -      -
//   sync             -               -                -            sync   -
//   nothing          (a file that never was: as if there were no earlier one)   create
//
//   "-": both stay, in their order. So do all of a folder's operation, a folder itself, a sync that saw a
//   rename, and moves of which c lies in a or a in c: no file can go there in one step.
#pragma once

#include <optional>

#include "notebook/operation.h"

namespace eventq::notebook {

// The one operation to be done instead of both; empty: both stay.
// REQUIRES: `later` begins where `earlier` ends: later.source of a move, later.path of all others, is
// earlier.path.
std::optional<Operation> combine(const Operation& earlier, const Operation& later);

}  // namespace eventq::notebook
