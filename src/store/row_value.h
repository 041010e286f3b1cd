// row_value.h: the type of value that a function makes of a row.
#pragma once

#include <type_traits>

#include "eventq/error.h"

namespace eventq {

template <typename T>
struct WithoutResult {
  using Type = T;
};
template <typename T>
struct WithoutResult<Result<T>> {
  using Type = T;
};

// `Read` is called with a row and returns the value, or a Result of it.
template <typename Read, typename Row>
using RowValue = typename WithoutResult<std::invoke_result_t<Read, const Row&>>::Type;

}  // namespace eventq
