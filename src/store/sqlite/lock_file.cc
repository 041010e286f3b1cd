// lock_file.cc: see lock_file.h.
#include "store/sqlite/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace eventq::sqlite {
namespace {

constexpr const char* kLockSuffix = ".lock";

std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = pread(descriptor, text.data(), text.size() - 1, 0);
  return size > 0 ? "process " + std::string(text.data(), static_cast<std::size_t>(size)) : "another process";
}

// The pid is only for the message of in_use(). A failed write is ignored, because the lock holds without it.
void note_holder(int descriptor) {
  const std::string pid = std::to_string(getpid());
  if (ftruncate(descriptor, 0) == 0) {
    [[maybe_unused]] const ssize_t written = pwrite(descriptor, pid.data(), pid.size(), 0);
  }
}

Error in_use(const std::string& store_path, const std::string& by) {
  return {ErrorCode::unavailable,
          store_path + " is in use by " + by +
              ". Only one process may open a store; stop that one, or send it requests over HTTP.",
          "store"};
}

// Names the store, because the user does not know the lock file. `path` is the file that could not be opened.
Error cannot_open(const std::string& store_path, const std::filesystem::path& path, int error_number) {
  const std::string parent = path.parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  std::string why = std::strerror(error_number);
  std::error_code none;
  if (error_number == ENOENT) {
    why = "the folder " + folder + " does not exist. Create it, or name another file";
  } else if (error_number == EACCES && !std::filesystem::exists(path, none)) {
    why = "this user may not create files in the folder " + folder + " (" + why + ")";
  } else if (path.string().ends_with(kLockSuffix)) {
    why = path.string() + ": " + why;
  }
  return {ErrorCode::unavailable, "Cannot open " + store_path + ": " + why + ".", "store"};
}

}  // namespace

Result<Descriptor> LockFile::open(const std::string& path, const std::string& store_path) {
  Descriptor opened(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // Use a descriptor above 2: if 0, 1 or 2 is closed, open() returns it, and output would go into the file.
  Descriptor descriptor(opened.number() >= 0 ? ::fcntl(opened.number(), F_DUPFD_CLOEXEC, 3) : -1);
  if (descriptor.number() >= 0) return descriptor;
  return cannot_open(store_path, path, errno);
}

Result<LockFile> LockFile::take(const std::string& store_path) {
  // SQLite follows symbolic links, so the lock file is next to the file that the link names.
  std::error_code unresolved;
  const std::filesystem::path real = std::filesystem::weakly_canonical(store_path, unresolved);
  auto lock = open((unresolved ? store_path : real.string()) + kLockSuffix, store_path);
  if (!lock) return lock.error();
  // flock(), because the kernel ends an fcntl() lock when any descriptor of the file is closed.
  if (flock(lock->number(), LOCK_EX | LOCK_NB) != 0) return in_use(store_path, holder(lock->number()));
  // A hard link has another lock file, so the store itself is locked, too.
  auto store = open(store_path, store_path);
  if (!store) return store.error();
  if (flock(store->number(), LOCK_EX | LOCK_NB) != 0) {
    return in_use(store_path, "another process, under another name");
  }
  note_holder(lock->number());
  return LockFile(std::move(*lock), std::move(*store));
}

}  // namespace eventq::sqlite
