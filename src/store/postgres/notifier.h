// notifier.h: hints between servers by LISTEN and NOTIFY, and whether the database answers at all.
//
// A hint may be lost or come twice; whoever waits looks for himself once a second. Servers know of each
// other: one that begins to listen counts the others and greets them, and one that is alone tells nobody.
//
// Threads: one of its own, on a connection of its own. All methods from any thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq::postgres {

// What may have changed: queues that have ready events, and whether an event ended.
struct Hint {
  std::set<std::string> ready;
  bool all = false;  // too many to name, or hints may have been lost: any queue may have
  bool ended = false;
};

class Notifier {
 public:
  struct Callbacks {
    // From other servers; and `all` whenever it begins to listen, for what it may have missed.
    std::function<void(const Hint&)> on_hint;
    std::function<void(bool up)> on_health;  // when it changes
  };

  // Health: a round trip that is not answered within 1 s means that the database is down. There is one every
  // 500 ms at which anybody cares (see care()), and one every 10 s. Tries to connect again with growing
  // pauses, 0.1 to 1 s.
  Notifier(std::string url, Callbacks callbacks, const Logger& logger);
  ~Notifier();

  // Tells the other servers, soon; what gathers within a few milliseconds goes out as one NOTIFY.
  void tell(const Hint& hint);

  // Commands are under way, so an outage must be noticed soon; or none is. Cheap enough for each of them.
  void care(bool anybody);

  // True until the first attempt to connect failed.
  [[nodiscard]] bool up() const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace eventq::postgres
