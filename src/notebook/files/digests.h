// digests.h: hashes the files of a notebook: small ones at once, large ones on a thread of its own.
//
// A caller that needs the digest of a large file does not wait for it: the thread hashes the file and then
// calls `on_ready`, and the caller asks again. So a large file delays no other file. The files that have no
// digest, because they are larger than the limit or cannot be read, are listed for the notebook's status.
//
// Threads: every method may be called from any thread, except start() and stop(). `on_ready` runs on the own
// thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "eventq/error.h"
#include "notebook/files/folder.h"

namespace eventq::notebook {

// Larger files are hashed on the thread. Content of events is at most half as large, so own writes are small
// files.
inline constexpr std::int64_t kLargeBytes = 2 << 20;

// The number of paths, and the first of them.
struct PathSample {
  std::size_t count = 0;
  std::vector<std::string> paths;
  friend bool operator==(const PathSample&, const PathSample&) = default;
};

struct FileTroubles {
  PathSample too_large;   // larger than max_bytes: listed without a hash, not committed
  PathSample unreadable;  // files and folders
};

class Digests {
 public:
  using OnHashed = std::function<void(const std::string& path, const Digest& digest)>;
  using OnReady = std::function<void(const std::string& path)>;

  Digests(const Folder& folder, std::int64_t max_bytes) : folder_(folder), max_bytes_(max_bytes) {}
  ~Digests() { stop(); }

  // `on_hashed` runs before of() returns the digest of the large file, `on_ready` after it.
  void start(OnHashed on_hashed, OnReady on_ready);
  // Ends also the hashing of a large file, within the time of one read.
  void stop();
  // Becomes true when stop() begins.
  [[nodiscard]] const std::atomic<bool>& stopping() const { return stopping_; }

  // The digest of the file now; `hash` is empty if it is larger than max_bytes. Empty: a large file that is
  // hashed on the thread. Errors: as Folder::digest(); conflict for a large file that is written without a
  // pause.
  Result<std::optional<Digest>> of(const std::string& path);
  // The same for a file whose state was just read.
  Result<std::optional<Digest>> of(const std::string& path, const FileState& state);

  [[nodiscard]] bool is_too_large(std::int64_t bytes) const { return bytes > max_bytes_; }
  [[nodiscard]] FileTroubles troubles() const;
  // Notes without reading the file that it is too large, or that a folder cannot be read.
  void note_too_large(const std::string& path);
  void note_unreadable(const std::string& path);
  // Forgets what was noted about `path` and everything in it; "": everything.
  void forget_troubles(const std::string& path);

 private:
  void loop(const OnHashed& on_hashed, const OnReady& on_ready);
  void note(const std::string& path, const Result<Digest>& digest);
  Result<std::optional<Digest>> of_large(const std::string& path, const FileState& state);

  const Folder& folder_;
  const std::int64_t max_bytes_;
  std::atomic<bool> stopping_ = false;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> wanted_;
  std::set<std::string> restless_;  // large files that were written while they were hashed
  std::map<std::string, Digest> ready_;
  std::set<std::string> too_large_;
  std::set<std::string> unreadable_;

  std::thread thread_;
};

}  // namespace eventq::notebook
