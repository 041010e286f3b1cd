// header_parser.cc: see header_parser.h.
#include "http/transport/header_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <string>
#include <utility>

#include "base/ascii.h"

namespace eventq::http {
namespace {

namespace beast = boost::beast;

// The prefix of fields with CloudEvents attributes; see wire/cloud_events.h.
constexpr beast::string_view kCloudEventPrefix = "ce-";
using beast::http::field;

// Fields that a request may contain once only.
enum class SingletonField : unsigned {
  content_length,
  transfer_encoding,
  host,
  content_type,
  idempotency_key,
  request_id,
  origin,
  sec_fetch_site,
  access_control_request_method,
};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

bool is_target_char(char c) { return c > 0x20 && c < 0x7f && c != '#'; }

// The characters of an authority (RFC 3986) without '@': Host has no user name.
bool is_host_char(char c) {
  return is_alphanumeric(c) || std::string_view("-._~:[]%!$&'()*+,;=").find(c) != std::string_view::npos;
}

ProtocolError protocol_error_of(beast::error_code found) {
  using beast::http::error;
  switch (static_cast<error>(found.value())) {
    case error::bad_method: return {400, "The method is not a token followed by one space."};
    case error::bad_target: return {400, "The request target is empty or contains a forbidden character."};
    case error::bad_version:
      return {400, "The request line must be: method, space, target, space, HTTP/1.1."};
    case error::bad_field:
      return {400, "A header line has no name, or a character before its colon that no name may have."};
    case error::bad_content_length:
    case error::multiple_content_length:
      return {400, "Content-Length must be one decimal number, without Transfer-Encoding."};
    case error::bad_transfer_encoding:
      return {400, "Transfer-Encoding must be sent once, without Content-Length."};
    default: return {400, "A header field has a malformed value."};
  }
}

class BeastParser final : public beast::http::basic_parser<true> {
 public:
  explicit BeastParser(RequestHeader& result) : result_(result) {
    header_limit(std::numeric_limits<std::uint32_t>::max());  // HeaderScanner has checked it
    body_limit(boost::none);
  }

  std::optional<ProtocolError> run(std::string_view header) {
    beast::error_code error;
    put(boost::asio::const_buffer(header.data(), header.size()), error);
    if (protocol_error_) return protocol_error_;
    if (error) return protocol_error_of(error);
    result_.chunked = chunked();
    result_.keep_alive = keep_alive();
    result_.content_length = content_length().value_or(0);
    return std::nullopt;
  }

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                       beast::error_code& error) override {
    if (target.front() != '/')
      return refuse(error, 400, "The request target must be a path that starts with '/'.");
    if (!std::all_of(target.begin(), target.end(), is_target_char)) {
      return refuse(error, 400,
                    "The request target contains a '#' or a character that must be percent-encoded.");
    }
    result_.http10 = version == 10;
    result_.is_head = view(method) == "HEAD";
    result_.request.method = view(method);
    result_.request.target = view(target);
  }

  void on_field_impl(field name, beast::string_view text, beast::string_view value,
                     beast::error_code& error) override {
    Headers& headers = result_.request.headers;
    switch (name) {
      case field::content_length: return on_content_length(view(value), error);
      case field::transfer_encoding: return on_transfer_encoding(view(value), error);
      case field::expect: return on_expect(view(value), error);
      case field::host: return on_host(view(value), error);
      case field::content_type:
        return keep_once(SingletonField::content_type, headers.content_type, view(value), error);
      case field::origin: return keep_once(SingletonField::origin, headers.origin, view(value), error);
      case field::accept: return keep_list(headers.accept, view(value));
      default: return on_other(text, view(value), error);
    }
  }

