// row_text.cc: see row_text.h.
#include "store/row_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/numbers.h"
#include "model/tags.h"

namespace eventq {
namespace {

// Jitter is stored in millionths, because the text has whole numbers only.
constexpr double kJitterUnit = 1'000'000;

}  // namespace

Error corrupt_row(const std::string& what) {
  return {ErrorCode::corrupt, "The store holds " + what + "; restore it from a backup.", ""};
}

std::string retry_to_text(const std::optional<RetryPolicy>& retry) {
  if (!retry) return {};
  const bool fixed = retry->kind == RetryPolicy::Kind::fixed;
  return std::string(fixed ? "fixed " : "exponential ") + std::to_string(retry->base.count()) + " " +
         std::to_string(retry->cap.count()) + " " + std::to_string(std::llround(retry->jitter * kJitterUnit));
}

Result<std::optional<RetryPolicy>> retry_from_text(std::string_view text) {
  if (text.empty()) return std::optional<RetryPolicy>();
  std::array<std::string_view, 4> parts;
  // A missing part is empty, and no part of a policy may be, so the check below finds it.
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(text.find(' '), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto base = parse_whole<std::int64_t>(parts[1]);
  const auto cap = parse_whole<std::int64_t>(parts[2]);
  const auto jitter = parse_whole<std::int64_t>(parts[3]);
  if (!base || !cap || !jitter || (parts[0] != "fixed" && parts[0] != "exponential")) {
    return corrupt_row("an event with an unreadable retry policy");
  }
  return std::optional(
      RetryPolicy{parts[0] == "fixed" ? RetryPolicy::Kind::fixed : RetryPolicy::Kind::exponential,
                  Millis(*base), Millis(*cap), static_cast<double>(*jitter) / kJitterUnit});
}

std::string errors_to_text(const std::vector<std::string>& errors) {
  std::string json;
  JsonWriter writer(json);
  writer.begin_array();
  for (const std::string& error : errors) writer.string(error);
  writer.end_array();
  return json;
}

Result<std::vector<std::string>> errors_from_text(std::string_view text) {
  JsonParser parser;
  const auto value = parser.parse(text);
  if (!value || value->type() != JsonType::array)
    return corrupt_row("a log entry whose errors are not a JSON array");
  std::vector<std::string> errors;
  for (const JsonValue& element : value->elements()) {
    errors.emplace_back(element.string().value_or(""));
  }
  return errors;
}

std::string ids_to_text(const std::vector<EventId>& ids) {
  std::string text;
  for (const EventId id : ids) {
    if (!text.empty()) text += ',';
    text += std::to_string(static_cast<std::int64_t>(id));
  }
  return text;
}

Result<std::vector<EventId>> ids_from_text(std::string_view text) {
  std::vector<EventId> ids;
  if (text.empty()) return ids;
  for (const std::string& part : split_tags(text)) {
    const auto id = parse_whole<std::int64_t>(part);
    if (!id) return corrupt_row("an idempotency key with an unreadable event id");
    ids.push_back(static_cast<EventId>(*id));
  }
  return ids;
}

}  // namespace eventq
