// overloaded.h: combines several lambdas into one visitor for std::visit.
#pragma once

namespace eventq {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace eventq
