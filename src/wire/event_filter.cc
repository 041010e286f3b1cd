// event_filter.cc: see event_filter.h.
#include "wire/event_filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/time_text.h"
#include "model/names.h"
#include "model/pattern.h"
#include "model/tags.h"
#include "model/validate.h"
#include "wire/event_fields.h"
#include "wire/fields.h"

namespace eventq::wire {
namespace {

struct Values {
  ListFilter filter;
  TimePoint now;
};
using Value = const std::string&;

template <std::optional<std::string> ListFilter::*member>
std::optional<Error> set_text(Values& values, Value value) {
  values.filter.*member = value;
  return std::nullopt;
}

std::optional<Error> set_status(Values& values, Value value) {
  const auto status = parse_status(value);
  if (!status) return status.error();
  values.filter.status = *status;
  return std::nullopt;
}

std::optional<Error> set_tags(Values& values, Value value) {
  auto tags = parse_tags(value);
  if (!tags) return tags.error();
  values.filter.tags = std::move(*tags);
  return std::nullopt;
}

std::optional<Error> set_event_id(Values& values, Value value) {
  values.filter.event_id = value;
  return validate_event_id(value);
}

std::optional<Error> set_pattern(Values& values, Value value) {
  values.filter.pattern = value;
  return validate_pattern(value);
}

template <std::optional<TimePoint> ListFilter::*member>
std::optional<Error> set_time(Values& values, Value value) {
  const auto time = parse_time_or_age("filter", value, values.now);
  if (!time) return time.error();
  values.filter.*member = *time;
  return std::nullopt;
}

Error no_age(std::string_view word, Value value) {
  return invalid("filter", std::string(word) +
                               ": takes a whole number and its unit (ms, s, m, h or d), such as " +
                               std::string(word) + ":1h, not \"" + value + "\"");
}

std::optional<Error> set_older(Values& values, Value value) {
  const auto age = parse_duration(value);
  if (!age) return no_age("older", value);
  // An event that is exactly this old matches, and `until` excludes its own time.
  values.filter.until = values.now - *age + Millis(1);
  return std::nullopt;
}

std::optional<Error> set_newer(Values& values, Value value) {
  const auto age = parse_duration(value);
  if (!age) return no_age("newer", value);
  values.filter.since = values.now - *age;
  return std::nullopt;
}

struct Condition {
  std::string_view word;
  std::optional<Error> (*set)(Values&, Value);
  std::string_view sets = {};  // the word of another condition that sets the same; empty: none
};

constexpr Condition kConditions[] = {
    {"status", set_status},
    {"tag", set_tags},
    {"queue", set_text<&ListFilter::queue>},
    {"worker", set_text<&ListFilter::worker_id>},
    {"correlation", set_text<&ListFilter::correlation_id>},
    {"event_id", set_event_id},
    {"pattern", set_pattern},
    {"error", set_text<&ListFilter::error>},
    {"since", set_time<&ListFilter::since>},
    {"until", set_time<&ListFilter::until>},
    {"older", set_older, "until"},
    {"newer", set_newer, "since"},
};

std::vector<std::string> words() {
  std::vector<std::string> all;
  for (const Condition& condition : kConditions) all.emplace_back(condition.word);
  return all;
}

// Reads one condition after the other, and remembers where it is for errors.
class FilterReader {
 public:
  FilterReader(std::string_view text, TimePoint now) : text_(text), values_{{}, now} {}

  Result<ListFilter> read() {
    skip_blanks();
    if (at_end()) return wrong("a filter needs a condition, such as status:FAILED");
    while (!at_end()) {
      if (auto fault = read_condition()) return *fault;
      skip_blanks();
    }
    return std::move(values_.filter);
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] static bool is_blank(char c) { return c == ' ' || c == '\t'; }

  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
    begin_ = at_;
  }

  [[nodiscard]] Error wrong(const std::string& message) const {
    return invalid("filter", "At character " + std::to_string(begin_ + 1) + " of the filter: " + message);
  }

  std::optional<Error> read_condition() {
    // Only the first colon separates, because a value may contain others: worker:host-1:8742.
    while (!at_end() && text_[at_] != ':' && !is_blank(text_[at_])) ++at_;
    const std::string word(text_.substr(begin_, at_ - begin_));
    const auto* const found = std::find_if(std::begin(kConditions), std::end(kConditions),
                                           [&](const Condition& it) { return it.word == word; });
    if (found == std::end(kConditions)) return unknown(word);
    if (!at_end() && text_[at_] == ':') ++at_;
    std::string value;
    if (auto fault = read_value(value)) return fault;
    if (value.empty()) return wrong(word + ": needs a value directly after the colon, as in status:FAILED");
    if (!given_.insert(found->sets.empty() ? found->word : found->sets).second) {
      const bool aliased = word == "older" || word == "until" || word == "newer" || word == "since";
      return wrong(word + ": is given twice; give each condition once" +
                   (aliased ? ", and only one of until: and older:, and of since: and newer:" : ""));
    }
    if (auto fault = found->set(values_, value)) return wrong(fault->message);
    return std::nullopt;
  }

  std::optional<Error> read_value(std::string& value) {
    if (at_end() || text_[at_] != '"') {
      const std::size_t first = at_;
      while (!at_end() && !is_blank(text_[at_])) ++at_;
      value = text_.substr(first, at_ - first);
      return std::nullopt;
    }
    for (++at_; !at_end() && text_[at_] != '"'; ++at_) {
      const bool escapes =
          text_[at_] == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
      if (escapes) ++at_;
      value += text_[at_];
    }
    if (at_end()) return wrong("the value has no closing \"");
    ++at_;
    if (at_end() || is_blank(text_[at_])) return std::nullopt;
    return wrong("after a closing \" there must be a blank or the end");
  }

  [[nodiscard]] Error unknown(const std::string& word) const {
    const std::string guess = did_you_mean(word, words());
    return wrong("a filter has no condition \"" + word + "\"" +
                 (guess.empty() ? "; there are " + filter_words() : guess));
  }

  std::string_view text_;
  Values values_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // of the condition that is read
  std::set<std::string_view> given_;
};

}  // namespace

const std::string& filter_words() {
  static const std::string all = [] {
    std::string text;
    const auto names = words();
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
      text += names[i] + ":";
    }
    return text;
  }();
  return all;
}

Result<ListFilter> parse_event_filter(std::string_view text, TimePoint now) {
  return FilterReader(text, now).read();
}

Result<TimePoint> parse_time_or_age(std::string_view field, std::string_view text, TimePoint now) {
  if (const auto time = parse_iso_time(text)) return *time;
  if (const auto age = parse_duration(text)) return now - *age;
  return invalid(field,
                 "\"" + std::string(text) +
                     "\" is neither a time in UTC such as 2025-12-24T10:30:00Z, nor an age such as 1h.");
}

Result<Status> parse_status(std::string_view text) {
  if (const auto status = status_in_any_case(text)) return *status;
  std::vector<std::string> names;
  for (auto status = Status::pending; status <= Status::cancelled;
       status = static_cast<Status>(static_cast<int>(status) + 1)) {
    names.emplace_back(name_of(status));
  }
  const std::string guess = did_you_mean(text, names);
  return invalid("status", "There is no status \"" + std::string(text) + "\"" +
                               (guess.empty() ? "; there are PENDING, PROCESSING, COMPLETED, "
                                                "COMPLETED_WITH_ERRORS, FAILED, SUPERSEDED and CANCELLED."
                                              : guess));
}

}  // namespace eventq::wire
