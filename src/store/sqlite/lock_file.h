// lock_file.h: one process per store, held for as long as the object lives.
//
// The locks are the kernel's (flock) and go with the process, however that ends: one on
// PATH.lock, which also says who holds it, and one on the database file, which holds whatever
// name it is opened by. PATH.lock is not removed: a third process could lock another of that name.
#pragma once

#include <string>
#include <utility>

#include "base/descriptor.h"
#include "eventq/error.h"

namespace eventq::sqlite {

class LockFile {
 public:
  // Errors: unavailable when another process holds it; the message names its pid.
  static Result<LockFile> take(const std::string& store_path);

  LockFile(LockFile&&) = default;

 private:
  LockFile(Descriptor lock, Descriptor store) : lock_(std::move(lock)), store_(std::move(store)) {}
  static Result<Descriptor> open(const std::string& path);

  // The second must outlive every connection: closing it drops SQLite's own locks on the file.
  Descriptor lock_;
  Descriptor store_;
};

}  // namespace eventq::sqlite
