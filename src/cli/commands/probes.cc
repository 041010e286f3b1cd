// probes.cc: see probes.h.
#include "cli/commands/probes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/steady.h"

namespace eventq::cli {
namespace {

using State = DiagnosisState;

constexpr std::uint64_t kMiB = 1024 * 1024;
// The page size of the store.
constexpr std::size_t kProbeBytes = 4096;

Diagnosis cannot(std::string_view what, std::string_view doing) {
  return {State::fail, std::string(what), "cannot " + std::string(doing) + ": " + std::strerror(errno),
          "run it in a folder that the server may write"};
}

std::string milliseconds(std::chrono::microseconds time) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f ms", static_cast<double>(time.count()) / 1000);
  return text.data();
}

std::string size_text(std::uint64_t bytes) {
  std::array<char, 32> text;
  const double mebi = static_cast<double>(bytes) / static_cast<double>(kMiB);
  std::snprintf(text.data(), text.size(), mebi < 1024 ? "%.0f MiB" : "%.1f GiB",
                mebi < 1024 ? mebi : mebi / 1024);
  return text.data();
}

struct FileSystemType {
  std::uint64_t type;
  std::string_view name;
  State state;
};

// The numbers are those of statfs(2). A type that is not listed counts as a local disk.
constexpr std::array kFileSystems = {
    FileSystemType{0xEF53, "ext4", State::ok},        FileSystemType{0x58465342, "XFS", State::ok},
    FileSystemType{0x9123683E, "Btrfs", State::ok},   FileSystemType{0x2FC12FC1, "ZFS", State::ok},
    FileSystemType{0xF2F52010, "F2FS", State::ok},    FileSystemType{0x794C7630, "overlayfs", State::ok},
    FileSystemType{0x01021994, "tmpfs", State::warn}, FileSystemType{0x858458F6, "ramfs", State::warn},
    FileSystemType{0x65735546, "FUSE", State::warn},  FileSystemType{0x6969, "NFS", State::fail},
    FileSystemType{0x517B, "SMB", State::fail},       FileSystemType{0xFF534D42, "CIFS", State::fail},
    FileSystemType{0xFE534D42, "SMB2", State::fail},  FileSystemType{0x5346414F, "AFS", State::fail},
    FileSystemType{0x00C36400, "Ceph", State::fail},  FileSystemType{0x01021997, "9P", State::fail},
    FileSystemType{0x47504653, "GPFS", State::fail},  FileSystemType{0x0BD00BD0, "Lustre", State::fail},
};

}  // namespace

Diagnosis probe_fsync(const std::string& folder, int samples) {
  std::string path = folder + "/.eventq-doctor-XXXXXX";
  const Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.open()) return cannot("fsync", "make a file in " + folder);
  // At once, so that no file remains when the process is killed.
  unlink(path.c_str());
  const std::string page(kProbeBytes, 'x');
  std::vector<std::chrono::microseconds> times;
  bool written = true;
  for (int i = 0; i < samples && written; ++i) {
    const SteadyTime start = steady_now();
    // Appends, as a write-ahead log does, so each sync also stores the new size of the file.
    const off_t at = static_cast<off_t>(kProbeBytes) * i;
    written = pwrite(file.number(), page.data(), page.size(), at) == std::ssize(page) &&
              fdatasync(file.number()) == 0;
    times.push_back(micros_since(start));
  }
  return written ? judge_fsync(std::move(times)) : cannot("fsync", "sync a file in " + folder);
}

Diagnosis judge_fsync(std::vector<std::chrono::microseconds> samples) {
  if (samples.empty()) return {State::warn, "fsync", "not measured"};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](std::size_t percent) { return samples[(samples.size() - 1) * percent / 100]; };
  Diagnosis found{State::ok, "fsync",
                  "p50 " + milliseconds(at(50)) + "  p99 " + milliseconds(at(99)) + " (" +
                      std::to_string(samples.size()) + " samples)"};
  // A flush to a medium takes longer than this; only memory answers so fast.
  if (at(50) < std::chrono::microseconds(20)) {
    found.state = State::warn;
    found.text += "; too fast to reach a disk";
    found.fix = "make sure that the disk or the virtual machine does not ignore flushes";
  }
  if (at(99) > std::chrono::milliseconds(50)) {
    found.state = State::warn;
    found.text += "; every commit waits for a sync";
    found.fix =
        "put the store on a faster disk, or set durability to buffered for queues that may lose their last "
        "events";
  }
  return found;
}

