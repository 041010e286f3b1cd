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

constexpr std::string_view kPolicyOfQueue = "queue";

}  // namespace

Error corrupt_row(const std::string& what) {
  return {ErrorCode::corrupt, "The store holds " + what + "; restore it from a backup.", ""};
}

std::string retry_to_text(const RetryRules& rules) {
  if (!rules.retry && !rules.max_attempts) return {};
  const RetryPolicy retry = rules.retry.value_or(RetryPolicy());
  const bool fixed = retry.kind == RetryPolicy::Kind::fixed;
  std::string text = std::string(fixed ? "fixed " : "exponential ") + std::to_string(retry.base.count()) +
                     " " + std::to_string(retry.cap.count()) + " " +
                     std::to_string(std::llround(retry.jitter * kJitterUnit));
  if (rules.max_attempts) text += " " + std::to_string(*rules.max_attempts);
  if (!rules.retry) text += " " + std::string(kPolicyOfQueue);
  return text;
}

Result<RetryRules> retry_from_text(std::string_view text) {
  if (text.empty()) return RetryRules();
  std::array<std::string_view, 6> parts;
  // A missing part is empty. No part of a policy may be, so the check below finds it.
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(text.find(' '), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto base = parse_whole<std::int64_t>(parts[1]);
  const auto cap = parse_whole<std::int64_t>(parts[2]);
  const auto jitter = parse_whole<std::int64_t>(parts[3]);
  const auto max_attempts = parse_whole<int>(parts[4]);
  const bool has_policy = base && cap && jitter && (parts[0] == "fixed" || parts[0] == "exponential");
  const bool has_end = parts[5].empty() || parts[5] == kPolicyOfQueue;
  if (!has_policy || !has_end || (!max_attempts && !parts[4].empty())) {
    return corrupt_row("an event with an unreadable retry policy");
  }
  RetryRules rules{.retry = std::nullopt, .max_attempts = max_attempts};
  if (parts[5].empty()) {
    rules.retry = RetryPolicy{parts[0] == "fixed" ? RetryPolicy::Kind::fixed : RetryPolicy::Kind::exponential,
                              Millis(*base), Millis(*cap), static_cast<double>(*jitter) / kJitterUnit};
  }
  return rules;
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
