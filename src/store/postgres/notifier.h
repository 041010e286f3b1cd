// notifier.h: hints between servers by LISTEN and NOTIFY, and whether the database answers at all.
//
// A hint may be lost or arrive twice, so a server also polls once a second for its waiting callers. A server
// that starts to listen counts the other listeners and sends them an empty hint. A server without other
// listeners sends no hints.
//
// Threads: owns one thread and one connection. All methods may be called from any thread. Callbacks run on
// the notifier's thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "eventq/clock.h"
#include "eventq/options.h"

namespace eventq::postgres {

// What may have changed in the database. Receivers must check: a hint promises nothing.
struct Hint {
  std::set<std::string> ready;  // queues that may have new ready events
  bool all = false;             // any queue may: there are too many to name, or hints may have been lost
  bool ended = false;           // an event may have ended
};

class Notifier {
 public:
  struct Callbacks {
    // Hints of other servers. Also {all, ended} after each connect, because hints sent before it were missed.
    std::function<void(const Hint&)> on_hint;
    std::function<void(bool up)> on_health;  // called when up() changes
  };

  // The database counts as down when a ping is not answered within 1 s. The notifier pings every 500 ms while
  // answers are expected (see expect_answers()), and every 10 s otherwise. It reconnects after pauses that
  // grow from 0.1 s to 1 s.
  Notifier(std::string url, Callbacks callbacks, const Logger& logger);
  ~Notifier();

  // Sends `hint` to the other servers. Hints of a few milliseconds are merged into one NOTIFY. Never blocks
  // on the network.
  void notify(const Hint& hint);

  // True while commands are under way, so that an outage must be noticed soon. Cheap: called for each
  // command.
  void expect_answers(bool expected);

  // True before the first attempt to connect has ended.
  [[nodiscard]] bool up() const;

 private:
  struct NotifierThread;
  const std::unique_ptr<NotifierThread> thread_;
};

}  // namespace eventq::postgres
