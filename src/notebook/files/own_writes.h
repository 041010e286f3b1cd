// own_writes.h: what this process itself is about to make of files, so that it is not taken for somebody
// else's doing.
//
// Recognised by what is written, not by when: whatever somebody makes of a file a moment later is
// something else.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "notebook/files/folder.h"

namespace eventq::notebook {

class OwnWrites {
 public:
  struct WrittenContent {
    std::int64_t size = 0;
    std::string hash;
    friend bool operator==(const WrittenContent&, const WrittenContent&) = default;
  };

  // From now on until it is known from the NotebookState: `content`, or nothing, is what is to be at `path`.
  void announce(const std::string& path, std::optional<WrittenContent> content) {
    const std::scoped_lock lock(mutex_);
    announced_[path] = std::move(content);
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    announced_.clear();
  }
  [[nodiscard]] bool is_announced(const std::string& path, const std::optional<WrittenContent>& found) const {
    const std::scoped_lock lock(mutex_);
    const auto entry = announced_.find(path);
    return entry != announced_.end() && entry->second == found;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::optional<WrittenContent>> announced_;
};

}  // namespace eventq::notebook
