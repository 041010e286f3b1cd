// json_lines.cc: see json_lines.h.
#include "support/json_lines.h"

#include "base/json.h"

namespace eventq {
namespace {

void flatten(const std::string& where, const JsonValue& value, JsonLines& lines) {
  const auto put = [&](std::string what) { lines[where] = std::move(what); };
  if (const auto text = value.string()) return put('"' + std::string(*text) + '"');
  if (value.type() == JsonType::array) {
    const auto elements = value.elements();
    if (elements.empty()) return put("[]");
    for (std::size_t i = 0; i < elements.size(); ++i) {
      flatten(where + "[" + std::to_string(i) + "]", elements[i], lines);
    }
    return;
  }
  if (value.type() == JsonType::object) {
    const auto members = value.members();
    if (members.empty()) return put("{}");
    for (const JsonMember& member : members) {
      const std::string inner =
          where.empty() ? std::string(member.name) : where + "." + std::string(member.name);
      if (member.name == "payload") {
        lines[inner] = member.value.raw();
      } else {
        flatten(inner, member.value, lines);
      }
    }
    return;
  }
  put(std::string(value.raw()));
}

std::string side_by_side(const std::string& where, const std::string& expected, const std::string& actual) {
  return "  " + where + "\n    expected: " + expected + "\n    actual:   " + actual + "\n";
}

}  // namespace

JsonLines json_lines(std::string_view text) {
  if (text.empty()) return {};
  JsonParser parser;
  const auto value = parser.parse(text);
  if (!value) return {{"", "not JSON: " + value.error().message + " " + std::string(text)}};
  JsonLines lines;
  flatten("", *value, lines);
  return lines;
}

std::string missing(const JsonLines& expected, const JsonLines& actual) {
  std::string text;
  for (const auto& [where, what] : expected) {
    const auto found = actual.find(where);
    if (found == actual.end()) {
      text += side_by_side(where, what, "(nothing)");
    } else if (found->second != what) {
      text += side_by_side(where, what, found->second);
    }
  }
  return text;
}

std::string difference(const JsonLines& expected, const JsonLines& actual) {
  std::string text = missing(expected, actual);
  for (const auto& [where, what] : actual) {
    if (!expected.contains(where)) text += side_by_side(where, "(nothing)", what);
  }
  return text;
}

}  // namespace eventq
