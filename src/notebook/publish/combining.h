// combining.h: combines two pending operations in a row on one file into one. Pure.
//
//   earlier \ later  update          move b→c         delete       sync   create
//   create           create, newest  create at c      nothing      -      -
//   update           the last        -                delete       -      -
//   move a→b         -               move a→c, or     delete a     -      -
//                                    nothing if c = a
//   delete           -               -                -            -      -
//   sync             -               -                -            sync   -
//   nothing          (the file was never created: as without an earlier one) create
//
//   "-": both stay, in their order. Never combined are: operations of a folder group, operations on a folder,
//   operations with an if_match, whose version the other one would change, a sync that saw a rename, and
//   moves where c lies in a or a in c, because no single rename does that.
#pragma once

#include <optional>

#include "notebook/operation.h"

namespace eventq::notebook {

// The operation that replaces both; empty: both stay.
// REQUIRES: `later` starts at the path where `earlier` ends: later.source of a move, else later.path, equals
// earlier.path.
std::optional<Operation> combine(const Operation& earlier, const Operation& later);

}  // namespace eventq::notebook
