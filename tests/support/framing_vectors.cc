// framing_vectors.cc: the table, in the order of a request's parts.
#include "support/framing_vectors.h"

#include <utility>

namespace eventq::http {
namespace {

using namespace std::string_literals;

const std::string kGet = "GET /ok HTTP/1.1\r\n";
const std::string kPost = "POST /ok HTTP/1.1\r\nHost: a\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
const std::string kWholeGet = kGet + "Host: a\r\n\r\n";

using Vectors = std::vector<FramingVector>;

void accepted(Vectors& all, std::string name, std::string bytes, std::size_t requests = 1) {
  all.push_back(
      {std::move(name), std::move(bytes), std::vector<int>(requests, 200), After::stays_open, requests});
}

void last_one(Vectors& all, std::string name, const std::string& bytes) {
  all.push_back({std::move(name), bytes + std::string(kSmuggled), {200}, After::closes, 1});
}

void refused(Vectors& all, std::string name, const std::string& bytes, int status = 400) {
  all.push_back({std::move(name), bytes + std::string(kSmuggled), {status}, After::closes, 0});
}

// A GET whose field lines are `fields`, without Host.
std::string get_with(const std::string& fields) { return kGet + fields + "\r\n"; }

std::string post_with(const std::string& fields, const std::string& body) {
  return kPost + fields + "\r\n" + body;
}

std::string in_hex(std::size_t number) {
  std::string text;
  for (; number > 0; number /= 16) text.insert(text.begin(), "0123456789abcdef"[number % 16]);
  return text;
}

std::string one_chunk(std::size_t size) {
  return kChunked + in_hex(size) + "\r\n" + std::string(size, 'x') + "\r\n0\r\n\r\n";
}

void add_plain(Vectors& all) {
  accepted(all, "plain GET", kWholeGet);
  accepted(all, "unknown method", "BREW /pot HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted(all, "lower case method is another method", "get /ok HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted(all, "OPTIONS with a path", "OPTIONS /ok HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted(all, "query with reserved characters", "GET /ok?a=1&b=%20;c=[x]|{} HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted(all, "path that starts with two slashes", "GET //ok HTTP/1.1\r\nHost: a\r\n\r\n");
  accepted(all, "two requests at once", kWholeGet + kWholeGet, 2);
  accepted(all, "three requests at once, with bodies",
           post_with("Content-Length: 5\r\n", "GET /") + kChunked + "3\r\nabc\r\n0\r\n\r\n" + kWholeGet, 3);
  accepted(all, "HTTP/1.0 that asks to keep the connection",
           "GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  last_one(all, "HTTP/1.0", "GET /ok HTTP/1.0\r\n\r\n");
  last_one(all, "HTTP/1.0 with Host", "GET /ok HTTP/1.0\r\nHost: a\r\n\r\n");
  last_one(all, "Connection: close", get_with("Host: a\r\nConnection: close\r\n"));
  last_one(all, "close in a list", get_with("Host: a\r\nConnection: x, CLOSE\r\n"));
  accepted(all, "upgrade is not taken", get_with("Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"));
}

void add_request_line(Vectors& all) {
  const std::string rest = "\r\nHost: a\r\n\r\n";
  refused(all, "empty line first", "\r\n" + kWholeGet);
  refused(all, "space first", " " + kWholeGet);
  refused(all, "HTTP/0.9", "GET /ok\r\n");
  refused(all, "method alone", "GET\r\n");
  refused(all, "method with a separator", "G@T /ok HTTP/1.1" + rest);
  refused(all, "two spaces behind the method", "GET  /ok HTTP/1.1" + rest);
  refused(all, "two spaces behind the target", "GET /ok  HTTP/1.1" + rest);
  refused(all, "space behind the version", "GET /ok HTTP/1.1 " + rest);
  refused(all, "tabs between the parts", "GET\t/ok\tHTTP/1.1" + rest);
  refused(all, "no target", "GET  HTTP/1.1" + rest);
  refused(all, "target with a space", "GET /o k HTTP/1.1" + rest);
  refused(all, "target without a slash", "GET ok HTTP/1.1" + rest);
  refused(all, "absolute form", "GET http://a/ok HTTP/1.1" + rest);
  refused(all, "asterisk form", "OPTIONS * HTTP/1.1" + rest);
  refused(all, "authority form", "CONNECT a:80 HTTP/1.1" + rest);
  refused(all, "fragment", "GET /ok#part HTTP/1.1" + rest);
  refused(all, "NUL in the target", "GET /o\0k HTTP/1.1"s + rest);
  refused(all, "control character in the target", "GET /o\x01k HTTP/1.1" + rest);
  refused(all, "DEL in the target", "GET /o\x7fk HTTP/1.1" + rest);
  refused(all, "byte above ASCII in the target", "GET /\xc3\xa4 HTTP/1.1" + rest);
  refused(all, "CR in the request line", "GET /o\rk HTTP/1.1" + rest);
  refused(all, "lower case protocol", "GET /ok http/1.1" + rest);
  refused(all, "version with too many digits", "GET /ok HTTP/1.10" + rest);
  refused(all, "version without a point", "GET /ok HTTP/11" + rest);
  refused(all, "HTTP/1.2", "GET /ok HTTP/1.2" + rest, 505);
  refused(all, "HTTP/2.0", "GET /ok HTTP/2.0" + rest, 505);
  refused(all, "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  refused(all, "the start of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s);
}

void add_line_ends(Vectors& all) {
  refused(all, "LF behind the request line", "GET /ok HTTP/1.1\nHost: a\r\n\r\n");
  refused(all, "LF behind a field", get_with("Host: a\n"));
  refused(all, "LF for the empty line", kGet + "Host: a\r\n\n");
  refused(all, "LF everywhere", "GET /ok HTTP/1.1\nHost: a\n\n");
  refused(all, "LF inside a value", get_with("Host: a\r\nX: b\nTransfer-Encoding: chunked\r\n"));
  refused(all, "CR inside a value", get_with("Host: a\r\nX: b\rc\r\n"));
  refused(all, "CR before CR LF", get_with("Host: a\r\r\n"));
  refused(all, "CR at the start of a line", get_with("Host: a\r\n\rX: b\r\n"));
  refused(all, "folded by a space", get_with("Host: a\r\nX: b\r\n c\r\n"));
  refused(all, "folded by a tab", get_with("Host: a\r\nX: b\r\n\tc\r\n"));
  refused(all, "folded first line", get_with(" Host: a\r\n"));
  refused(all, "folded length", post_with("Content-Length:\r\n 5\r\n", "12345"));
}

void add_fields(Vectors& all) {
  accepted(all, "names in any case", "POST /ok HTTP/1.1\r\nhOsT: a\r\nCONTENT-length: 3\r\n\r\nabc");
  accepted(all, "no space behind the colon", get_with("Host:a\r\n"));
  accepted(all, "tabs and spaces round a value", get_with("Host: \t a \t\r\n"));
  accepted(all, "empty value", get_with("Host: a\r\nX-Empty:\r\n"));
  accepted(all, "bytes above ASCII in a value", get_with("Host: a\r\nX-Name: M\xc3\xbcller\r\n"));
  accepted(all, "Accept twice", get_with("Host: a\r\nAccept: text/html\r\nAccept: */*\r\n"));
  accepted(all, "unknown field twice", get_with("Host: a\r\nX-Any: 1\r\nX-Any: 2\r\n"));
  refused(all, "space before the colon", get_with("Host : a\r\n"));
  refused(all, "tab before the colon", get_with("Host: a\r\nContent-Length\t: 5\r\n"));
  refused(all, "no colon", get_with("Host: a\r\nX-Any\r\n"));
  refused(all, "no name", get_with("Host: a\r\n: b\r\n"));
  refused(all, "name with a separator", get_with("Host: a\r\nX(1): b\r\n"));
  refused(all, "name with a byte above ASCII", get_with("Host: a\r\nX\xc3\xa4: b\r\n"));
  refused(all, "NUL in a name", get_with("Host: a\r\nX\0Y: b\r\n"s));
  refused(all, "NUL in a value", get_with("Host: a\r\nX: b\0c\r\n"s));
  refused(all, "control character in a value", get_with("Host: a\r\nX: b\x1b[2J\r\n"));
  refused(all, "DEL in a value", get_with("Host: a\r\nX: \x7f\r\n"));
  refused(all, "malformed Connection", get_with("Host: a\r\nConnection: @\r\n"));
  for (const std::string name :
       {"Content-Type", "Idempotency-Key", "X-Request-Id", "Origin", "Sec-Fetch-Site"}) {
    const std::string line = name + ": x\r\n";
    std::string fields = "Host: a\r\n";
    fields.append(line).append(line);
    refused(all, name + " twice", get_with(fields));
  }
}

void add_host(Vectors& all) {
  accepted(all, "Host with a port", get_with("Host: example.org:8080\r\n"));
  accepted(all, "Host in IPv6", get_with("Host: [::1]:8080\r\n"));
  refused(all, "no Host", get_with(""));
  refused(all, "empty Host", get_with("Host:\r\n"));
  refused(all, "Host twice", get_with("Host: a\r\nHost: a\r\n"));
  refused(all, "two hosts", get_with("Host: a\r\nhost: b\r\n"));
  refused(all, "Host with a space", get_with("Host: a b\r\n"));
  refused(all, "Host with a path", get_with("Host: a/b\r\n"));
  refused(all, "Host with a user", get_with("Host: u@a\r\n"));
}

void add_lengths(Vectors& all) {
  accepted(all, "body of known length", post_with("Content-Length: 5\r\n", "12345"));
  accepted(all, "body of no bytes", post_with("Content-Length: 0\r\n", ""));
  accepted(all, "length with leading zeros", post_with("Content-Length: 0005\r\n", "12345"));
  accepted(all, "GET with a body", get_with("Host: a\r\nContent-Length: 5\r\n") + "12345");
  const std::string malformed[] = {"",
                                   "+5",
                                   "-2",
                                   "-0",
                                   "0x5",
                                   "5 ",
                                   "5\t",
                                   "5,5",
                                   "5, 5",
                                   "5;5",
                                   "5.0",
                                   "1e1",
                                   "5 5",
                                   "\"5\"",
                                   "five",
                                   "18446744073709551616",
                                   "99999999999999999999999999"};
  for (const std::string& value : malformed) {
    refused(all, "length " + value, post_with("Content-Length: " + value + "\r\n", "12345"));
  }
  refused(all, "equal lengths", post_with("Content-Length: 5\r\nContent-Length: 5\r\n", "12345"));
  refused(all, "different lengths", post_with("Content-Length: 5\r\nContent-Length: 6\r\n", "12345"));
  refused(all, "length of 2^64 - 1", post_with("Content-Length: 18446744073709551615\r\n", ""), 413);
  accepted(all, "body one below the limit", post_with("Content-Length: 999\r\n", std::string(999, 'x')));
  accepted(all, "body at the limit", post_with("Content-Length: 1000\r\n", std::string(1000, 'x')));
  refused(all, "body one above the limit", post_with("Content-Length: 1001\r\n", std::string(1001, 'x')),
          413);
}

void add_codings(Vectors& all) {
  const std::string body = "5\r\n12345\r\n0\r\n\r\n";
  accepted(all, "coding in any case", post_with("transfer-encoding: CHUNKED\r\n", body));
  accepted(all, "TE is another field", get_with("Host: a\r\nTE: trailers\r\n"));
  const std::string malformed[] = {
      "",         "gzip",     "identity",    "gzip, chunked", "chunked, gzip", "chunked, chunked",
      "chunked,", "xchunked", "chunked;q=1", "\"chunked\"",   "chunked ",      "chunke"};
  for (const std::string& value : malformed) {
    refused(all, "coding " + value, post_with("Transfer-Encoding: " + value + "\r\n", body));
  }
  refused(all, "coding twice",
          post_with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", body));
  refused(all, "coding behind a vertical tab",
          post_with("Transfer-Encoding: \x0b"
                    "chunked\r\n",
                    body));
  refused(all, "length, then coding", post_with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", body));
  refused(all, "coding, then length", post_with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", body));
  refused(all, "length 0 and coding", post_with("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", body));
  refused(all, "identity and length",
          post_with("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "12345"));
  refused(all, "coding in HTTP/1.0", "POST /ok HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + body);
}

void add_chunks(Vectors& all) {
  accepted(all, "one chunk", kChunked + "5\r\n12345\r\n0\r\n\r\n");
  accepted(all, "several chunks", kChunked + "1\r\na\r\nA\r\n0123456789\r\n0b\r\n0123456789a\r\n0\r\n\r\n");
  accepted(all, "no chunk but the last", kChunked + "0\r\n\r\n");
  accepted(all, "size with leading zeros", kChunked + "0000000000000005\r\n12345\r\n000\r\n\r\n");
  accepted(all, "data that looks like chunks", kChunked + "5\r\n0\r\n\r\n\r\n0\r\n\r\n");
  const std::string malformed[] = {"",   "x",   "g5",    "0x5", "+5",    "-1",  " 5",
                                   "5 ", "5\t", "5;a=b", "5;",  "5 ; a", "5\r", "00000000000000005"};
  for (const std::string& size : malformed) {
    refused(all, "chunk size " + size, kChunked + size + "\r\n12345\r\n0\r\n\r\n");
  }
  refused(all, "LF inside an extension", kChunked + "5;a=\"\n\"\r\n12345\r\n0\r\n\r\n");
  refused(all, "LF behind the size", kChunked + "5\n12345\r\n0\r\n\r\n");
  refused(all, "LF behind the data", kChunked + "5\r\n12345\n0\r\n\r\n");
  refused(all, "data longer than its size", kChunked + "5\r\n123456\r\n0\r\n\r\n");
  refused(all, "data shorter than its size", kChunked + "6\r\n12345\r\n0\r\n\r\n");
  refused(all, "LF behind the last chunk", kChunked + "5\r\n12345\r\n0\n\n");
  refused(all, "chunk of 2^64 - 1 bytes", kChunked + "ffffffffffffffff\r\n", 413);
  accepted(all, "chunked body one below the limit", one_chunk(kVectorBodyLimit - 1));
  accepted(all, "chunked body at the limit", one_chunk(kVectorBodyLimit));
  refused(all, "chunked body one above the limit", one_chunk(kVectorBodyLimit + 1), 413);
  refused(all, "chunks above the limit together",
          kChunked + "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\nx\r\n0\r\n\r\n", 413);
}

void add_trailers(Vectors& all) {
  const std::string body = kChunked + "5\r\n12345\r\n0\r\n";
  accepted(all, "trailer", body + "X-Sum: 1\r\n\r\n");
  accepted(all, "trailers that would break a header",
           body + "Host: b\r\nContent-Length: 7\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n");
  refused(all, "trailer without a colon", body + "X-Sum\r\n\r\n");
  refused(all, "trailer with a space before the colon", body + "X-Sum : 1\r\n\r\n");
  refused(all, "folded trailer", body + "X-Sum: 1\r\n 2\r\n\r\n");
  refused(all, "LF behind a trailer", body + "X-Sum: 1\n\r\n");
  refused(all, "CR inside a trailer", body + "X-Sum: 1\r2\r\n\r\n");
  refused(all, "NUL in a trailer", body + "X-Sum: \0\r\n\r\n"s);
  refused(all, "trailers too long", body + "X-Sum: " + std::string(4096, 'x') + "\r\n\r\n", 431);
}

void add_expectations(Vectors& all) {
  accepted(all, "100-continue with the body at once",
           post_with("Expect: 100-continue\r\nContent-Length: 3\r\n", "abc"));
  accepted(all, "100-continue without a body",
           post_with("Expect: 100-Continue\r\nContent-Length: 0\r\n", ""));
  last_one(all, "100-continue in HTTP/1.0",
           "POST /ok HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
  refused(all, "another expectation", post_with("Expect: the-best\r\nContent-Length: 3\r\n", "abc"), 417);
  refused(all, "100-continue for a body above the limit",
          post_with("Expect: 100-continue\r\nContent-Length: 1001\r\n", ""), 413);
}

std::string get_with_line_of(std::size_t size) {
  const std::string frame = "GET / HTTP/1.1";
  return "GET /" + std::string(size - frame.size(), 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string get_with_header_bytes(std::size_t size) {
  const std::string frame = "Host: a\r\nX: \r\n";
  return get_with("Host: a\r\nX: " + std::string(size - frame.size(), 'x') + "\r\n");
}

std::string get_with_fields(std::size_t count) {
  std::string fields = "Host: a\r\n";
  for (std::size_t i = 1; i < count; ++i) fields += "X: y\r\n";
  return get_with(fields);
}

void add_header_limits(Vectors& all) {
  accepted(all, "request line one below its limit", get_with_line_of(8191));
  accepted(all, "request line at its limit", get_with_line_of(8192));
  refused(all, "request line one above its limit", get_with_line_of(8193), 414);
  refused(all, "request line without an end", "GET /" + std::string(9000, 'x'), 414);
  accepted(all, "header one byte below its limit", get_with_header_bytes(32767));
  accepted(all, "header at its limit", get_with_header_bytes(32768));
  refused(all, "header one byte above its limit", get_with_header_bytes(32769), 431);
  refused(all, "header without an end", kGet + "X: " + std::string(40000, 'x'), 431);
  accepted(all, "99 fields", get_with_fields(99));
  accepted(all, "100 fields", get_with_fields(100));
  refused(all, "101 fields", get_with_fields(101), 431);
}

}  // namespace

std::vector<FramingVector> framing_vectors() {
  Vectors all;
  add_plain(all);
  add_request_line(all);
  add_line_ends(all);
  add_fields(all);
  add_host(all);
  add_lengths(all);
  add_codings(all);
  add_chunks(all);
  add_trailers(all);
  add_expectations(all);
  add_header_limits(all);
  return all;
}

}  // namespace eventq::http
