// tcp_proxy.h: the network between eventq and PostgreSQL, inside the test: it passes, stands still, breaks,
// or loses the answer to one COMMIT.
//
// Threads: one of its own; every method from any thread.
#pragma once

#include <poll.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.h"

namespace eventq {

// What a client of PostgreSQL says, read along.
class ClientStream {
 public:
  // Adds bytes. What was said in each transaction whose COMMIT is complete with them.
  std::vector<std::string> feed(std::string_view bytes);

 private:
  bool take_message(std::vector<std::string>& ended);
  bool is_commit(char type, std::string_view body);

  std::string unread_;
  bool started_ = false;           // the start-up message was sent
  std::set<std::string> commits_;  // prepared statements that commit
  std::string said_;               // since the last COMMIT
};

class TcpProxy {
 public:
  // To 127.0.0.1:`target`; nobody need listen there yet.
  explicit TcpProxy(std::uint16_t target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  // Nothing moves in either direction, and connections that are made are never answered, as when packets are
  // lost.
  void black_hole();
  // All moves again. What was sent into the black hole arrives late, as TCP would have it.
  void pass();
  // Ends the connections there are; new ones pass.
  void cut();

  enum class Commit : std::uint8_t { done, lost };
  // Cuts the next connection that commits a transaction in which `text` was sent: once the COMMIT was done,
  // so that only its answer is lost, or before it arrives.
  void cut_at_commit(std::string text, Commit commit);
  // Whether that has happened; waits for it.
  bool was_cut_within(std::chrono::milliseconds limit);

 private:
  struct Pair {
    Descriptor client;
    Descriptor server;
    std::string to_server;  // read and not yet written
    std::string to_client;
    ClientStream said;
    bool swallowing = false;  // what the server answers, until its COMMIT is done
    std::string swallowed;
    bool cut = false;
    bool ended = false;  // by one of its sides
  };

  void run();
  void take_new();
  void move(Pair& pair);
  bool read_client(Pair& pair);  // false when that side has ended
  bool read_server(Pair& pair);
  void end_at_commit(Pair& pair);
  void add_polled(std::vector<pollfd>& wanted) const;
  void wake() const;

  const std::uint16_t target_;
  std::uint16_t port_ = 0;
  Descriptor listener_;
  Descriptor wake_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool still_ = false;
  bool stopped_ = false;
  std::optional<std::string> wanted_;  // in the transaction whose COMMIT is cut
  Commit commit_ = Commit::done;
  bool was_cut_ = false;
  std::list<Pair> pairs_;

  std::thread thread_;
};

}  // namespace eventq
