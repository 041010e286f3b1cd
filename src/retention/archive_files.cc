// archive_files.cc: see archive_files.h.
#include "retention/archive_files.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/assert.h"
#include "base/descriptor.h"
#include "base/json_writer.h"
#include "base/time_text.h"
#include "wire/answer_json.h"

namespace eventq {
namespace {

// The default level of zlib.
constexpr int kLevel = 6;
// File names tried for one day, before append() gives up.
constexpr int kNamesMax = 1000;

Error failed(std::string_view what, const std::string& path, int number) {
  const bool full = number == ENOSPC || number == EDQUOT;
  return {full ? ErrorCode::no_space : ErrorCode::unavailable,
          "Cannot " + std::string(what) + " " + path + ": " + std::strerror(number) +
              ". Events stay in the store until the archive can be written.",
          "archive_dir"};
}

Result<void> sync_folder(const std::string& folder) {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0) return failed("open the folder", folder, errno);
  if (::fsync(opened.number()) != 0) return failed("sync the folder", folder, errno);
  return {};
}

// Only the owner may read the folder, because the files contain payloads. An existing folder keeps its mode.
Result<void> make_folder(const std::string& folder) {
  std::error_code ignored;  // mkdir() fails below and reports the reason
  if (std::filesystem::is_directory(folder, ignored)) return {};
  std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (parent.empty()) parent = ".";
  std::filesystem::create_directories(parent, ignored);
  if (::mkdir(folder.c_str(), 0700) != 0) return failed("make the folder", folder, errno);
  return sync_folder(parent.string());
}

std::string file_name(TimePoint day, int number) {
  std::string name = "events-";
  append_iso_time(name, day);
  name.resize(std::strlen("events-YYYY-MM-DD"));
  if (number > 1) name += "." + std::to_string(number);
  return name + ".ndjson.gz";
}

// One line per event. JSON allows raw line breaks only between tokens, where a blank means the same.
std::string lines_of(std::span<const Details> events) {
  std::string lines;
  for (const Details& details : events) {
    const std::size_t begin = lines.size();
    JsonWriter json(lines);
    wire::write_details(json, details.event, details.log);
    std::replace_if(
        lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');
    lines += '\n';
  }
  return lines;
}

std::optional<std::string> compressed(std::string_view text) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!compressor) return std::nullopt;
  std::string member(libdeflate_gzip_compress_bound(compressor.get(), text.size()), '\0');
  const std::size_t size =
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), member.data(), member.size());
  EVENTQ_ASSERT(size > 0);  // the bound covers the worst case
  member.resize(size);
  return member;
}

// The name belongs to another program: it existed before, or our file was deleted or replaced.
bool is_anothers(int number) {
  return number == EEXIST || number == ENOENT || number == EISDIR || number == ELOOP;
}

// Returns false with errno set.
bool write_at(int descriptor, std::string_view bytes, std::int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  return true;
}

}  // namespace

// An open file to append to, and its confirmed size.
struct ArchiveFiles::Target {
  std::string name;
  std::string path;
  std::int64_t size = 0;
  Descriptor descriptor;
};

ArchiveFiles::ArchiveFiles(std::string folder, const std::vector<ArchiveFile>& stored)
    : folder_(std::move(folder)) {
  confirm(stored);
}

Result<ArchiveFile> ArchiveFiles::append(std::span<const Details> events, TimePoint now) {
  EVENTQ_ASSERT(!events.empty());
  const auto member = compressed(lines_of(events));
  if (!member) return failed("compress events for", folder_, ENOMEM);
  if (auto made = make_folder(folder_); !made) return made.error();
  auto target = open_for(now);
  if (!target) return target.error();

  const int descriptor = target->descriptor.number();
  if (::ftruncate(descriptor, target->size) != 0) return failed("cut", target->path, errno);
  if (!write_at(descriptor, *member, target->size)) return failed("write", target->path, errno);
  if (::fsync(descriptor) != 0) return failed("sync", target->path, errno);
  // The file may be new, so its name in the folder must be on disk too.
  if (target->size == 0) {
    if (auto synced = sync_folder(folder_); !synced) return synced.error();
  }
  return ArchiveFile{target->name, target->size + static_cast<std::int64_t>(member->size())};
}

Result<ArchiveFiles::Target> ArchiveFiles::open_for(TimePoint now) {
  for (int number = 1; number <= kNamesMax; ++number) {
    std::string name = file_name(now, number);
    std::string path = folder_ + "/" + name;
    const auto confirmed = sizes_.find(name);
    // O_EXCL, because another process may use the folder too.
    const int how = confirmed == sizes_.end() ? O_CREAT | O_EXCL : 0;
    Descriptor opened(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | how, 0600));
    if (opened.number() < 0 && is_anothers(errno)) continue;
    if (opened.number() < 0) return failed("open", path, errno);
    struct stat status {};
    if (::fstat(opened.number(), &status) != 0) return failed("inspect", path, errno);
    const std::int64_t size = confirmed == sizes_.end() ? 0 : confirmed->second;
    if (!S_ISREG(status.st_mode) || status.st_size < size) continue;
    sizes_.emplace(name, size);
    return Target{std::move(name), std::move(path), size, std::move(opened)};
  }
  return Error{ErrorCode::unavailable,
               "All names up to " + file_name(now, kNamesMax) + " in " + folder_ +
                   " are taken by files that are not ours. Move them elsewhere.",
               "archive_dir"};
}

void ArchiveFiles::confirm(const ArchiveFile& file) { sizes_[file.name] = file.bytes; }

void ArchiveFiles::confirm(const std::vector<ArchiveFile>& stored) {
  for (const ArchiveFile& file : stored) confirm(file);
}

Result<std::unique_ptr<ArchiveFiles>> open_archive(const std::string& folder, Reader& reader) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || !std::filesystem::is_directory(folder, failed) || access(folder.c_str(), W_OK | X_OK) != 0) {
    return Error{
        ErrorCode::invalid_argument,
        "archive_dir is " + folder + ", which is no folder that can be written to. Name another one.",
        "archive_dir"};
  }
  const auto stored = reader.archive_files();
  if (!stored) return stored.error();
  return std::make_unique<ArchiveFiles>(folder, *stored);
}

}  // namespace eventq
