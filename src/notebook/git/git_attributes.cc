// git_attributes.cc: see git_attributes.h. The rules are those of git's attr.c.
#include "notebook/git/git_attributes.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "notebook/files/note_path.h"
#include "notebook/git/git_wildmatch.h"

namespace eventq::notebook {
namespace {

constexpr const char* kFile = ".gitattributes";
constexpr std::string_view kBlank = " \t\r\n";
constexpr std::size_t kLineMax = 2048;       // git ignores longer lines
constexpr std::size_t kFileMax = 100 << 20;  // git ignores larger files

// The text of an open file. Errors: it cannot be read.
Result<std::string> text_in(const Descriptor& file, const std::string& name) {
  std::string text;
  std::array<char, 8192> piece{};
  for (;;) {
    const ssize_t size = ::read(file.number(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return git::system_failure("read " + name);
    if (size == 0 || text.size() > kFileMax) return text.size() > kFileMax ? std::string() : text;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
}

// The text of a file outside of the work tree; empty: absent.
Result<std::string> text_at(const std::string& name) {
  if (name.empty()) return std::string();
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.open()) return text_in(file, name);
  if (errno == ENOENT || errno == ENOTDIR) return std::string();
  return git::system_failure("read " + name);
}

// The first existing file of this name in the folders where libgit2 searches the configuration.
std::string searched(int level, const std::string& name) {
  git_buf folders = GIT_BUF_INIT;
  std::string found;
  if (git_libgit2_opts(GIT_OPT_GET_SEARCH_PATH, level, &folders) == 0) {
    const std::string all(folders.ptr, folders.size);
    for (std::size_t at = 0; found.empty() && at < all.size();) {
      const std::size_t end = std::min(all.find(GIT_PATH_LIST_SEPARATOR, at), all.size());
      const std::string file = all.substr(at, end - at) + "/" + name;
      if (::access(file.c_str(), F_OK) == 0) found = file;
      at = end + 1;
    }
  }
  git_buf_dispose(&folders);
  return found;
}

// Reads a name in quotes, with the escapes of C, from the beginning of `line`. Empty: the quotes do not end.
std::optional<std::string> unquoted(std::string_view& line) {
  std::string name;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '"') {
      line.remove_prefix(at + 1);
      return name;
    }
    if (line[at] != '\\') {
      name += line[at];
      continue;
    }
    constexpr std::string_view kEscapes = "abfnrtv\\\"";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\\"";
    const char c = ++at < line.size() ? line[at] : '\0';
    if (const std::size_t found = kEscapes.find(c); c != '\0' && found != kEscapes.npos) {
      name += kMeanings[found];
      continue;
    }
    const std::string_view digits = line.substr(at, 3);
    if (digits.size() < 3 || c > '3' || digits.find_first_not_of("01234567") != digits.npos)
      return std::nullopt;
    name += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
    at += 2;
  }
  return std::nullopt;
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  return word;
}

bool is_valid_name(std::string_view name) {
  const auto fits = [](char c) {
    return c == '-' || c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), fits) &&
         !name.starts_with("builtin_");
}

// Git compares the part before the first special character by itself, so that in "a/b**" the stars are the
// beginning of a pattern.
bool matches(std::string_view pattern, std::string_view text, git::WildOptions options) {
  const std::size_t plain = std::min(pattern.find_first_of("*?[\\"), pattern.size());
  if (text.size() < plain) return false;
  const bool is_same = options.ignore_case ? ::strncasecmp(pattern.data(), text.data(), plain) == 0
                                           : pattern.substr(0, plain) == text.substr(0, plain);
  return is_same && git::wild_match(pattern.substr(plain), text.substr(plain), options);
}

git::LineEnds line_ends(const std::string& text, const std::string& crlf, const std::string& eol,
                        git::LineEnds otherwise) {
  using git::LineEnds;
  const auto meaning = [](const std::string& value) -> std::optional<LineEnds> {
    if (value == "+" || value == "=input") return LineEnds::text;
    if (value == "-") return LineEnds::keep;
    if (value == "=auto") return LineEnds::guess;
    return std::nullopt;
  };
  auto ends = meaning(text);
  if (!ends) ends = meaning(crlf);  // the old name
  if (!ends && (eol == "=lf" || eol == "=crlf")) return LineEnds::text;
  return ends.value_or(otherwise);
}

}  // namespace

