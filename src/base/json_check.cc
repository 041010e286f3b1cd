// json_check.cc: see json_check.h. Walks the tokens in a loop instead of recursing, so that a deeply nested
// text cannot overflow the stack.
#include "base/json_check.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/hash.h"
#include "base/json_token.h"
#include "base/json_writer.h"
#include "base/utf8.h"

namespace eventq {
namespace {

// Up to this many names, comparing every pair is faster than hashing.
constexpr std::size_t kPairwiseNames = 16;

// A name that occurs twice in `names`. Reorders them.
std::optional<std::string_view> sort_and_find_twin(std::span<std::string_view> names) {
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin == names.end()) return std::nullopt;
  return *twin;
}

std::optional<std::string_view> find_twin_pairwise(std::span<const std::string_view> names) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return names[i];
    }
  }
  return std::nullopt;
}

// The name quoted and escaped. A long name is cut after a whole character.
std::string shown(std::string_view name) {
  constexpr std::size_t kShown = 100;
  std::string out;
  append_json_string(out, cut_utf8(std::string(name), kShown));
  if (name.size() > kShown) out += "...";
  return out;
}

}  // namespace

Error json_error(std::string_view what) {
  return {ErrorCode::invalid_argument, "The body is not valid JSON: " + std::string(what) + ".", ""};
}

std::optional<Error> JsonChecker::check(JsonDocument& document) {
  document_ = &document;
  index_ = 0;
  depth_ = 0;
  backslash_ = document.text.find('\\');
  names_.clear();
  if (walk()) return std::nullopt;
  return json_error(fault_);
}

bool JsonChecker::walk() {
  do {
    const std::size_t outer_depth = depth_;
    if (depth_ > 0 && levels_[depth_ - 1].is_object && !take_name()) return false;
    if (!take_value()) return false;

    const bool has_children = depth_ > outer_depth && document_->first(index_) != closer();
    if (has_children) continue;

    while (depth_ > 0 && document_->first(index_) == closer()) {
      if (!close_level()) return false;
    }
    if (depth_ > 0) {
      if (document_->first(index_) != ',') {
        return fail_at_token(std::string("a ',' or '") + closer() + "' is missing");
      }
      ++index_;
    }
  } while (depth_ > 0);

  if (index_ < document_->starts.size()) return fail_at_token("there is more text after the value");
  return true;
}

bool JsonChecker::take_name() {
  if (document_->first(index_) != '"') return fail_at_token("a member name in double quotes is missing");
  std::string_view name;
  if (!check_string(document_->token(index_), &name)) return false;
  names_.push_back(name);
  ++index_;

  if (document_->first(index_) != ':') return fail_at_token("a ':' after a member name is missing");
  ++index_;
  return true;
}

// Consumes a scalar, or the first token of an array or object.
bool JsonChecker::take_value() {
  switch (document_->first(index_)) {
    case '{':
    case '[': return open_level();
    case '"': {
      const std::string_view token = document_->token(index_);
      ++index_;
      return check_string(token, nullptr);
    }
    default: return take_scalar();
  }
}

bool JsonChecker::take_scalar() {
  if (index_ >= document_->starts.size()) return fail_at_token("a value is missing");

  const std::string_view token = document_->token(index_);
  const bool valid = is_json_number(token) || token == "true" || token == "false" || token == "null";
  if (!valid) {
    constexpr std::string_view kPunctuation = ",:]}";
    const bool is_punctuation = kPunctuation.find(token.front()) != std::string_view::npos;
    return fail_at_token(is_punctuation ? "a value is missing" : "an unknown word or a malformed number is");
  }
  ++index_;
  return true;
}

bool JsonChecker::open_level() {
  if (depth_ == levels_.size()) {
    return fail_at_token("it is nested deeper than " + std::to_string(levels_.size()) + " levels");
  }
  levels_[depth_++] = {.is_object = document_->first(index_) == '{', .first_name = names_.size()};
  ++index_;
  return true;
}

bool JsonChecker::close_level() {
  const Level& level = levels_[--depth_];
  ++index_;
  if (!level.is_object) return true;

  const bool valid = names_differ(level.first_name);
  names_.resize(level.first_name);
  return valid;
}

// `unescaped` is null when the caller does not need the text. Strings without a backslash, which are nearly
// all, are not scanned: one search finds the next backslash of the whole document.
bool JsonChecker::check_string(std::string_view token, std::string_view* unescaped) {
  const std::string_view body = token.substr(1, token.size() - 2);
  const auto begin = static_cast<std::size_t>(body.data() - document_->text.data());
  if (backslash_ < begin) backslash_ = document_->text.find('\\', begin);
  if (backslash_ >= begin + body.size()) {
    if (unescaped != nullptr) *unescaped = body;
    return true;
  }

  std::string& out = unescaped == nullptr ? scratch_ : document_->unescaped.emplace_back();
  out.clear();
  const auto fault = append_unescaped(out, body);
  if (fault) return fail(fault->reason, begin + fault->offset);
  if (unescaped != nullptr) *unescaped = out;
  return true;
}

bool JsonChecker::names_differ(std::size_t first_name) {
  const std::span<std::string_view> names = std::span(names_).subspan(first_name);
  std::optional<std::string_view> twin;
  if (names.size() <= kPairwiseNames) {
    twin = find_twin_pairwise(names);
  } else {
    hashes_.clear();
    for (const std::string_view name : names) hashes_.push_back(hash64(name));
    std::sort(hashes_.begin(), hashes_.end());
    // Equal hashes do not prove equal names, so a forged collision costs time but is not refused.
    const bool is_suspect = std::adjacent_find(hashes_.begin(), hashes_.end()) != hashes_.end();
    if (is_suspect) twin = sort_and_find_twin(names);
  }
  if (!twin) return true;

  fault_ = "duplicate member " + shown(*twin);
  return false;
}

bool JsonChecker::fail(std::string_view what, std::size_t offset) {
  fault_ = std::string(what) + " at byte " + std::to_string(offset);
  return false;
}

bool JsonChecker::fail_at_token(std::string_view what) { return fail(what, document_->offset(index_)); }

}  // namespace eventq
