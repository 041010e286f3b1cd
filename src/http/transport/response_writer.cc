// response_writer.cc: see response_writer.h.
#include "http/transport/response_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "base/numbers.h"

namespace eventq::http {
namespace {

// Empty for a status that is not in the list.
std::string_view status_line(int status) {
  switch (status) {
    case 200: return "HTTP/1.1 200 OK\r\n";
    case 201: return "HTTP/1.1 201 Created\r\n";
    case 202: return "HTTP/1.1 202 Accepted\r\n";
    case 204: return "HTTP/1.1 204 No Content\r\n";
    case 304: return "HTTP/1.1 304 Not Modified\r\n";
    case 400: return "HTTP/1.1 400 Bad Request\r\n";
    case 401: return "HTTP/1.1 401 Unauthorized\r\n";
    case 403: return "HTTP/1.1 403 Forbidden\r\n";
    case 404: return "HTTP/1.1 404 Not Found\r\n";
    case 405: return "HTTP/1.1 405 Method Not Allowed\r\n";
    case 406: return "HTTP/1.1 406 Not Acceptable\r\n";
    case 408: return "HTTP/1.1 408 Request Timeout\r\n";
    case 409: return "HTTP/1.1 409 Conflict\r\n";
    case 413: return "HTTP/1.1 413 Content Too Large\r\n";
    case 414: return "HTTP/1.1 414 URI Too Long\r\n";
    case 415: return "HTTP/1.1 415 Unsupported Media Type\r\n";
    case 417: return "HTTP/1.1 417 Expectation Failed\r\n";
    case 422: return "HTTP/1.1 422 Unprocessable Content\r\n";
    case 429: return "HTTP/1.1 429 Too Many Requests\r\n";
    case 431: return "HTTP/1.1 431 Request Header Fields Too Large\r\n";
    case 500: return "HTTP/1.1 500 Internal Server Error\r\n";
    case 503: return "HTTP/1.1 503 Service Unavailable\r\n";
    case 505: return "HTTP/1.1 505 HTTP Version Not Supported\r\n";
    case 507: return "HTTP/1.1 507 Insufficient Storage\r\n";
    default: return {};
  }
}

void append_status_line(std::string& out, int status) {
  if (const std::string_view line = status_line(status); !line.empty()) {
    out += line;
    return;
  }
  // The standard allows an empty reason phrase.
  out += "HTTP/1.1 ";
  append_decimal(out, status);
  out += " \r\n";
}

// Replaces control characters, because a line end in a value would start a field of its own.
void append_value(std::string& out, std::string_view value) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  };
  const std::size_t begin = out.size();
  out += value;
  std::replace_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), is_control, ' ');
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  append_value(out, value);
  out += "\r\n";
}

}  // namespace

void append_header(std::string& out, const Response& response, Persistence persistence, std::string_view date,
                   BodyEnd end) {
  append_status_line(out, response.status);
  if (!date.empty()) out.append("Date: ").append(date).append("\r\n");
  for (const auto& [name, value] : response.headers) append_field(out, name, value);
  if (may_have_body(response.status)) {
    if (!response.body.empty()) append_field(out, "Content-Type", response.content_type);
    // Also for an empty body: without a length a client would read until the connection closes.
    if (end == BodyEnd::length) {
      out += "Content-Length: ";
      append_decimal(out, response.body.size());
      out += "\r\n";
    }
    if (end == BodyEnd::chunk) out += "Transfer-Encoding: chunked\r\n";
  }
  if (persistence == Persistence::close) out += "Connection: close\r\n";
  if (persistence == Persistence::keep_named) out += "Connection: keep-alive\r\n";
  out += "\r\n";
}

std::string chunk_of(std::string_view piece) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
  std::string chunk(digits.data(), end);
  chunk.append("\r\n").append(piece).append("\r\n");
  return chunk;
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

// Not strftime(), because its names of days and months depend on the locale.
std::string http_date(TimePoint time) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  std::array<char, 64> text;
  const int size =
      std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                    kDays[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                    kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace eventq::http
