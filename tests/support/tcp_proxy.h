// tcp_proxy.h: a TCP proxy between eventq and PostgreSQL inside the test. It passes bytes, stalls, closes
// connections, or loses the answer to one COMMIT.
//
// Threads: it runs its own; every method may be called from any thread.
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

// Parses the bytes that a client sends to PostgreSQL.
class ClientStream {
 public:
  // Adds bytes. Returns the text of each transaction whose COMMIT they complete.
  std::vector<std::string> feed(std::string_view bytes);

 private:
  bool take_message(std::vector<std::string>& ended);
  bool is_commit(char type, std::string_view body);

  std::string unread_;
  bool started_ = false;           // the start-up message was sent
  std::set<std::string> commits_;  // prepared statements that commit
  std::string transaction_text_;   // the text since the last COMMIT
};

class TcpProxy {
 public:
  // Forwards to 127.0.0.1:`target`. No server need listen there yet.
  explicit TcpProxy(std::uint16_t target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  // No byte moves in either direction and new connections get no answer, as when packets are lost.
  void black_hole();
  // Bytes move again. Bytes sent during black_hole() arrive late, as with TCP.
  void pass();
  // Closes the present connections; new ones pass.
  void cut();

  enum class Commit : std::uint8_t { done, lost };
  // Closes the next connection that commits a transaction containing `text`. `done`: after the COMMIT, so
  // that only its answer is lost. `lost`: before the COMMIT arrives.
  void cut_at_commit(std::string text, Commit commit);
  // Waits for that; false when it has not happened within `limit`.
  bool was_cut_within(std::chrono::milliseconds limit);

 private:
  struct Pair {
    Descriptor client;
    Descriptor server;
    std::string to_server;  // read and not yet written
    std::string to_client;
    ClientStream stream;
    bool drops_answers = false;  // drops the server's answers until the COMMIT is done
    std::string dropped;
    bool cut = false;
    bool ended = false;  // one side closed the connection
  };

  void run();
  void accept_new();
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
  bool stalled_ = false;
  bool stopped_ = false;
  std::optional<std::string> cut_text_;  // the text of the transaction to cut
  Commit commit_ = Commit::done;
  bool was_cut_ = false;
  std::list<Pair> pairs_;

  std::thread thread_;
};

}  // namespace eventq
