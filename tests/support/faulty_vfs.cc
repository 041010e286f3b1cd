// faulty_vfs.cc: see faulty_vfs.h. SQLite's interface is in C: structs of function pointers. Ours call the
// real VFS's.
#include "support/faulty_vfs.h"

#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace eventq {

struct FaultyVfs::State {
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;

  int writes = 0;
  int syncs = 0;
  int full_at_write = 0;  // counted like `writes`; 0: never
  bool full = false;
  std::optional<int> sync_error;
  int last_system_error = 0;
  bool skip_syncs = false;
  bool recording = false;
  std::vector<FileOperation> recorded;

  void record(FileOperation&& operation) {
    if (recording) recorded.push_back(std::move(operation));
  }
};

namespace {

using State = FaultyVfs::State;
using Kind = FileOperation::Kind;

// SQLite allocates this for an open file; the real VFS's own struct follows it directly.
struct File {
  sqlite3_file base;
  State* state;
  std::string* name;

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* ours(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return ours(file)->real(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }
State& state_of(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }

int close_file(sqlite3_file* file) {
  const int rc = methods(file).xClose(real(file));
  delete ours(file)->name;
  return rc;
}

int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  return methods(file).xRead(real(file), into, size, offset);
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  State& state = *ours(file)->state;
  ++state.writes;
  if (state.full || state.writes == state.full_at_write) return SQLITE_FULL;
  state.record({Kind::write, *ours(file)->name, offset,
                std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
  return methods(file).xWrite(real(file), bytes, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  ours(file)->state->record({Kind::truncate, *ours(file)->name, size, {}});
  return methods(file).xTruncate(real(file), size);
}

int sync_file(sqlite3_file* file, int flags) {
  State& state = *ours(file)->state;
  ++state.syncs;
  if (state.sync_error) {
    state.last_system_error = *state.sync_error;
    state.sync_error.reset();
    return SQLITE_IOERR_FSYNC;
  }
  state.record({Kind::sync, *ours(file)->name, 0, {}});
  return state.skip_syncs ? SQLITE_OK : methods(file).xSync(real(file), flags);
}

int file_size(sqlite3_file* file, sqlite3_int64* size) { return methods(file).xFileSize(real(file), size); }
int lock_file(sqlite3_file* file, int level) { return methods(file).xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return methods(file).xUnlock(real(file), level); }
int check_lock(sqlite3_file* file, int* held) { return methods(file).xCheckReservedLock(real(file), held); }
int control_file(sqlite3_file* file, int what, void* with) {
  return methods(file).xFileControl(real(file), what, with);
}
int sector_size(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return methods(file).xShmMap(real(file), page, size, extend, memory);
}
int lock_shared(sqlite3_file* file, int offset, int n, int flags) {
  return methods(file).xShmLock(real(file), offset, n, flags);
}
void shared_barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int unmap_shared(sqlite3_file* file, int remove) { return methods(file).xShmUnmap(real(file), remove); }

// Version 2: with shared memory for the write-ahead log, without memory-mapped reading.
const sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = shared_barrier,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

std::string name_of_path(const char* path) { return std::filesystem::path(path).filename().string(); }

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* flags_out) {
  State& state = state_of(vfs);
  file->pMethods = nullptr;            // nothing to close when the real open fails
  const bool named = path != nullptr;  // a temporary file has no name
  int exists = 0;
  if (named) state.real->xAccess(state.real, path, SQLITE_ACCESS_EXISTS, &exists);
  const int rc = state.real->xOpen(state.real, path, real(file), flags, flags_out);
  if (rc != SQLITE_OK) return rc;
  ours(file)->state = &state;
  ours(file)->name = new std::string(named ? name_of_path(path) : "");
  file->pMethods = &kMethods;
  if (exists == 0) state.record({Kind::create, *ours(file)->name, 0, {}});
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  State& state = state_of(vfs);
  state.record({Kind::remove, name_of_path(path), 0, {}});
  return state.real->xDelete(state.real, path, sync_folder);
}

int access_file(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  return state_of(vfs).real->xAccess(state_of(vfs).real, path, flags, result);
}

int full_path(sqlite3_vfs* vfs, const char* path, int size, char* out) {
  return state_of(vfs).real->xFullPathname(state_of(vfs).real, path, size, out);
}

int last_error(sqlite3_vfs* vfs, int size, char* text) {
  State& state = state_of(vfs);
  if (state.last_system_error != 0) return std::exchange(state.last_system_error, 0);
  return state.real->xGetLastError(state.real, size, text);
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  state_->real = sqlite3_vfs_find("unix");
  EVENTQ_ASSERT(state_->real != nullptr);
  sqlite3_vfs& vfs = state_->vfs;
  vfs = *state_->real;  // functions that are not replaced below are the real VFS's
  vfs.szOsFile = static_cast<int>(sizeof(File)) + state_->real->szOsFile;
  vfs.pNext = nullptr;
  vfs.zName = "faulty";
  vfs.pAppData = state_.get();
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  vfs.xAccess = access_file;
  vfs.xFullPathname = full_path;
  vfs.xGetLastError = last_error;
  EVENTQ_ASSERT(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
  sqlite3_vfs_register(state_->real, 1);
}

void FaultyVfs::fill_disk_at_write(int n) { state_->full_at_write = state_->writes + n; }
void FaultyVfs::fill_disk(bool full) { state_->full = full; }
void FaultyVfs::fail_next_sync(int system_error) { state_->sync_error = system_error; }
void FaultyVfs::skip_syncs() { state_->skip_syncs = true; }
int FaultyVfs::writes() const { return state_->writes; }
int FaultyVfs::syncs() const { return state_->syncs; }
void FaultyVfs::start_recording() { state_->recording = true; }
std::size_t FaultyVfs::recorded() const { return state_->recorded.size(); }
std::vector<FileOperation> FaultyVfs::stop_recording() {
  state_->recording = false;
  return std::exchange(state_->recorded, {});
}

}  // namespace eventq
