// temporary_directory.h: a new directory that is removed with its content at the end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "base/assert.h"

namespace eventq {

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_(parent / "eventq_test_XXXXXX") {
    EVENTQ_ASSERT(::mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryDirectory() {
    // A failed removal does not fail the test; the system cleans its temporary folder.
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace eventq