GitAttributes::GitAttributes(git_repository* repo, git_config* config, git_index* index, const Folder& folder)
    : repo_(repo), index_(index), folder_(folder) {
  int flag = 0;
  if (git_config_get_bool(&flag, config, "core.ignorecase") == 0) ignore_case_ = flag != 0;
  const char* text = nullptr;
  flag = 0;
  if (git_config_get_string(&text, config, "core.autocrlf") == 0 && ::strcasecmp(text, "input") == 0) {
    flag = 1;
  } else {
    git_config_get_bool(&flag, config, "core.autocrlf");
  }
  if (flag != 0) otherwise_ = git::LineEnds::guess;
  git_buf users = GIT_BUF_INIT;
  if (git_config_get_path(&users, config, "core.attributesfile") == 0) {
    users_file_.assign(users.ptr, users.size);
  } else {
    users_file_ = searched(GIT_CONFIG_LEVEL_XDG, "attributes");
  }
  git_buf_dispose(&users);
  git_error_clear();  // an absent setting is no error
}

Result<StoredAs> GitAttributes::of(const std::string& path) {
  if (auto read = read_common(); !read) return read.error();
  std::vector<std::string> folders = {""};
  for (std::string& folder : folders_of(path)) folders.push_back(std::move(folder));
  std::vector<const AttributeRules*> rules;
  for (const std::string& folder : folders) {
    const auto found = of_folder(folder);
    if (!found) return found.error();
    rules.push_back(*found);
  }
  // The first value that is found counts.
  Values values;
  fill(values, highest_, path, "");
  for (std::size_t at = folders.size(); at-- > 0;) fill(values, *rules[at], path, folders[at]);
  fill(values, lowest_, path, "");
  return stored_as(values);
}

Result<void> GitAttributes::read_common() {
  if (has_common_) return {};
  macros_["binary"] = {{"diff", "-"}, {"merge", "-"}, {"text", "-"}};
  for (const std::string& file : {searched(GIT_CONFIG_LEVEL_SYSTEM, "gitattributes"), users_file_}) {
    const auto text = text_at(file);
    if (!text) return text.error();
    for (AttributeRule& rule : parse(*text, true)) lowest_.push_back(std::move(rule));
  }
  if (auto root = of_folder(""); !root) return root.error();
  const auto text = text_at(std::string(git_repository_commondir(repo_)) + "info/attributes");
  if (!text) return text.error();
  highest_ = parse(*text, true);
  has_common_ = true;
  return {};
}

Result<const GitAttributes::AttributeRules*> GitAttributes::of_folder(const std::string& folder) {
  const auto found = folders_.find(folder);
  if (found != folders_.end()) return &found->second;
  const auto text = text_of(folder.empty() ? kFile : folder + "/" + kFile);
  if (!text) return text.error();
  return &folders_.emplace(folder, parse(text->value_or(""), folder.empty())).first->second;
}

// The text of a .gitattributes: of the file or, if there is none, of the index. Git follows no link here.
Result<std::optional<std::string>> GitAttributes::text_of(const std::string& path) const {
  const auto file = folder_.open_file(path);
  if (file) {
    auto text = text_in(*file, path);
    if (!text) return text.error();
    return std::optional(std::move(*text));
  }
  if (file.error().code == ErrorCode::invalid_argument) return std::optional<std::string>();
  if (file.error().code != ErrorCode::not_found) return file.error();
  const git_index_entry* entry = index_ == nullptr ? nullptr : git_index_get_bypath(index_, path.c_str(), 0);
  git_error_clear();
  if (entry == nullptr) return std::optional<std::string>();
  git::BlobHandle blob;
  if (git_blob_lookup(blob.out(), repo_, &entry->id) != 0) return git::failure("read " + path);
  return std::optional(std::string(static_cast<const char*>(git_blob_rawcontent(blob)),
                                   static_cast<std::size_t>(git_blob_rawsize(blob))));
}

