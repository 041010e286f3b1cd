// cause.cc: see cause.h.
#include "model/cause.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "eventq/limits.h"

namespace eventq {
namespace {

constexpr std::size_t kLongestCause = 200;

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
// The bytes of a letter outside ASCII count as letters.
constexpr bool is_letter(char c) { return is_upper(c) || is_lower(c) || static_cast<unsigned char>(c) > 127; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_hex(char c) { return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f'); }
constexpr bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }
// Parts of a message that are judged as a whole: an address, a time, a URL.
constexpr bool ends_chunk(char c) {
  return is_quote(c) || std::string_view(" \t()[]{}<>,;=|").find(c) != std::string_view::npos;
}

bool all(std::string_view text, bool (*accepts)(char)) {
  return std::all_of(text.begin(), text.end(), accepts);
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

// A number directly after one of these is a code, as is one after a word that ends with "code".
constexpr std::array<std::string_view, 11> kCodeWords = {
    "code", "status", "errno", "exit", "exited", "signal", "sqlstate", "smtp", "http", "hresult", "rc"};
// After these it is one unless a word follows: "error 1062: …", but "error: 17 rows are missing".
constexpr std::array<std::string_view, 7> kWeakCodeWords = {"error",    "err",    "declined", "refused",
                                                            "rejected", "denied", "response"};
// After these only a number in the range of HTTP errors is a code.
constexpr std::array<std::string_view, 6> kAnswerWords = {"with",     "returned",  "got",
                                                          "received", "responded", "answered"};
// The prefixes of codes such as ORA-00942.
constexpr std::array<std::string_view, 5> kDashedCodes = {"ora", "tns", "pls", "sql", "my"};
// card_declined: 51 has a code, order_id: 51 has not.
constexpr std::array<std::string_view, 27> kCountedNames = {
    "id",   "ids",   "ms",   "s",    "sec", "secs", "seconds", "count",  "size",
    "len",  "bytes", "at",   "time", "ts",  "no",   "num",     "number", "index",
    "line", "row",   "port", "pid",  "key", "user", "order",   "amount", "attempt"};
constexpr std::array<std::string_view, 12> kUnits = {
    "ms", "s", "sec", "seconds", "minutes", "bytes", "rows", "events", "records", "items", "errors", "times"};
// A quoted text after one of these is a value, even if it looks like a name.
constexpr std::array<std::string_view, 8> kValueWords = {"entry",    "value",   "literal", "input",
                                                         "customer", "account", "user",    "token"};

// 550, 404: what SMTP and HTTP servers answer when they refuse.
bool is_refusal(std::string_view digits) {
  return digits.size() == 3 && digits[0] >= '3' && digits[0] <= '5';
}

// 5.1.1: an enhanced status code of SMTP. Its first digit is 2, 4 or 5.
bool is_enhanced_code(std::string_view text) {
  if (text.size() < 5 || (text[0] != '2' && text[0] != '4' && text[0] != '5') || text[1] != '.') return false;
  const std::size_t dot = text.find('.', 2);
  if (dot == std::string_view::npos) return false;
  const std::string_view subject = text.substr(2, dot - 2);
  const std::string_view detail = text.substr(dot + 1);
  const auto is_part = [](std::string_view part) {
    return !part.empty() && part.size() <= 3 && all(part, is_digit);
  };
  return is_part(subject) && is_part(detail);
}

// 550-5.1.1: the same in an answer of several lines.
bool is_dashed_smtp_code(std::string_view text) {
  return text.size() > 4 && text[3] == '-' && all(text.substr(0, 3), is_digit) &&
         is_enhanced_code(text.substr(4));
}

// An address, a UUID, a date or a time: digits in groups, with at least two separators.
bool is_grouped_number(std::string_view text) {
  const auto fits = [](char c) {
    return is_hex(c) || std::string_view(":.-+TZ").find(c) != std::string_view::npos;
  };
  const auto separators = std::count_if(text.begin(), text.end(), [](char c) { return !is_word(c); });
  return std::any_of(text.begin(), text.end(), is_digit) && std::all_of(text.begin(), text.end(), fits) &&
         separators >= 2;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != std::string_view::npos && at > 0 && is_word(text[at - 1]) &&
         text.find('.', at) != std::string_view::npos;
}

// A word of random characters: a hexadecimal number, or letters and digits in turns.
bool is_random(std::string_view word) {
  const bool digits = std::any_of(word.begin(), word.end(), is_digit);
  if (all(word, is_hex)) return word.size() >= (digits ? 6 : 8);
  int turns = 0;
  for (std::size_t i = 1; i < word.size(); ++i) turns += is_digit(word[i]) != is_digit(word[i - 1]) ? 1 : 0;
  return word.size() >= 6 && turns >= 2;
}

// E11000, CS0103: capitals, then digits.
bool is_capital_code(std::string_view word) {
  const auto digit = std::find_if(word.begin(), word.end(), is_digit);
  const auto letters = static_cast<std::size_t>(digit - word.begin());
  return letters >= 1 && letters <= 8 && word.size() > letters && word.size() - letters <= 5 &&
         all(word.substr(0, letters), is_upper) && all(word.substr(letters), is_digit);
}

// The name of a column, key, class or file in quotes, as opposed to a value.
bool is_plain_name(std::string_view text) {
  const auto fits = [](char c) {
    return is_letter(c) || std::string_view("_.$()<>:/-").find(c) != std::string_view::npos;
  };
  return text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

// Replaces the variable parts of one line.
class CauseWriter {
 public:
  explicit CauseWriter(std::string_view line) : line_(line) {}

  std::string write() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (is_quote(c) && !follows_word(at_)) {
        write_quoted();
      } else if (!ends_chunk(c) && starts_chunk(at_)) {
        write_chunk();
      } else if (is_word(c)) {
        write_word();
      } else {
        out_ += c;
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  bool follows_word(std::size_t at) const { return at > 0 && is_word(line_[at - 1]); }
  bool starts_chunk(std::size_t at) const { return at == 0 || ends_chunk(line_[at - 1]); }

  void put_variable(std::size_t end) {
    // 17/20, 1.5 and 3-5 are one variable part.
    const std::size_t size = out_.size();
    const bool joins = size >= 2 && out_[size - 2] == '#' &&
                       std::string_view(".,:/-").find(out_[size - 1]) != std::string_view::npos;
    if (joins) {
      out_.pop_back();
    } else {
      out_ += '#';
    }
    at_ = end;
  }

  void put_unchanged(std::size_t end) {
    out_ += line_.substr(at_, end - at_);
    at_ = end;
  }

  // Quoted text with spaces is a sentence, and its parts are judged one by one.
  void write_quoted() {
    const char quote = line_[at_];
    const std::size_t close = line_.find(quote, at_ + 1);
    const std::string before = name_before(at_);
    out_ += quote;
    ++at_;
    if (close == std::string_view::npos) return;
    const std::string_view text = line_.substr(at_, close - at_);
    if (text.find_first_of(" \t") != std::string_view::npos || all(text, is_digit)) return;
    if (is_plain_name(text) && !is_one_of(before, kValueWords)) return put_unchanged(close + 1);
    if (is_code_word(before) && text.size() <= 8 && all(text, is_word)) return put_unchanged(close + 1);
    put_variable(close);
    put_unchanged(close + 1);
  }

  void write_chunk() {
    std::size_t end = at_;
    while (end < line_.size() && !ends_chunk(line_[end])) ++end;
    const std::size_t after = end;
    while (end > at_ && std::string_view(".:!?").find(line_[end - 1]) != std::string_view::npos) --end;
    const std::string_view chunk = line_.substr(at_, end - at_);
    if (is_enhanced_code(chunk) || is_dashed_smtp_code(chunk)) return put_unchanged(end);
    if (is_email(chunk) || is_grouped_number(chunk)) return put_variable(end);
    const std::size_t query = chunk.find("://") == std::string_view::npos ? chunk.npos : chunk.find('?');
    const std::size_t until = query == chunk.npos ? after : at_ + query;
    while (at_ < until) {
      if (is_word(line_[at_])) {
        write_word();
      } else {
        put_unchanged(at_ + 1);
      }
    }
    if (query == chunk.npos) return;
    out_ += "?";
    put_variable(std::min(line_.find_first_of(" \t\"'`)]>", at_), line_.size()));
  }

  void write_word() {
    std::size_t end = at_;
    while (end < line_.size() && is_word(line_[end])) ++end;
    const std::string_view word = line_.substr(at_, end - at_);
    if (all(word, is_digit)) return write_number(end);
    if (std::none_of(word.begin(), word.end(), is_digit)) {
      return is_random(word) ? put_variable(end) : put_unchanged(end);
    }
    if (is_mixed_code(word, end)) return put_unchanged(end);
    if (word.starts_with("0x") || is_random(word)) return put_variable(end);
    while (at_ < end) {
      std::size_t run = at_;
      while (run < end && is_digit(line_[run]) == is_digit(line_[at_])) ++run;
      if (is_digit(line_[at_])) {
        put_variable(run);
      } else {
        put_unchanged(run);
      }
    }
  }

  // A word of letters and digits that is a code: SQLSTATE[42P01], 0x80070005 after "error", E11000 at the
  // beginning of a clause.
  bool is_mixed_code(std::string_view word, std::size_t end) const {
    const std::string before = name_before(at_);
    const bool named = is_code_word(before) || is_one_of(before, kWeakCodeWords);
    const auto is_capital_or_digit = [](char c) { return is_upper(c) || is_digit(c); };
    if (named && word.starts_with("0x") && word.size() <= 10) return true;
    if (named && word.size() <= 8 && std::all_of(word.begin(), word.end(), is_capital_or_digit)) return true;
    const bool closed =
        end < line_.size() && std::string_view(":)]").find(line_[end]) != std::string_view::npos;
    return is_capital_code(word) && !follows_dash() && (starts_clause() || closed);
  }

  void write_number(std::size_t end) {
    const bool code = is_code(line_.substr(at_, end - at_), end);
    if (!code) return put_variable(end);
    put_unchanged(end);
    kept_to_ = end;
  }

  bool is_code(std::string_view digits, std::size_t end) const {
    if (digits.size() > 5) return false;
    const std::string before = name_before(at_);
    const std::string_view separators = separators_before(at_);
    // The second number of "ERROR 1062 (23000)" and of "HTTP/1.1 503".
    if (kept_to_ > 0 && at_ - separators.size() == kept_to_) return true;
    if (is_code_word(before) && (!follows_slash() || before == "http")) return true;
    if (is_one_of(before, kDashedCodes) && follows_dash()) return true;
    if (is_one_of(before, kWeakCodeWords) && !is_followed_by_word(end)) return true;
    if (is_refusal(digits) && is_one_of(before, kAnswerWords)) return !is_followed_by_unit(end);
    if (is_reason(before) && digits.size() <= 3 && !is_followed_by_word(end))
      return separators.find_first_of(":=(") != std::string_view::npos;
    return is_refusal(digits) && is_answer(end);
  }

  // Whether a number from 300 to 599 is the answer of a server: "550 …", "…: 404 Not Found", "(503)".
  bool is_answer(std::size_t end) const {
    if (at_ == 0) return !is_followed_by_unit(end);
    if (!starts_clause()) return false;
    const std::string_view rest = line_.substr(end);
    if (rest.starts_with(" OK") || rest.starts_with(")") || rest.starts_with("]")) return true;
    if (rest.starts_with(",")) return line_[at_ - 1] == '(';
    const std::string_view next = rest.substr(std::min<std::size_t>(rest.size(), 1));
    const bool sentence = next.size() >= 2 && is_upper(next[0]) && is_lower(next[1]);
    return rest.starts_with(" ") && (sentence || is_enhanced_code(next.substr(0, next.find(' '))));
  }

  bool starts_clause() const {
    if (at_ == 0) return true;
    return line_[at_ - 1] == '(' || line_[at_ - 1] == '[' || line_.substr(0, at_).ends_with(": ");
  }
  bool follows_dash() const { return at_ > 0 && line_[at_ - 1] == '-'; }
  bool follows_slash() const { return at_ > 0 && line_[at_ - 1] == '/'; }

  bool is_followed_by_word(std::size_t end) const {
    return end + 1 < line_.size() && line_[end] == ' ' && is_lower(line_[end + 1]);
  }
  bool is_followed_by_unit(std::size_t end) const {
    if (!is_followed_by_word(end)) return false;
    const std::string_view rest = line_.substr(end + 1);
    const auto word_end = std::find_if_not(rest.begin(), rest.end(), is_letter);
    return is_one_of(rest.substr(0, static_cast<std::size_t>(word_end - rest.begin())), kUnits);
  }

  // What stands between a number and the name before it.
  std::string_view separators_before(std::size_t at) const {
    std::size_t begin = at;
    while (begin > 0 && std::string_view(" \t:=#([\"'-/.").find(line_[begin - 1]) != std::string_view::npos)
      --begin;
    return line_.substr(begin, at - begin);
  }
  // In lower case; empty if there is none.
  std::string name_before(std::size_t at) const {
    const std::size_t end = at - separators_before(at).size();
    std::size_t begin = end;
    while (begin > 0 && (is_letter(line_[begin - 1]) || line_[begin - 1] == '_')) --begin;
    return lower(line_.substr(begin, end - begin));
  }

  static bool is_code_word(std::string_view name) {
    return is_one_of(name, kCodeWords) || name.ends_with("code") || name.ends_with("_status") ||
           name.ends_with("errno");
  }
  // card_declined, do_not_honor: the name of a reason, and not of a counter or an id.
  static bool is_reason(std::string_view name) {
    const std::size_t last = name.rfind('_');
    return last != std::string_view::npos && !is_one_of(name.substr(last + 1), kCountedNames);
  }

  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t kept_to_ = 0;  // the end of the last number that stayed; 0: none
  std::string out_;
};

std::vector<std::string_view> lines_of(std::string_view message) {
  std::vector<std::string_view> lines;
  while (!message.empty()) {
    const std::size_t end = std::min(message.find_first_of("\r\n"), message.size());
    lines.push_back(message.substr(0, end));
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return lines;
}

bool says_something(std::string_view line) { return std::any_of(line.begin(), line.end(), is_word); }

// A line of a Python traceback before the line of the exception.
bool is_python_frame(std::string_view line) {
  if (line.ends_with("Traceback (most recent call last):")) return true;
  const std::string_view text = trim(line);
  return text.starts_with("File \"") && text.find("\", line ") != std::string_view::npos;
}

// Node.js prints the source line of an uncaught error, and carets below it.
bool is_caret_line(std::string_view line) {
  const std::string_view text = trim(line);
  return !text.empty() && text.find_first_not_of("^~") == std::string_view::npos;
}

}  // namespace

std::string_view telling_line(std::string_view message) {
  const std::vector<std::string_view> lines = lines_of(message);
  const auto frame = std::find_if(lines.rbegin(), lines.rend(), is_python_frame).base();
  if (frame != lines.begin()) {
    const auto is_exception = [](std::string_view line) {
      return says_something(line) && line[0] != ' ' && line[0] != '\t';
    };
    const auto exception = std::find_if(frame, lines.end(), is_exception);
    if (exception != lines.end()) return trim(*exception);
    const auto last = std::find_if(lines.rbegin(), lines.rend(), says_something);
    return trim(*last);
  }
  auto begin = std::find_if(lines.begin(), lines.end(), is_caret_line);
  if (begin == lines.end()) begin = lines.begin();
  std::string_view announced;
  for (auto line = begin; line != lines.end(); ++line) {
    if (!says_something(*line)) continue;
    if (!trim(*line).ends_with(":")) return trim(*line);
    if (announced.empty()) announced = trim(*line);
  }
  return announced;
}

std::string cause_of(const LogEntry& failure) {
  const std::string_view text =
      failure.error_message ? std::string_view(*failure.error_message) : failure.reason;
  std::string cause = cut_utf8(CauseWriter(telling_line(text)).write(), kLongestCause);
  if (cause.empty() && failure.status_code) cause = "status code " + std::to_string(*failure.status_code);
  return cause.empty() ? "no message" : cause;
}

std::string sample_of(const FailureGroup& group) {
  const std::string_view line = telling_line(group.sample);
  return line.empty() ? group.cause : cut_utf8(std::string(line), limits::kSample);
}

std::string failure_group_id(std::string_view queue, std::string_view cause) {
  return fingerprint({queue, cause}).substr(0, 8);
}

}  // namespace eventq
