// request_parser.cc: see request_parser.h.
#include "http/transport/request_parser.h"

#include <algorithm>
#include <utility>

#include "base/json.h"

namespace eventq::http {
namespace {

// Memory for a body is asked for as it arrives: a Content-Length alone reserves no more than this.
constexpr std::size_t kFirstReserve = 64 * 1024;

// Bodies up to this size are not charged: connections_max bounds them.
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

Progress RequestParser::step(InputBuffer& in) {
  if (progress_ == Progress::idle || progress_ == Progress::head) read_head(in);
  if (progress_ == Progress::body) read_body(in);
  return progress_;
}

bool RequestParser::take_continue() { return std::exchange(owes_continue_, false); }

Request RequestParser::take_request() { return std::move(head_.request); }

std::size_t RequestParser::body_to_come() const {
  if (head_.chunked) return body_size();  // as much again
  return static_cast<std::size_t>(head_.content_length) - body_size();
}

void RequestParser::reset() {
  if (charged_ > 0) budget_.give_back(std::exchange(charged_, 0));
  scanner_.reset();
  head_ = {};
  chunks_ = {};
  progress_ = Progress::idle;
  owes_continue_ = false;
}

void RequestParser::read_head(InputBuffer& in) {
  if (in.empty()) return;
  progress_ = Progress::head;
  const HeadScanner::State state = scanner_.scan(in.bytes());
  if (state == HeadScanner::State::incomplete) return;
  if (state == HeadScanner::State::refused) {
    return refuse(scanner_.refusal().status, scanner_.refusal().message);
  }

  const auto refusal = parse_head(in.bytes().substr(0, scanner_.head_size()), head_);
  if (refusal) return refuse(refusal->status, refusal->message);
  in.consume(scanner_.head_size());
  begin_body(!in.empty());
}

void RequestParser::begin_body(bool body_is_here) {
  const Request& request = head_.request;
  body_limit_ = service_.body_limit(request.method, path_of(request.target));
  if (head_.content_length > body_limit_)
    return refuse(413, "The body is larger than this request may carry.");

  progress_ = Progress::body;
  const bool has_body = head_.chunked || head_.content_length > 0;
  owes_continue_ = head_.expect_continue && has_body && !body_is_here;
  const auto expected = static_cast<std::size_t>(head_.content_length);
  head_.request.body.reserve(std::min(expected, kFirstReserve) + kJsonPadding);
}

void RequestParser::read_body(InputBuffer& in) {
  if (head_.chunked) {
    read_chunked_body(in);
  } else {
    read_sized_body(in);
  }
  if (progress_ != Progress::refused && !charge_body()) {
    refuse(503, "The server is reading as many large bodies as it may; try again later.");
  }
}

void RequestParser::read_sized_body(InputBuffer& in) {
  std::string& body = head_.request.body;
  const auto expected = static_cast<std::size_t>(head_.content_length);
  const std::size_t size = std::min(expected - body.size(), in.size());
  if (body.size() + size + kJsonPadding > body.capacity()) {
    body.reserve(std::min(expected, 2 * (body.size() + size)) + kJsonPadding);
  }
  body.append(in.bytes().substr(0, size));
  in.consume(size);
  if (body.size() == expected) finish();
}

void RequestParser::read_chunked_body(InputBuffer& in) {
  std::string_view rest = in.bytes();
  const ChunkedBody::Status status = chunks_.feed(rest, head_.request.body, body_limit_);
  in.consume(in.size() - rest.size());
  switch (status) {
    case ChunkedBody::Status::more: return;
    case ChunkedBody::Status::done: return finish();
    case ChunkedBody::Status::malformed: return refuse(400, "The chunks of the body are malformed.");
    case ChunkedBody::Status::too_large:
      return refuse(413, "The body is larger than this request may carry.");
    case ChunkedBody::Status::trailers_too_long:
      return refuse(431, "The trailers behind the body are too long.");
  }
}

// False when the server has no memory left for this body.
bool RequestParser::charge_body() {
  const std::size_t size = body_size();
  if (size <= kUncharged || size <= charged_) return true;
  const std::size_t more = (size - charged_ + kChargeStep - 1) / kChargeStep * kChargeStep;
  if (!budget_.take(more)) return false;
  charged_ += more;
  return true;
}

// The padding is written and cut off again: the bytes behind size() stay zero, and a
// moved string keeps them, because it is too long for the string object itself.
void RequestParser::finish() {
  std::string& body = head_.request.body;
  const std::size_t size = body.size();
  body.append(kJsonPadding, '\0');
  body.resize(size);
  progress_ = Progress::complete;
}

void RequestParser::refuse(int status, std::string_view message) {
  refusal_ = {status, message};
  progress_ = Progress::refused;
}

}  // namespace eventq::http
