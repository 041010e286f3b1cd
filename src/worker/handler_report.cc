// handler_report.cc: see handler_report.h.
#include "worker/handler_report.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

using Kind = Handled::HandledKind;

// All messages, the most severe first, because failures are grouped by their first line.
std::vector<std::string> messages(const std::vector<Handled>& handled) {
  std::vector<const Handled*> ordered;
  ordered.reserve(handled.size());
  for (const Handled& one : handled) ordered.push_back(&one);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Handled* a, const Handled* b) { return a->kind() > b->kind(); });
  std::vector<std::string> found;
  for (const Handled* one : ordered) {
    if (!one->message().empty()) found.push_back(one->message());
  }
  return found;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += between;
    text += part;
  }
  return text;
}

// A text that the queue accepts: valid UTF-8 without U+0000, of at most `limit` bytes.
std::string clean(std::string text, std::size_t limit) {
  std::replace(text.begin(), text.end(), '\0', ' ');
  return cut_utf8(to_valid_utf8(text), limit);
}

// The end of a text, in the same form: there a stack trace names what was thrown, and a program its error.
std::string clean_end(std::string text, std::size_t limit) {
  std::replace(text.begin(), text.end(), '\0', ' ');
  return utf8_end(to_valid_utf8(text), limit);
}

std::string detail(const std::vector<Handled>& handled) {
  std::string last;
  for (const Handled& one : handled) last = one.detail().empty() ? last : one.detail();
  return clean_end(std::move(last), limits::kErrorDetail);
}

std::string result(const std::vector<Handled>& handled) {
  std::string last;
  for (const Handled& one : handled) last = one.result().empty() ? last : one.result();
  return last;
}

// Why the queue would refuse the result; empty: it would not.
std::string bad_result(const std::string& result) {
  if (result.empty()) return {};
  if (result.size() > limits::kResult) {
    return "The result has " + std::to_string(result.size()) + " bytes; at most " +
           std::to_string(limits::kResult) + " are allowed.";
  }
  constexpr std::size_t kLevelsAround = 3;  // those of the request of POST /events/next
  JsonParser parser(limits::kJsonDepth - kLevelsAround);
  const auto parsed = parser.parse(result);
  return parsed ? "" : "The result is not JSON: " + parsed.error().message;
}

std::vector<std::string> errors(const std::vector<Handled>& handled) {
  std::vector<std::string> found;
  for (const Handled& one : handled) {
    if (one.kind() != Kind::error) continue;
    const bool says_nothing = one.message().empty();
    found.push_back(says_nothing ? "An error without a message."
                                 : clean(one.message(), limits::kErrorMessage));
  }
  if (found.size() > limits::kErrors) {
    const std::size_t more = found.size() - limits::kErrors + 1;
    found.resize(limits::kErrors - 1);
    found.push_back("And " + std::to_string(more) + " more errors.");
  }
  return found;
}

// The reason on one line. It is cut to as many bytes as it may have characters, which is never too long.
std::string reason(const std::vector<Handled>& handled) {
  std::string text = joined(messages(handled), "; ");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return clean(std::move(text), limits::kReasonChars);
}

// The longest delay, so that no handler sees the event before the time that it asked for.
Millis delay(const std::vector<Handled>& handled) {
  Millis longest{0};
  for (const Handled& one : handled) longest = std::max(longest, one.delay());
  return std::min(longest, Millis(limits::kDelay));
}

}  // namespace

decltype(Report::what) handler_report(const std::vector<Handled>& handled, Millis took) {
  const std::int64_t ms = std::clamp<std::int64_t>(took.count(), 0, limits::kExecutionTimeMs);
  const auto failure = [&](const std::string& message, bool permanent) {
    return Failure{.execution_time_ms = ms,
                   .message = clean(message, limits::kErrorMessage),
                   .permanent = permanent,
                   .detail = detail(handled)};
  };
  if (handled.empty()) return failure("No handler of this worker matches the event.", false);

  const auto graver = [](const Handled& a, const Handled& b) { return a.kind() < b.kind(); };
  switch (std::max_element(handled.begin(), handled.end(), graver)->kind()) {
    case Kind::fail: return failure(joined(messages(handled), "\n"), true);
    case Kind::retry: return failure(joined(messages(handled), "\n"), false);
    case Kind::later: return Return{delay(handled), reason(handled)};
    case Kind::error:
    case Kind::done: break;
  }
  std::string returned = result(handled);
  if (const std::string fault = bad_result(returned); !fault.empty()) return failure(fault, true);
  return Outcome{.execution_time_ms = ms, .errors = errors(handled), .result = std::move(returned)};
}

}  // namespace eventq
