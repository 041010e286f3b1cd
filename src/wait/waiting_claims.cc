// waiting_claims.cc: see waiting_claims.h.
#include "wait/waiting_claims.h"

#include <algorithm>

namespace eventq {

using KeyView = ClaimKeys::View;

std::optional<std::pair<WaitingClaims::Position, WaitingClaim>> WaitingClaims::take_first(
    const std::string& queue, const std::vector<std::string>& tags) {
  if (size() == 0) return std::nullopt;
  std::optional<Position> first;
  const auto consider = [&](std::string_view tag) {
    const Positions* found = find(KeyView(false, queue, tag));
    if (found != nullptr) first = std::min(first.value_or(*found->begin()), *found->begin());
  };
  consider("");
  for (const std::string& tag : tags) consider(tag);
  if (!first) return std::nullopt;
  return std::pair(*first, take(*first));
}

std::vector<WaitingClaims::Position> WaitingClaims::positions(const std::string& queue) const {
  Positions positions;  // a claim with several tags is filed several times
  for (auto it = by_key().lower_bound(KeyView(false, queue, "")); it != by_key().end(); ++it) {
    if (std::get<bool>(it->first) || std::get<1>(it->first) != queue) break;
    positions.insert(it->second.begin(), it->second.end());
  }
  return {positions.begin(), positions.end()};
}

std::vector<WaitingClaims::Position> WaitingClaims::held_back(const Holder& holder) const {
  const Positions* found = find(KeyView(true, holder.second, holder.first));
  if (found == nullptr) return {};
  return {found->begin(), found->end()};
}

std::vector<WaitingClaims::Position> WaitingClaims::held_back() const {
  std::vector<Position> positions;
  for (auto it = by_key().lower_bound(KeyView(true, "", "")); it != by_key().end(); ++it) {
    positions.insert(positions.end(), it->second.begin(), it->second.end());
  }
  return positions;
}

std::size_t WaitingClaims::waiting(const std::string& queue, std::string_view tag) const {
  return count(KeyView(false, queue, tag));
}

}  // namespace eventq
