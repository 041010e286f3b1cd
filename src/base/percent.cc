// percent.cc: see percent.h.
#include "base/percent.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/numbers.h"
#include "base/utf8.h"

namespace eventq {
namespace {

// No request of the API has as many. The limit bounds the search for repeated names, which is quadratic.
constexpr std::size_t kParametersMax = 64;

Error bad_argument(std::string message, std::string field = {}) {
  return {.code = ErrorCode::invalid_argument, .message = std::move(message), .field = std::move(field)};
}

// The byte that "%41" encodes. `text` begins with the '%'.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto byte = parse_all<unsigned char>(text.substr(1, 2), 16);
  return byte ? std::optional(static_cast<char>(*byte)) : std::nullopt;
}

Result<QueryParameter> parse_parameter(std::string_view part) {
  const std::size_t equals = std::min(part.find('='), part.size());
  auto name = percent_decode(part.substr(0, equals), PlusIs::space);
  if (!name) return name.error();
  if (name->empty()) return bad_argument("A query parameter has no name.");

  auto value = percent_decode(part.substr(std::min(equals + 1, part.size())), PlusIs::space);
  if (!value) return bad_argument("The query parameter \"" + *name + "\": " + value.error().message, *name);
  return QueryParameter{.name = *std::move(name), .value = *std::move(value)};
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 0xF];
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text, PlusIs plus_is) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '%') {
      const auto byte = escaped_byte(text.substr(at));
      if (!byte) return bad_argument("A percent sign must be followed by two hexadecimal digits.");
      out += *byte;
      at += 2;
    } else {
      out += c == '+' && plus_is == PlusIs::space ? ' ' : c;
    }
  }
  // "%00" could end a text early in C functions and in PostgreSQL.
  if (out.find('\0') != std::string::npos) return bad_argument("A part of the URL holds the character NUL.");
  if (!valid_utf8(out)) return bad_argument("A part of the URL is not valid UTF-8.");
  return out;
}

Result<std::vector<QueryParameter>> parse_query(std::string_view query) {
  std::vector<QueryParameter> parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    if (parameters.size() == kParametersMax) {
      return bad_argument("The query has more than " + std::to_string(kParametersMax) + " parameters.");
    }

    auto parameter = parse_parameter(part);
    if (!parameter) return parameter.error();
    const auto is_twin = [&](const QueryParameter& other) { return other.name == parameter->name; };
    if (std::any_of(parameters.begin(), parameters.end(), is_twin)) {
      return bad_argument("The query parameter \"" + parameter->name + "\" is given twice.", parameter->name);
    }
    parameters.push_back(*std::move(parameter));
  }
  return parameters;
}

}  // namespace eventq
