// record.cc: see record.h.
#include "cli/framework/record.h"

#include <algorithm>

#include "base/json_writer.h"

namespace eventq::cli {
namespace {

std::optional<JsonValue> member(const JsonValue& value, std::string_view name) {
  if (value.type() != JsonType::object) return std::nullopt;
  for (const JsonMember& member : value.members()) {
    if (member.name == name) return member.value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<JsonValue> value_at(const JsonValue& value, std::string_view path) {
  // Names of members may contain dots, so the complete path is tried first.
  if (const auto whole = member(value, path)) return whole;
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto outer = member(value, path.substr(0, dot));
  return outer ? value_at(*outer, path.substr(dot + 1)) : std::nullopt;
}

std::optional<std::string> text_at(const JsonValue& value, std::string_view path) {
  const auto found = value_at(value, path);
  // null means absent in answers of the server.
  if (!found || found->type() == JsonType::null) return std::nullopt;
  return std::string(found->string().value_or(found->raw()));
}

std::optional<std::int64_t> integer_at(const JsonValue& value, std::string_view path) {
  const auto found = value_at(value, path);
  return found ? found->integer() : std::nullopt;
}

std::vector<JsonValue> elements_at(const JsonValue& value, std::string_view name) {
  const auto found = value_at(value, name);
  if (!found || found->type() != JsonType::array) return {};
  return found->elements();
}

AnswerJson::AnswerJson(std::string_view body) {
  const auto parsed = parser_.parse(body);
  if (parsed) value_ = *parsed;
  if (!parsed) error_ = parsed.error().message;
}

std::string as_json(const std::string& text) {
  JsonParser parser;
  if (parser.parse(text)) return text;
  std::string json;
  append_json_string(json, text);
  return json;
}

std::string json_fault(const Error& error) {
  const std::size_t colon = error.message.find(": ");
  return colon == std::string::npos ? error.message : error.message.substr(colon + 2);
}

std::vector<std::string> split_list(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::string join_list(const std::vector<std::string>& parts, std::string_view separator) {
  std::string list;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) list += separator;
    list += part;
  }
  return list;
}

}  // namespace eventq::cli
