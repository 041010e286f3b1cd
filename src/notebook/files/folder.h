// folder.h: access to the files of a notebook through a descriptor of its folder.
//
// files/ knows paths, files and folders on disk; it knows no events, rows or git.
//
// Every path is opened with openat2() beneath the folder, through no symbolic or magic link. So a program
// that changes the tree at the same time cannot lead an operation out of the folder. Paths are accepted by
// note_path(), or lie in kOwnFolder.
//
// Threads: every method may be called from any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "eventq/error.h"

namespace eventq::notebook {

// The result of stat() for a regular file. Equal states mean equal content, except for two writes within one
// tick of the file system's clock.
struct FileState {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  bool executable = false;
  friend bool operator==(const FileState&, const FileState&) = default;
};

struct Digest {
  FileState state;
  std::string hash;          // SHA-256, 64 hexadecimal digits; empty: the file is larger than max_bytes
  std::string blob;          // the id of its git blob, 40 hexadecimal digits; empty as `hash`
  std::string content_type;  // by extension, else text/plain or application/octet-stream by content
};

struct DigestLimits {
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  // larger files are not read
  const std::atomic<bool>* stop = nullptr;                            // ends the reading when it becomes true
};

enum class PathKind : std::uint8_t {
  absent,
  file,
  folder,
  other
};  // other: symbolic link, device, socket, fifo

// Whether `path` names the open file or folder.
bool is_at(const Descriptor& opened, const std::string& path);

struct FolderEntry {
  std::string name;
  PathKind kind{};
};
// The entries of an open folder, without "." and "..". `error` is the errno that ended the reading: 0 at the
// end, ENOENT when the folder was removed meanwhile.
std::vector<FolderEntry> entries_of(const Descriptor& folder, int& error);

class Folder {
 public:
  // `mask` is the umask of new files and folders. Errors: not_found, invalid_argument (no folder),
  // unavailable.
  static Result<Folder> open(const std::string& path, mode_t mask);
  Folder(Folder&&) = default;

  // What exists at `path`. A path through something that is no folder is absent.
  [[nodiscard]] Result<PathKind> kind(const std::string& path) const;
  // Errors of the next four: not_found; invalid_argument for no regular file; unavailable.
  [[nodiscard]] Result<FileState> file_state(const std::string& path) const;
  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t max) const;  // too_large
  // Hashes the whole file. Retries if the file changed meanwhile; `conflict` after three attempts, or at a
  // stop.
  [[nodiscard]] Result<Digest> digest(const std::string& path, const DigestLimits& limits = {}) const;
  [[nodiscard]] Result<Descriptor> open_file(const std::string& path) const;  // for reading

  // Writes a new file in kOwnFolder, without fsync(). Copies the permissions of `like` if that file exists.
  Result<FileState> write_own(const std::string& path, std::string_view content, const std::string& like);
  Result<void> sync_file(const std::string& path) const;
  Result<void> sync_folder(const std::string& path) const;  // "": the notebook's folder
  Result<void> sync_all() const;                            // syncfs()

  enum class Rename : std::uint8_t { no_replace, exchange };
  // Errors: not_found; conflict when no_replace and `to` exists; unavailable, no_space.
  Result<void> rename(const std::string& from, const std::string& to, Rename how);
  Result<void> make_folder(const std::string& path);          // no error if it exists
  Result<void> remove_file(const std::string& path);          // no error if absent
  Result<void> remove_empty_folder(const std::string& path);  // no error if not empty, or absent

  // Removes every file in kOwnFolder.
  Result<void> clear_own();

  // Visits every regular file and folder below `path` ("": everything) in no order. Skips kOwnFolder, .git,
  // names that note_path() refuses, and folders that vanish meanwhile.
  struct WalkEntry {
    std::string path;
    PathKind kind{};
    FileState state;          // of a file
    bool unreadable = false;  // a folder that was visited before and cannot be read
  };
  Result<void> walk(const std::string& path, const std::function<void(const WalkEntry&)>& visit) const;

  // Whether `path` still names this folder: a user may have moved it away and put another one there.
  [[nodiscard]] bool is_at(const std::string& path) const { return notebook::is_at(root_, path); }
  // Takes an exclusive lock that lasts while the descriptor is open. Errors: unavailable.
  [[nodiscard]] Result<Descriptor> lock() const;

  [[nodiscard]] int descriptor() const { return root_.number(); }

 private:
  Folder(Descriptor root, mode_t mask) : root_(std::move(root)), mask_(mask) {}

  Descriptor root_;
  mode_t mask_;
};

// openat2() as Folder uses it. Returns a closed descriptor with errno set on failure. A symbolic link
// anywhere in `path` is ELOOP; with O_PATH | O_NOFOLLOW a link as the last name is opened itself. Empty
// `path`: `root` itself.
Descriptor open_beneath(int root, const std::string& path, int flags, mode_t mode = 0);

// SHA-256 of `content` in hexadecimal digits, and the content type of a file.
std::string hash_of(std::string_view content);
std::string content_type_of(std::string_view path, std::string_view beginning);

}  // namespace eventq::notebook
