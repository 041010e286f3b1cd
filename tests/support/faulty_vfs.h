// faulty_vfs.h: SQLite's way to the disk, with a hand on it.
//
// While a FaultyVfs lives, every file that SQLite opens goes through it to the real one.
// It can fill the disk, fail a sync, and record what was done to the files, so that
// power_loss.h can say what a power failure would have left of them.
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

// Something done to a file, of which only a sync is known to last.
struct FileOperation {
  enum class Kind : std::uint8_t { create, write, truncate, sync, remove };
  Kind kind{};
  std::string file;         // its name, without folders
  std::int64_t offset = 0;  // of a write; the new size of a truncate
  std::string bytes;        // of a write
};

class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // The n-th write from now on finds the disk full, and only that one; 1 is the next.
  void fill_disk_at_write(int n);
  // Every write finds the disk full, until told otherwise.
  void fill_disk(bool full);
  // The next sync fails as SQLite's own would, with this `errno`.
  void fail_next_sync(int system_error);
  // Syncs are not passed on, to save their time. Nothing else changes.
  void skip_syncs();

  [[nodiscard]] int writes() const;  // asked for so far, failed ones included
  [[nodiscard]] int syncs() const;

  // Everything done to the files in between, failed writes and syncs left out.
  void start_recording();
  [[nodiscard]] std::size_t recorded() const;  // so far
  [[nodiscard]] std::vector<FileOperation> stop_recording();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace eventq
