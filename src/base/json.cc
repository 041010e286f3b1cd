// json.cc: see json.h. Finds tokens with simdjson, has them checked, and reads values from them.
#include "base/json.h"

#include <simdjson.h>

#include "base/assert.h"
#include "base/json_check.h"
#include "base/json_document.h"
#include "base/json_token.h"
#include "base/json_writer.h"
#include "base/numbers.h"

namespace eventq {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// The memory for a text of up to this size is kept for the next parse. The memory of a larger text is freed,
// so that one large request does not cost each thread its size for ever.
constexpr std::size_t kKeptCapacity = 4 * 1024 * 1024;
constexpr std::size_t kLeastCapacity = 4 * 1024;

// The index of the first token after the value that begins at `index`.
std::size_t behind(const JsonDocument& document, std::size_t index) {
  std::size_t depth = 0;
  do {
    switch (document.first(index)) {
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']': --depth; break;
      default: break;
    }
    ++index;
  } while (depth > 0);
  return index;
}

std::string_view string_text(JsonDocument& document, std::string_view token) {
  const std::string_view body = token.substr(1, token.size() - 2);
  if (body.find('\\') == std::string_view::npos) return body;

  std::string& text = document.unescaped.emplace_back();
  const auto fault = append_unescaped(text, body);
  EVENTQ_ASSERT(!fault);  // JsonChecker has accepted every escape sequence
  return text;
}

std::string_view reason(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY: return "it is empty";
    case simdjson::UTF8_ERROR: return "it holds invalid UTF-8";
    case simdjson::UNCLOSED_STRING: return "a string is not closed";
    case simdjson::UNESCAPED_CHARS: return "a string holds a control character without escape";
    case simdjson::CAPACITY: return "it is too large";
    default: return simdjson::error_message(code);
  }
}

}  // namespace

JsonValue::JsonValue(JsonDocument& document, std::size_t index) : document_(&document), index_(index) {
  const std::size_t begin = document.offset(index);
  const bool is_scalar = document.first(index) != '{' && document.first(index) != '[';
  raw_ = is_scalar ? document.token(index)
                   : document.text.substr(begin, document.offset(behind(document, index) - 1) + 1 - begin);
}

JsonType JsonValue::type() const {
  switch (raw_.empty() ? 'n' : raw_.front()) {
    case 'n': return JsonType::null;
    case 't':
    case 'f': return JsonType::boolean;
    case '"': return JsonType::string;
    case '[': return JsonType::array;
    case '{': return JsonType::object;
    default: return integer() ? JsonType::integer : JsonType::number;
  }
}

std::optional<std::string_view> JsonValue::string() const {
  if (!raw_.starts_with('"')) return std::nullopt;
  return string_text(*document_, raw_);
}

std::optional<std::int64_t> JsonValue::integer() const { return parse_all<std::int64_t>(raw_); }

std::optional<bool> JsonValue::boolean() const {
  if (raw_ == "true") return true;
  if (raw_ == "false") return false;
  return std::nullopt;
}

std::vector<JsonMember> JsonValue::members() const {
  EVENTQ_ASSERT(raw_.starts_with('{'));
  std::vector<JsonMember> members;
  std::size_t index = index_ + 1;
  while (document_->first(index) != '}') {
    const JsonValue value(*document_, index + 2);  // after the name and the colon
    members.push_back({.name = string_text(*document_, document_->token(index)), .value = value});
    index = behind(*document_, value.index_);
    if (document_->first(index) == ',') ++index;
  }
  return members;
}

std::vector<JsonValue> JsonValue::elements() const {
  EVENTQ_ASSERT(raw_.starts_with('['));
  std::vector<JsonValue> elements;
  std::size_t index = index_ + 1;
  while (document_->first(index) != ']') {
    elements.push_back(JsonValue(*document_, index));
    index = behind(*document_, index);
    if (document_->first(index) == ',') ++index;
  }
  return elements;
}

// What a parser reuses from one parse to the next.
struct JsonParser::Workspace {
  explicit Workspace(std::size_t most) : depth(most), checker(most) {}

  const std::size_t depth;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> indexer;
  JsonChecker checker;
  JsonDocument document;
  std::string copy;

  // Makes the indexer large enough for a text of `size` bytes. False when that fails.
  bool reserve(std::size_t size);
};

bool JsonParser::Workspace::reserve(std::size_t size) {
  const bool is_kept = indexer != nullptr && indexer->capacity() >= size &&
                       (indexer->capacity() <= kKeptCapacity || size > kKeptCapacity);
  if (is_kept) return true;

  // A new indexer comes with a new checker and document, so that their memory is freed, too.
  checker = JsonChecker(depth);
  document = {};
  const std::size_t capacity = std::max(size, kLeastCapacity);
  const auto code =
      simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, depth, indexer);
  return code == simdjson::SUCCESS;
}

JsonParser::JsonParser(std::size_t depth) : workspace_(std::make_unique<Workspace>(depth)) {}
JsonParser::~JsonParser() = default;

Result<JsonValue> JsonParser::parse_padded(std::string_view text) {
  // Has its own message, because editors do not show a byte order mark.
  if (text.starts_with("\xEF\xBB\xBF")) return json_error("it begins with a byte order mark");
  if (text.empty()) return json_error(reason(simdjson::EMPTY));
  if (!workspace_->reserve(text.size())) return json_error(reason(simdjson::CAPACITY));

  auto& indexer = *workspace_->indexer;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto code = indexer.stage1(bytes, text.size(), simdjson::stage1_mode::regular);
  if (code != simdjson::SUCCESS) return json_error(reason(code));

  JsonDocument& document = workspace_->document;
  document.text = text;
  document.starts = {indexer.structural_indexes.get(), indexer.n_structural_indexes};
  document.unescaped.clear();
  if (auto error = workspace_->checker.check(document)) return *std::move(error);
  return JsonValue(document, 0);
}

Result<JsonValue> JsonParser::parse(std::string_view text) {
  std::string copy;
  copy.reserve(text.size() + kJsonPadding);
  copy.append(text);
  workspace_->copy = std::move(copy);
  return parse_padded(workspace_->copy);
}

}  // namespace eventq
