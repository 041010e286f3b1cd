// own_writes.h: the writes that this process is about to make, so that change detection does not report them.
//
// A write is recognised by its content, not by its time, so an edit right after it is still detected.
//
// Threads: every method may be called from any thread.
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

  // Until clear(), a file with `content` at `path` (or no file, if empty) is an own write. Call clear() after
  // the rows are stored.
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
