// lock_file.h: a lock that allows one process per store. The destructor releases it.
//
// There are two flock() locks, which the kernel releases when the process ends. The lock on PATH.lock comes
// with the holder's pid as the text of that file. The lock on the database file also works when the file is
// opened by another name. PATH.lock is never removed, because a third process could then lock a new file of
// that name.
#pragma once

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "eventq/error.h"

namespace eventq::sqlite {

class LockFile {
 public:
  // Errors: unavailable when another process holds the lock; the message names the pid. Also when a
  // file cannot be opened; the message names the store and what is missing.
  static Result<LockFile> take(const std::string& store_path);

  LockFile(LockFile&&) = default;

 private:
  LockFile(Descriptor lock, Descriptor store) : lock_(std::move(lock)), store_(std::move(store)) {}
  static Result<Descriptor> open(const std::string& path, const std::string& store_path);

  // The database descriptor must outlive every connection, because closing it drops SQLite's POSIX locks on
  // the file.
  Descriptor lock_;
  Descriptor store_;
};

}  // namespace eventq::sqlite
