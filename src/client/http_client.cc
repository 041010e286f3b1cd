// http_client.cc: see http_client.h.
#include "client/http_client.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cctype>
#include <mutex>
#include <optional>

#include "base/numbers.h"
#include "client/socket.h"

namespace eventq::client {
namespace {

namespace http = boost::beast::http;

// A larger answer is refused, so that a bad server cannot use up this process's memory.
constexpr std::uint64_t kAnswerBytes = std::uint64_t{256} * 1024 * 1024;
constexpr std::uint32_t kHeaderBytes = 64 * 1024;
constexpr std::size_t kKept = 64;
constexpr Millis kConnect{10'000};

Error unknown(std::string message) { return {ErrorCode::unknown_outcome, std::move(message), ""}; }

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
}

bool is_address_character(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
}

bool ends_a_line(char c) { return c == '\r' || c == '\n' || c == '\0'; }

std::string host_field(const HttpUrl& url) {
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + url.host + "]" : url.host;
  return url.port == 80 ? host : host + ":" + std::to_string(url.port);
}

// The bytes of a request.
// Errors: invalid_argument for a header or target with a line break, which would inject other headers.
Result<std::string> render(const HttpRequest& request, const std::string& host) {
  std::string header = request.method + " " + request.target + " HTTP/1.1";
  bool is_broken = std::any_of(request.target.begin(), request.target.end(),
                               [](char c) { return c == ' ' || ends_a_line(c); });
  const auto add = [&](std::string_view name, std::string_view value) {
    is_broken = is_broken || std::any_of(value.begin(), value.end(), ends_a_line);
    header.append("\r\n").append(name).append(": ").append(value);
  };
  add("Host", host);
  add("Accept", "application/json");
  for (const auto& [name, value] : request.headers) add(name, value);
  const bool has_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (has_body || !request.body.empty()) {
    add("Content-Type", "application/json");
    add("Content-Length", std::to_string(request.body.size()));
  }
  if (is_broken) {
    return Error{ErrorCode::invalid_argument, "A header or the target of the request contains a line break.",
                 ""};
  }
  return header + "\r\n\r\n" + request.body;
}

// Reads one response from a socket.
class ResponseReader {
 public:
  ResponseReader(Socket& socket, bool has_body) : socket_(socket), has_body_(has_body) { begin(); }

  // Reads the header section. Skips interim responses (1xx).
  Result<void> read_header_section(const CallLimit& limit) {
    while (true) {
      while (!parser_->is_header_done()) {
        if (auto more = read_some(limit); !more) return more.error();
      }
      if (parser_->get().result_int() >= 200) return {};
      begin();
      if (auto failed = parse()) return *failed;
    }
  }

  // After the header section: reads more of the body, if there is more.
  Result<void> read_some(const CallLimit& limit) {
    std::array<char, 16 * 1024> block;
    const auto size = socket_.receive(block, limit);
    if (!size) return size.error();
    if (*size == 0) return end();
    bytes_.append(block.data(), *size);
    if (auto failed = parse()) return *failed;
    return {};
  }

  Result<void> read_body(const CallLimit& limit) {
    while (!parser_->is_done()) {
      if (auto more = read_some(limit); !more) return more.error();
    }
    return {};
  }

  [[nodiscard]] int status() const { return static_cast<int>(parser_->get().result_int()); }
  [[nodiscard]] bool is_whole() const { return parser_->is_done(); }
  // Whether another request may be sent on the connection.
  [[nodiscard]] bool keeps_alive() const { return parser_->keep_alive() && bytes_.empty(); }
  void set_unlimited() { parser_->body_limit(boost::none); }
  // The part of the body that arrived since the last call.
  std::string take_body() { return std::exchange(parser_->get().body(), {}); }