Diagnosis probe_file_system(const std::string& folder) {
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0) return cannot("file system", "read the type of " + folder);
  // The mask removes the sign extension of f_type, which is a signed type.
  return judge_file_system(static_cast<std::uint64_t>(system.f_type) & 0xFFFFFFFF);
}

Diagnosis judge_file_system(std::uint64_t type) {
  const auto* known = std::find_if(kFileSystems.begin(), kFileSystems.end(),
                                   [&](const auto& one) { return one.type == type; });
  if (known == kFileSystems.end()) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "0x%llX", static_cast<unsigned long long>(type));
    return {State::ok, "file system", "type " + std::string(text.data())};
  }
  Diagnosis found{known->state, "file system", std::string(known->name)};
  if (known->state == State::warn) {
    // 0x65735546 is FUSE. The other file systems with a warning are in memory.
    found.text += type == 0x65735546 ? ": a program implements its locks and syncs" : ": lost at a restart";
    found.fix = "put the store on a disk of this machine";
  }
  if (known->state == State::fail) {
    found.text += ": SQLite's write-ahead log does not work on network file systems";
    found.fix = "put the store on a disk of this machine";
  }
  return found;
}

Diagnosis probe_disk(const std::string& folder) {
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) != 0) return cannot("disk", "read the free space of " + folder);
  return judge_disk(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize);
}

Diagnosis judge_disk(std::uint64_t free_bytes, std::uint64_t all_bytes) {
  Diagnosis found{State::ok, "disk", size_text(free_bytes) + " free of " + size_text(all_bytes)};
  if (free_bytes < 1024 * kMiB) found.state = State::warn;
  if (free_bytes < 128 * kMiB) found.state = State::fail;
  if (found.state != State::ok) found.fix = "free some space, or shorten the queues' retention";
  return found;
}

Diagnosis probe_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return cannot("open files", "read the limit");
  return judge_open_files(limit.rlim_max);  // the hard limit, because the server raises its soft limit to it
}

Diagnosis judge_open_files(std::uint64_t limit) {
  Diagnosis found{State::ok, "open files",
                  "limit " + (limit == RLIM_INFINITY ? "none" : std::to_string(limit))};
  // `eventq serve` refuses to start with fewer than 128.
  if (limit < 4096) found.state = State::warn;
  if (limit < 128) found.state = State::fail;
  if (found.state != State::ok) {
    found.text += "; each connection needs one";
    found.fix = "ulimit -Hn 65536, or LimitNOFILE=65536 in the unit of the service";
  }
  return found;
}

Diagnosis judge_sqlite(std::string_view version) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::sscanf(std::string(version).c_str(), "%d.%d.%d", &major, &minor, &patch);
  // No warning, because eventq itself is the only writer of its file.
  const bool races = std::array{major, minor, patch} < std::array{3, 51, 3};
  return {State::ok, "SQLite",
          std::string(version) +
              (races ? "; has the WAL-reset race (before 3.51.3), which one writer per file avoids: "
                       "let no other program write to the store"
                     : "")};
}

Diagnosis judge_clock(std::chrono::seconds behind) {
  const auto off = std::chrono::abs(behind);
  if (off <= std::chrono::seconds(2))
    return {State::ok, "clock", "the server's clock agrees with this machine's"};
  return {State::warn, "clock",
          "the server's clock is " + std::to_string(off.count()) + " s " +
              (behind.count() > 0 ? "behind" : "ahead of") + " this machine's",
          "synchronize both with NTP"};
}

}  // namespace eventq::cli