  // Compared by name, because the fields that Beast has an enumerator for depend on its version.
  void on_other(beast::string_view name, std::string_view value, beast::error_code& error) {
    Headers& headers = result_.request.headers;
    if (beast::iequals(name, "idempotency-key")) {
      if (value.empty()) return refuse(error, 400, "The Idempotency-Key is empty; send one, or none at all.");
      keep_once(SingletonField::idempotency_key, headers.idempotency_key, value, error);
    } else if (beast::iequals(name, "if-match")) {
      if (value.empty()) return refuse(error, 400, "The field If-Match is empty; send an ETag, or no field.");
      keep_list(headers.if_match, value);
    } else if (beast::iequals(name, "x-request-id")) {
      keep_once(SingletonField::request_id, headers.request_id, value, error);
    } else if (beast::iequals(name, "sec-fetch-site")) {
      keep_once(SingletonField::sec_fetch_site, headers.sec_fetch_site, value, error);
    } else if (beast::iequals(name, "access-control-request-method")) {
      keep_once(SingletonField::access_control_request_method, headers.access_control_request_method, value,
                error);
    } else if (beast::iequals(name, "prefer")) {
      keep_list(headers.prefer, value);
    } else if (beast::iequals(name, "traceparent")) {
      keep_list(headers.traceparent, value);
    } else if (beast::iequals(name, "tracestate")) {
      keep_list(headers.tracestate, value);
    } else if (beast::iequals(name.substr(0, kCloudEventPrefix.size()), kCloudEventPrefix)) {
      const std::string_view attribute = view(name).substr(kCloudEventPrefix.size());
      headers.cloud_event.emplace_back(std::string(attribute), std::string(value));
    }
  }

  void on_header_impl(beast::error_code& error) override {
    // HTTP/1.0 does not require Host.
    if (!result_.http10 && !was_sent(SingletonField::host)) refuse(error, 400, "The field Host is missing.");
  }

  // Beast also accepts lists of equal numbers, and white space behind the number.
  void on_content_length(std::string_view value, beast::error_code& error) {
    const bool digits = std::all_of(value.begin(), value.end(), eventq::is_digit);
    if (sent_again(SingletonField::content_length) || !digits || !ends_line(value)) {
      refuse(error, 400, "Content-Length must be sent once and be one decimal number.");
    }
  }

  // Beast ignores codings that it does not know.
  void on_transfer_encoding(std::string_view value, beast::error_code& error) {
    if (sent_again(SingletonField::transfer_encoding) || !beast::iequals(value, "chunked") ||
        !ends_line(value)) {
      return refuse(error, 400, "Transfer-Encoding must be sent once and be: chunked.");
    }
    if (result_.http10) refuse(error, 400, "HTTP/1.0 has no Transfer-Encoding.");
  }

  void on_expect(std::string_view value, beast::error_code& error) {
    if (!beast::iequals(value, "100-continue")) {
      return refuse(error, 417, "The only supported expectation is 100-continue.");
    }
    // An HTTP/1.0 client would take the 100 for the response.
    result_.expect_continue = !result_.http10;
  }

  void on_host(std::string_view value, beast::error_code& error) {
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_host_char)) {
      return refuse(error, 400, "The field Host must name one host.");
    }
    keep_once(SingletonField::host, result_.request.headers.host, value, error);
  }

  void keep_once(SingletonField which, std::string& kept, std::string_view value, beast::error_code& error) {
    if (sent_again(which)) return refuse(error, 400, "A header field that may be sent once was sent twice.");
    kept = value;
  }

  // Fields that are lists may be sent several times; joining with commas keeps their meaning (RFC 9110).
  static void keep_list(std::string& kept, std::string_view value) {
    if (!kept.empty()) kept += ", ";
    kept += value;
  }

  [[nodiscard]] bool was_sent(SingletonField which) const {
    return ((sent_ >> static_cast<unsigned>(which)) & 1U) != 0;
  }

  bool sent_again(SingletonField which) {
    const bool again = was_sent(which);
    sent_ |= 1U << static_cast<unsigned>(which);
    return again;
  }

  // True when no white space is between the value and the end of its line. The byte behind the value exists,
  // because the header ends in an empty line.
  static bool ends_line(std::string_view value) { return *(value.data() + value.size()) == '\r'; }

  void refuse(beast::error_code& error, int status, std::string_view message) {
    protocol_error_ = ProtocolError{status, std::string(message)};
    error = beast::http::error::bad_value;  // any error makes put() return
  }

  // put() gets the header only; RequestParser reads the body.
  void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }
  void on_finish_impl(beast::error_code&) override {}

  RequestHeader& result_;
  std::optional<ProtocolError> protocol_error_;
  unsigned sent_ = 0;  // a bit for each SingletonField
};

}  // namespace

std::optional<ProtocolError> parse_header(std::string_view header, RequestHeader& result) {
  return BeastParser(result).run(header);
}

}  // namespace eventq::http
