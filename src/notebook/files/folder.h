// folder.h: the files of a notebook, reached from a descriptor of its folder.
//
// Every path is opened with openat2(): beneath the folder, through no symbolic or magic link, whatever
// somebody does to the tree meanwhile. Paths are note_path()s, or lie in kOwnFolder.
//
// Threads: every method may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "eventq/error.h"

namespace eventq::notebook {

// A regular file, as far as one look tells. The same inode, size and time: the same content.
struct FileState {
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  bool executable = false;
  friend bool operator==(const FileState&, const FileState&) = default;
};

struct Digest {
  FileState state;
  std::string hash;          // SHA-256, 64 hexadecimal digits
  std::string content_type;  // by its name, else text/plain or application/octet-stream by its content
};

enum class PathKind : std::uint8_t { absent, file, folder, other };  // other: a link, a device, a socket

class Folder {
 public:
  // Errors: not_found, invalid_argument (no folder), unavailable. `mask` is the umask of new files and
  // folders.
  static Result<Folder> open(const std::string& path, mode_t mask);
  Folder(Folder&&) = default;

  // What is there. A path through something that is no folder is absent.
  [[nodiscard]] Result<PathKind> kind(const std::string& path) const;
  // Errors: not_found; invalid_argument when it is no regular file; unavailable.
  [[nodiscard]] Result<FileState> file_state(const std::string& path) const;
  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t max) const;  // too_large
  // Reads the whole file, in pieces; again, up to three times, if it changed meanwhile; then it is a
  // conflict.
  [[nodiscard]] Result<Digest> digest(const std::string& path) const;
  [[nodiscard]] Result<Descriptor> open_file(const std::string& path) const;  // to read; a regular file

  // A new file in kOwnFolder with that content; not synced. Takes the mode of `like` if that is there.
  Result<FileState> write_own(const std::string& path, std::string_view content, const std::string& like);
  Result<void> sync_file(const std::string& path) const;
  Result<void> sync_folder(const std::string& path) const;  // "": the notebook's own
  Result<void> sync_all() const;                            // syncfs()

  enum class Rename : std::uint8_t { no_replace, exchange };
  // Errors: not_found; conflict when no_replace and `to` is there; unavailable, no_space.
  Result<void> rename(const std::string& from, const std::string& to, Rename how);
  Result<bool> make_folder(const std::string& path);          // false: it was there
  Result<void> remove_file(const std::string& path);          // absent is fine
  Result<bool> remove_empty_folder(const std::string& path);  // false: it was not empty, or not there

  // Removes every file in kOwnFolder.
  Result<void> clear_own();

  // Visits every regular file and folder below `path` ("": everything) in no order, but kOwnFolder, .git and
  // what note_path() refuses. A folder that vanishes meanwhile is left out.
  struct WalkEntry {
    std::string path;
    PathKind kind{};
    FileState state;  // of a file
  };
  Result<void> walk(const std::string& path, const std::function<void(const WalkEntry&)>& visit) const;

  // Whether that is what lies at `path` now: it may have been moved away, and another put in its place.
  [[nodiscard]] bool is_at(const std::string& path) const;
  // No other process has it while the descriptor is open. Errors: unavailable.
  [[nodiscard]] Result<Descriptor> lock() const;

  [[nodiscard]] int descriptor() const { return root_.number(); }

 private:
  Folder(Descriptor root, mode_t mask) : root_(std::move(root)), mask_(mask) {}

  Descriptor root_;
  mode_t mask_;
};

// What Folder opens by. Closed, with errno set, when it cannot be opened. A link, also as the last name, is
// ELOOP; with O_PATH and O_NOFOLLOW it is opened itself. No `path`: `root` itself.
Descriptor open_beneath(int root, const std::string& path, int flags, mode_t mode = 0);

// SHA-256 of `content`, in hexadecimal digits, and what kind of content it is.
std::string hash_of(std::string_view content);
std::string content_type_of(std::string_view path, std::string_view beginning);

}  // namespace eventq::notebook
