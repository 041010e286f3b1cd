// git_attributes.h: the attributes of a path that decide how its content is stored.
//
// Reads the same files in the same order as git: system, core.attributesFile, .gitattributes of each folder
// (from the index if the file is absent), .git/info/attributes. libgit2 is not asked, because it knows
// neither quoted nor negative patterns: a file that git encrypts would count as one without a filter.
//
// Threads: a GitAttributes belongs to one thread. It reads each file once, so it lives during one commit.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "notebook/files/folder.h"
#include "notebook/git/git_convert.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {

struct StoredAs {
  // The name of the attribute `filter`, and kEncodingFilter. Their programs make the stored content, and
  // eventq runs no program.
  std::vector<std::string> filters;
  git::Conversion conversion;
};

inline constexpr const char* kEncodingFilter = "working-tree-encoding";

class GitAttributes {
 public:
  // `index` may be null. All arguments must outlive this object.
  GitAttributes(git_repository* repo, git_config* config, git_index* index, const Folder& folder);

  // Errors: unavailable when a file with attributes cannot be read.
  Result<StoredAs> of(const std::string& path);

 private:
  // The value of an attribute: "" is unspecified, "+" set, "-" unset; other values begin with "=".
  struct AttributeValue {
    std::string name;
    std::string value;
  };
  struct AttributeRule {
    std::string pattern;
    bool has_slash = false;
    std::vector<AttributeValue> attributes;
  };
  using AttributeRules = std::vector<AttributeRule>;
  using Values = std::map<std::string, std::string>;

  Result<const AttributeRules*> of_folder(const std::string& folder);
  Result<void> read_common();
  Result<std::optional<std::string>> text_of(const std::string& path) const;
  AttributeRules parse(const std::string& text, bool may_define);
  std::optional<AttributeRule> parse_line(std::string_view line, bool may_define);
  void fill(Values& values, const AttributeRules& rules, const std::string& path,
            const std::string& folder) const;
  void set(Values& values, const AttributeValue& attribute) const;
  [[nodiscard]] StoredAs stored_as(const Values& values) const;

  git_repository* repo_;
  git_index* index_;
  const Folder& folder_;
  bool ignore_case_ = false;
  git::LineEnds otherwise_ = git::LineEnds::keep;  // for a path without the attribute `text`
  std::string users_file_;                         // core.attributesFile
  bool has_common_ = false;
  AttributeRules lowest_;                          // system and user
  AttributeRules highest_;                         // .git/info/attributes
  std::map<std::string, AttributeRules> folders_;  // by folder; "" is the root
  std::map<std::string, std::vector<AttributeValue>> macros_;
};

}  // namespace eventq::notebook