GitAttributes::AttributeRules GitAttributes::parse(const std::string& text, bool may_define) {
  AttributeRules rules;
  std::string_view rest = text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (auto rule = parse_line(line, may_define)) rules.push_back(std::move(*rule));
  }
  return rules;
}

// Empty: the line has no rule, is refused by git, or defined a macro.
std::optional<GitAttributes::AttributeRule> GitAttributes::parse_line(std::string_view line,
                                                                      bool may_define) {
  if (line.size() >= kLineMax) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  if (line.empty() || line.front() == '#') return std::nullopt;
  std::optional<std::string> name;
  if (line.front() == '"') name = unquoted(line);
  if (!name) name = std::string(next_word(line));
  constexpr std::string_view kMacro = "[attr]";
  const bool is_macro = name->starts_with(kMacro);
  if (is_macro && name->size() == kMacro.size()) name->append(next_word(line));
  AttributeRule rule;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const char first = word.front();
    if (first == '-' || first == '!') word.remove_prefix(1);
    const std::size_t equals = word.find('=');
    AttributeValue attribute{std::string(word.substr(0, equals)), "+"};
    if (first == '-' || first == '!') {
      attribute.value = first == '-' ? "-" : "";
    } else if (equals != word.npos) {
      attribute.value = word.substr(equals);
    }
    if (!is_valid_name(attribute.name)) return std::nullopt;
    rule.attributes.push_back(std::move(attribute));
  }
  if (is_macro) {
    const std::string macro = name->substr(kMacro.size());
    if (may_define && is_valid_name(macro)) macros_[macro] = std::move(rule.attributes);
    return std::nullopt;
  }
  // A negative pattern is ignored. A pattern for folders matches no file.
  if (name->empty() || name->front() == '!' || name->ends_with('/')) return std::nullopt;
  rule.has_slash = name->find('/') != name->npos;
  rule.pattern = name->front() == '/' ? name->substr(1) : std::move(*name);
  return rule;
}

void GitAttributes::fill(Values& values, const AttributeRules& rules, const std::string& path,
                         const std::string& folder) const {
  const std::string_view whole = path;
  const std::string_view beneath = folder.empty() ? whole : whole.substr(folder.size() + 1);
  const std::string_view name = whole.substr(whole.rfind('/') + 1);
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) {
    const git::WildOptions options{.path = rule->has_slash, .ignore_case = ignore_case_};
    const std::string_view text = rule->has_slash ? beneath : name;
    if (!matches(rule->pattern, text, options)) continue;
    for (auto one = rule->attributes.rbegin(); one != rule->attributes.rend(); ++one) set(values, *one);
  }
}

// Each attribute is set once, so macros that name each other end.
void GitAttributes::set(Values& values, const AttributeValue& attribute) const {
  if (!values.emplace(attribute.name, attribute.value).second || attribute.value != "+") return;
  const auto macro = macros_.find(attribute.name);
  if (macro == macros_.end()) return;
  for (auto one = macro->second.rbegin(); one != macro->second.rend(); ++one) set(values, *one);
}

StoredAs GitAttributes::stored_as(const Values& values) const {
  const auto value = [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  StoredAs stored;
  const std::string encoding = value(kEncodingFilter);
  const bool is_utf8 =
      ::strcasecmp(encoding.c_str(), "=utf-8") == 0 || ::strcasecmp(encoding.c_str(), "=utf8") == 0;
  if (encoding.starts_with('=') && !is_utf8) stored.filters.emplace_back(kEncodingFilter);
  if (const std::string filter = value("filter"); filter.starts_with('=') && filter.size() > 1) {
    stored.filters.push_back(filter.substr(1));
  }
  stored.conversion.ends = line_ends(value("text"), value("crlf"), value("eol"), otherwise_);
  stored.conversion.ident = value("ident") == "+";
  return stored;
}

}  // namespace eventq::notebook
