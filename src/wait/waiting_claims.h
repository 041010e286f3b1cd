// waiting_claims.h: long polls that found nothing yet, served in the order of their arrival per tag.
//
// The core uses it: the commit that makes an event ready serves the claims that wait for it. Between commits
// no claim in the list matches a ready event, except claims that are held back by their window.
//
// Pure bookkeeping: no threads, no clock.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "command/envelope.h"
#include "wait/wait_list.h"

namespace eventq {

struct WaitingClaim {
  ReplyTo reply_to;
  ClaimRequest request;
  TimePoint deadline;
  Answer answer;           // to the other parts of the command; sent together with the claims
  bool held_back = false;  // its worker holds as many events as its window allows
};

// Whose events of which queue are counted: worker_id, queue.
using Holder = std::pair<std::string, std::string>;

// A claim waits for each of its tags, or for the empty tag, which stands for any event of the queue. A claim
// that is held back waits for its worker instead.
struct ClaimKeys {
  using Key = std::tuple<bool, std::string, std::string>;  // held back; queue; tag, or worker_id if held back
  using View = std::tuple<bool, std::string_view, std::string_view>;

  // Compares keys and views. Not std::less<>: clang 14 cannot compare tuples of different types.
  struct KeyLess {
    using is_transparent = void;
    static View view(const Key& key) { return {std::get<0>(key), std::get<1>(key), std::get<2>(key)}; }
    static const View& view(const View& key) { return key; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };

  template <typename Visit>
  static void each(const WaitingClaim& claim, const Visit& visit) {
    const Selector& selector = claim.request.selector;
    if (claim.held_back) return visit(View(true, selector.queue, claim.request.worker_id));
    if (selector.tags.empty()) return visit(View(false, selector.queue, ""));
    for (const std::string& tag : selector.tags) visit(View(false, selector.queue, tag));
  }
};

class WaitingClaims : public WaitList<WaitingClaim, ClaimKeys> {
 public:
  // Takes out the claim that arrived first among those an event of this queue and these tags would serve, and
  // that are not held back.
  std::optional<std::pair<Position, WaitingClaim>> take_first(const std::string& queue,
                                                              const std::vector<std::string>& tags);

  // Claims for a queue that are not held back, in the order of arrival.
  [[nodiscard]] std::vector<Position> positions(const std::string& queue) const;
  // Claims that are held back: of one holder, or all.
  [[nodiscard]] std::vector<Position> held_back(const Holder& holder) const;
  [[nodiscard]] std::vector<Position> held_back() const;

  // How many claims wait for this tag and are not held back; the empty tag counts those without tags.
  [[nodiscard]] std::size_t waiting(const std::string& queue, std::string_view tag) const;
};

}  // namespace eventq
