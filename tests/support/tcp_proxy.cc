// tcp_proxy.cc: see tcp_proxy.h.
#include "support/tcp_proxy.h"
#include "support/loopback.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/assert.h"

namespace eventq {
namespace {

// PostgreSQL's protocol: a message is a type, its length including these four bytes, and a body. Start-up
// messages have no type.
constexpr std::size_t kLength = 4;
constexpr std::uint32_t kVersion3 = 196608;
constexpr std::string_view kCommitDone{
    "C\0\0\0\x0b"
    "COMMIT",
    12};

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(at, kLength)) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

// The text before the next zero byte; removes both from `body`.
std::string_view take_text(std::string_view& body) {
  const std::size_t end = std::min(body.find('\0'), body.size());
  const std::string_view text = body.substr(0, end);
  body.remove_prefix(std::min(end + 1, body.size()));
  return text;
}

bool commits(std::string_view sql) {
  while (sql.starts_with("--")) sql.remove_prefix(std::min(sql.find('\n'), sql.size() - 1) + 1);
  return sql.starts_with("COMMIT") || sql.starts_with("commit");
}

void send_at_once(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Closes with a reset, so that the peer gets an error instead of an end of file.
void reset(Descriptor& socket) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket.number(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  socket.close();
}

// False when the connection has ended.
bool write_some(int socket, std::string& bytes) {
  const ssize_t size = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  bytes.erase(0, static_cast<std::size_t>(size));
  return true;
}

// The bytes received so far; nothing when the connection has ended.
std::optional<std::string> read_some(int socket) {
  std::array<char, 64 * 1024> block;
  const ssize_t size = recv(socket, block.data(), block.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return "";
  if (size <= 0) return std::nullopt;
  return std::string(block.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::vector<std::string> ClientStream::feed(std::string_view bytes) {
  unread_ += bytes;
  std::vector<std::string> ended;
  while (take_message(ended)) {
  }
  return ended;
}

bool ClientStream::take_message(std::vector<std::string>& ended) {
  const std::size_t type_size = started_ ? 1 : 0;
  if (unread_.size() < type_size + kLength) return false;
  const std::size_t size = type_size + number_at(unread_, type_size);
  if (unread_.size() < size) return false;
  const std::string message = unread_.substr(0, size);
  unread_.erase(0, size);
  const std::string_view body = std::string_view(message).substr(type_size + kLength);
  if (!started_) {
    started_ = number_at(body, 0) == kVersion3;  // otherwise it is an SSLRequest
    return true;
  }
  if (is_commit(message[0], body)) {
    ended.push_back(std::exchange(transaction_text_, {}));
  } else {
    transaction_text_ += body;
  }
  return true;
}

bool ClientStream::is_commit(char type, std::string_view body) {
  if (type == 'Q') return commits(body);
  const std::string name(take_text(body));  // Parse: the statement's; Bind: the portal's
  if (type == 'P' && commits(body)) commits_.insert(name);
  if (type == 'P' && !commits(body)) commits_.erase(name);
  return type == 'B' && commits_.contains(std::string(take_text(body)));
}

TcpProxy::TcpProxy(std::uint16_t target)
    : target_(target),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  sockaddr_in address = loopback_address(0);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  EVENTQ_ASSERT(bind(listener_.number(), name, size) == 0);
  EVENTQ_ASSERT(listen(listener_.number(), 100) == 0);
  EVENTQ_ASSERT(getsockname(listener_.number(), name, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TcpProxy::~TcpProxy() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  wake();
  thread_.join();
}

void TcpProxy::black_hole() {
  const std::scoped_lock lock(mutex_);
  stalled_ = true;
  wake();
}

void TcpProxy::pass() {
  const std::scoped_lock lock(mutex_);
  stalled_ = false;
  wake();
}

void TcpProxy::cut() {
  const std::scoped_lock lock(mutex_);
  for (Pair& pair : pairs_) pair.cut = true;
  stalled_ = false;
  wake();
}

void TcpProxy::cut_at_commit(std::string text, Commit commit) {
  const std::scoped_lock lock(mutex_);
  cut_text_ = std::move(text);
  commit_ = commit;
  was_cut_ = false;
}

bool TcpProxy::was_cut_within(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return was_cut_; });
}

void TcpProxy::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.number(), &one, sizeof one);
}

void TcpProxy::run() {
  while (true) {
    std::vector<pollfd> wanted{{.fd = wake_.number(), .events = POLLIN, .revents = 0}};
    {
      const std::scoped_lock lock(mutex_);
      if (stopped_) return;
      if (!stalled_) accept_new();
      for (Pair& pair : pairs_) {
        if (!stalled_ && !pair.cut) move(pair);
        if (!pair.cut) continue;
        reset(pair.client);
        reset(pair.server);
      }
      pairs_.remove_if([](const Pair& pair) { return pair.cut || pair.ended; });
      if (!stalled_) add_polled(wanted);
    }
    poll(wanted.data(), wanted.size(), -1);
    std::uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t size = read(wake_.number(), &ignored, sizeof ignored);
  }
}

// A side is read when all its earlier bytes have been passed on, and written when bytes for it are waiting.
void TcpProxy::add_polled(std::vector<pollfd>& wanted) const {
  const auto add = [&](const Descriptor& side, const std::string& from, const std::string& to) {
    const int events = (from.empty() ? POLLIN : 0) | (to.empty() ? 0 : POLLOUT);
    wanted.push_back({.fd = side.number(), .events = static_cast<short>(events), .revents = 0});
  };
  wanted.push_back({.fd = listener_.number(), .events = POLLIN, .revents = 0});
  for (const Pair& pair : pairs_) {
    add(pair.client, pair.to_server, pair.to_client);
    add(pair.server, pair.to_client, pair.to_server);
  }
}

void TcpProxy::accept_new() {
  while (true) {
    Descriptor client(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.open()) return;
    Descriptor server(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback_address(target_);
    if (connect(server.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      reset(client);
      continue;
    }
    send_at_once(client.number());
    send_at_once(server.number());
    Pair& pair = pairs_.emplace_back();
    pair.client = std::move(client);
    pair.server = std::move(server);
  }
}

// Passes on the available bytes, as far as both sides accept them.
void TcpProxy::move(Pair& pair) {
  bool client_ended = false;
  bool server_ended = false;
  if (pair.to_server.empty()) client_ended = !read_client(pair);
  if (pair.to_client.empty() && !pair.cut) server_ended = !read_server(pair);
  if (pair.cut) return;
  const bool written =
      write_some(pair.server.number(), pair.to_server) && write_some(pair.client.number(), pair.to_client);
  // A pair ends only when all bytes from the closed side have been passed on.
  pair.ended =
      !written || (client_ended && pair.to_server.empty()) || (server_ended && pair.to_client.empty());
}

bool TcpProxy::read_client(Pair& pair) {
  const auto bytes = read_some(pair.client.number());
  if (!bytes) return false;
  pair.to_server = *bytes;
  for (const std::string& text : pair.stream.feed(*bytes)) {
    if (!cut_text_ || text.find(*cut_text_) == std::string::npos) continue;
    cut_text_.reset();
    if (commit_ == Commit::done) {
      pair.drops_answers = true;
    } else {
      end_at_commit(pair);
    }
  }
  return true;
}

bool TcpProxy::read_server(Pair& pair) {
  const auto bytes = read_some(pair.server.number());
  if (!bytes) return false;
  if (!pair.drops_answers) {
    pair.to_client = *bytes;
    return true;
  }
  pair.dropped += *bytes;
  if (pair.dropped.find(kCommitDone) != std::string::npos) end_at_commit(pair);
  return true;
}

void TcpProxy::end_at_commit(Pair& pair) {
  pair.cut = true;
  was_cut_ = true;
  changed_.notify_all();
}

}  // namespace eventq