  HttpResponse take() {
    HttpResponse response{.status = status(), .headers = {}, .body = take_body()};
    for (const auto& field : parser_->get()) {
      std::string name(field.name_string());
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      response.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    return response;
  }

 private:
  void begin() {
    parser_.emplace();
    parser_->header_limit(kHeaderBytes);
    parser_->body_limit(kAnswerBytes);
    parser_->eager(true);  // also parse body bytes that arrive together with the header section
    parser_->skip(!has_body_);
  }

  std::optional<Error> parse() {
    while (!bytes_.empty() && !parser_->is_done()) {
      boost::system::error_code failed;
      const std::size_t used = parser_->put(boost::asio::buffer(bytes_), failed);
      bytes_.erase(0, used);
      if (failed == http::error::need_more) return std::nullopt;
      if (failed) return unknown("The server's answer cannot be read: " + failed.message() + ".");
    }
    return std::nullopt;
  }

  Result<void> end() {
    boost::system::error_code failed;
    if (parser_->got_some()) parser_->put_eof(failed);
    if (parser_->is_done() && !failed) return {};
    return unknown("The server closed the connection before its answer was whole.");
  }

  Socket& socket_;
  const bool has_body_;
  std::string bytes_;  // received, not yet parsed
  std::optional<http::response_parser<http::string_body>> parser_;
};

}  // namespace

Result<HttpUrl> parse_url(std::string_view url) {
  const Error fault{ErrorCode::invalid_argument,
                    "\"" + std::string(url) + "\" is not the URL of a server. " +
                        (url.starts_with("https://") ? "eventq has no TLS; use a proxy. " : "") +
                        "Write http://HOST:PORT, such as http://127.0.0.1:8080.",
                    "url"};
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return fault;
  url.remove_prefix(kScheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);

  HttpUrl parsed;
  const bool is_ipv6 = url.starts_with('[');
  if (is_ipv6) url.remove_prefix(1);
  const std::size_t host_end = std::min(url.find(is_ipv6 ? ']' : ':'), url.size());
  parsed.host = url.substr(0, host_end);
  url.remove_prefix(host_end);
  if (is_ipv6 && !url.starts_with(']')) return fault;
  if (is_ipv6) url.remove_prefix(1);
  const auto belongs = is_ipv6 ? is_address_character : is_name_character;
  if (parsed.host.empty() || !std::all_of(parsed.host.begin(), parsed.host.end(), belongs)) return fault;

  if (url.empty()) return parsed;
  const auto port = url.starts_with(':') ? parse_whole<std::uint16_t>(url.substr(1)) : std::nullopt;
  if (!port || *port == 0) return fault;
  parsed.port = *port;
  return parsed;
}

std::string_view HttpResponse::header(std::string_view lower_case_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_case_name) return value;
  }
  return {};
}

// The connections that are kept open between calls.
struct HttpClient::Connections {
  explicit Connections(HttpUrl to) : url(std::move(to)) {}

  // A kept connection on which nothing has arrived, or a new one. Bytes on an idle connection mean that the
  // server closed it or sent an answer that no request asked for.
  Result<Socket> take(const CallLimit& limit) {
    while (auto socket = take_kept()) {
      if (socket->is_quiet()) return std::move(*socket);
    }
    return Socket::connect(url.host, url.port,
                           {std::min(limit.deadline, steady_now() + kConnect), limit.stop});
  }

  std::optional<Socket> take_kept() {
    const std::scoped_lock lock(mutex);
    if (kept.empty()) return std::nullopt;
    Socket socket = std::move(kept.back());
    kept.pop_back();
    return socket;
  }

  void keep(Socket socket) {
    const std::scoped_lock lock(mutex);
    if (kept.size() < kKept) kept.push_back(std::move(socket));
  }

  // Set in the constructor, never changed.
  const HttpUrl url;

  // Guarded by mutex.
  std::mutex mutex;
  std::vector<Socket> kept;  // idle connections, the most recently used last
};

HttpClient::HttpClient(HttpUrl url) : connections_(std::make_unique<Connections>(std::move(url))) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::call(const HttpRequest& request) {
  const auto bytes = render(request, host_field(connections_->url));
  if (!bytes) return bytes.error();
  const CallLimit limit{steady_now() + request.timeout, {}};
  auto socket = connections_->take(limit);
  if (!socket) return socket.error();
  const auto sent_all = socket->send(*bytes, limit);
  if (!sent_all) return sent_all.error();

  ResponseReader reader(*socket, request.method != "HEAD");
  if (auto header = reader.read_header_section(limit); !header) return header.error();
  if (auto body = reader.read_body(limit); !body) return body.error();
  // A server that answered early has not read the whole request, so the connection cannot be reused.
  if (*sent_all && reader.keeps_alive()) connections_->keep(std::move(*socket));
  return reader.take();
}

Result<HttpResponse> HttpClient::stream(const HttpRequest& request,
                                        const std::function<bool(std::string_view)>& on_data,
                                        const std::stop_token& stop) {
  const auto bytes = render(request, host_field(connections_->url));
  if (!bytes) return bytes.error();
  const auto limit = [&] { return CallLimit{steady_now() + request.timeout, stop}; };
  auto socket = connections_->take(limit());
  if (!socket) return socket.error();
  const auto sent_all = socket->send(*bytes, limit());
  if (!sent_all) return sent_all.error();

  ResponseReader reader(*socket, true);
  if (auto header = reader.read_header_section(limit()); !header) return header.error();
  if (reader.status() != 200) {
    if (auto body = reader.read_body(limit()); !body) return body.error();
    return reader.take();
  }
  reader.set_unlimited();
  while (!stop.stop_requested()) {
    const std::string piece = reader.take_body();
    if (!piece.empty() && !on_data(piece)) break;
    if (reader.is_whole()) break;
    if (auto more = reader.read_some(limit()); !more && !stop.stop_requested()) return more.error();
  }
  return reader.take();
}

}  // namespace eventq::client
