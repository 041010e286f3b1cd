// faulty_vfs.h: a SQLite VFS that can fail.
//
// While a FaultyVfs lives, every file that SQLite opens goes through it to the real VFS. It can report a full
// disk, fail a sync, and record the operations on files, from which power_loss.h computes the files after a
// power failure.
//
// Threads: one at a time.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace eventq {

// An operation on a file. Only a sync makes the ones before it durable.
struct FileOperation {
  enum class Kind : std::uint8_t { create, write, truncate, sync, remove };
  Kind kind{};
  std::string file;         // without folders
  std::int64_t offset = 0;  // of a write; the new size of a truncate
  std::string bytes;        // of a write
};

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // Only the n-th write from now on reports a full disk; 1 is the next.
  void fill_disk_at_write(int n);
  // While true, every write reports a full disk.
  void fill_disk(bool full);
  // The next sync fails as SQLite's own would, with this `errno`.
  void fail_next_sync(int system_error);
  // Syncs are not passed on, to save time. Nothing else changes.
  void skip_syncs();

  [[nodiscard]] int writes() const;  // including failed ones
  [[nodiscard]] int syncs() const;

  // Records all operations on files in between, without failed writes and syncs.
  void start_recording();
  [[nodiscard]] std::size_t recorded() const;  // number of operations so far
  [[nodiscard]] std::vector<FileOperation> stop_recording();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace eventq
