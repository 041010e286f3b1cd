// request_parser.cc: see request_parser.h.
#include "http/transport/request_parser.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace eventq::http {
namespace {

// A Content-Length reserves at most this much, so a client cannot claim memory without sending bytes.
constexpr std::size_t kFirstReserve = 64 * 1024;

// Bodies up to this size are not charged to the budget, because connections_max bounds them.
constexpr std::size_t kUncharged = 16 * 1024;
constexpr std::size_t kChargeStep = 64 * 1024;

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

}  // namespace

RequestParser::RequestParser(const ServerOptions& options, const Service& service, BodyBudget& budget)
    : service_(service),
      budget_(budget),
      scanner_({.request_line = options.request_line_max,
                .header_bytes = options.header_bytes_max,
                .header_fields = options.header_fields_max}) {}

ParseProgress RequestParser::step(InputBuffer& in) {
  if (progress_ == ParseProgress::idle || progress_ == ParseProgress::header) read_header(in);
  if (progress_ == ParseProgress::body) read_body(in);
  return progress_;
}

bool RequestParser::take_continue() { return std::exchange(owes_continue_, false); }

Request RequestParser::take_request() { return std::move(header_.request); }

std::size_t RequestParser::body_to_come() const {
  if (header_.chunked) return body_size();  // the size is unknown: assume as much again
  return static_cast<std::size_t>(header_.content_length) - body_size();
}

void RequestParser::reset() {
  if (charged_ > 0) budget_.give_back(std::exchange(charged_, 0));
  scanner_.reset();
  header_ = {};
  chunks_ = {};
  progress_ = ParseProgress::idle;
  owes_continue_ = false;
}

void RequestParser::read_header(InputBuffer& in) {
  if (in.empty()) return;
  progress_ = ParseProgress::header;
  const HeaderScanner::ScanState state = scanner_.scan(in.bytes());
  if (state == HeaderScanner::ScanState::incomplete) return;
  if (state == HeaderScanner::ScanState::refused) {
    return refuse(scanner_.protocol_error().status, scanner_.protocol_error().message);
  }

  const auto protocol_error = parse_header(in.bytes().substr(0, scanner_.header_size()), header_);
  if (protocol_error) return refuse(protocol_error->status, protocol_error->message);
  in.consume(scanner_.header_size());
  begin_body(!in.empty());
}

void RequestParser::begin_body(bool body_is_here) {
  Request& request = header_.request;
  const RequestRoute route = service_.route(request.method, path_of(request.target));
  request.match = route.match;
  body_limit_ = route.body_max;
  if (header_.content_length > body_limit_) return refuse_large_body();

  progress_ = ParseProgress::body;
  const bool has_body = header_.chunked || header_.content_length > 0;
  // A client that has already sent bytes of its body does not wait for the 100.
  owes_continue_ = header_.expect_continue && has_body && !body_is_here;
  const auto expected = static_cast<std::size_t>(header_.content_length);
  header_.request.body.reserve(std::min(expected, kFirstReserve) + kJsonPadding);
}

void RequestParser::read_body(InputBuffer& in) {
  if (header_.chunked) {
    read_chunked_body(in);
  } else {
    read_sized_body(in);
  }
  if (progress_ != ParseProgress::refused && !charge_body()) {
    refuse(503, "The server has no memory left for large bodies; try again later.");
  }
}

void RequestParser::read_sized_body(InputBuffer& in) {
  std::string& body = header_.request.body;
  const auto expected = static_cast<std::size_t>(header_.content_length);
  const std::size_t size = std::min(expected - body.size(), in.size());
  // Doubles the capacity, but never beyond the announced length.
  if (body.size() + size + kJsonPadding > body.capacity()) {
    body.reserve(std::min(expected, 2 * (body.size() + size)) + kJsonPadding);
  }
  body.append(in.bytes().substr(0, size));
  in.consume(size);
  if (body.size() == expected) finish();
}

void RequestParser::read_chunked_body(InputBuffer& in) {
  std::string_view rest = in.bytes();
  const ChunkedBody::ChunkResult result = chunks_.feed(rest, header_.request.body, body_limit_);
  in.consume(in.size() - rest.size());
  switch (result) {
    case ChunkedBody::ChunkResult::more: return;
    case ChunkedBody::ChunkResult::done: return finish();
    case ChunkedBody::ChunkResult::malformed: return refuse(400, "The chunks of the body are malformed.");
    case ChunkedBody::ChunkResult::too_large: return refuse_large_body();
    case ChunkedBody::ChunkResult::trailers_too_long:
      return refuse(431, "The trailers behind the body are too long.");
  }
}

// Charges the budget of the server in steps. False when the budget is used up.
bool RequestParser::charge_body() {
  const std::size_t size = body_size();
  if (size <= kUncharged || size <= charged_) return true;
  const std::size_t more = (size - charged_ + kChargeStep - 1) / kChargeStep * kChargeStep;
  if (!budget_.take(more)) return false;
  charged_ += more;
  return true;
}

// The JSON parser reads past the end, so zero bytes are appended and cut off again. They stay behind size().
// A moved string keeps them, because its capacity is above that of the short string optimization.
void RequestParser::finish() {
  std::string& body = header_.request.body;
  const std::size_t size = body.size();
  body.append(kJsonPadding, '\0');
  body.resize(size);
  progress_ = ParseProgress::complete;
}

void RequestParser::refuse_large_body() {
  refuse(413,
         "The body is too large; this request may have at most " + std::to_string(body_limit_) + " bytes.");
}

void RequestParser::refuse(int status, std::string_view message) {
  protocol_error_ = {status, std::string(message)};
  progress_ = ParseProgress::refused;
}

}  // namespace eventq::http
