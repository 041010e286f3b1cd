// git_import.h: what HEAD has, for a folder that becomes a notebook.
#pragma once

#include <string>
#include <unordered_map>

#include "eventq/error.h"

namespace eventq::notebook {

struct HeadFile {
  std::string blob;  // 40 hexadecimal digits
  bool executable = false;
};

// The regular files in the tree of HEAD, by path; none if there is no commit. Opens the repository by itself,
// so it may run beside a GitRepo. Errors: as GitRepo::open().
Result<std::unordered_map<std::string, HeadFile>> head_files(const std::string& path);

}  // namespace eventq::notebook
