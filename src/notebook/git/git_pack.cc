// git_pack.cc: see git_pack.h.
#include "notebook/git/git_pack.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "notebook/git/git_open.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kLooseMax = 6700;  // the default of gc.auto
constexpr std::size_t kFolders = 256;     // of loose objects, by the first byte of their ids
constexpr std::size_t kNameSize = GIT_OID_HEXSZ - 2;

std::string objects_of(git_repository* repo) {
  return std::string(git_repository_commondir(repo)) + "objects";
}

std::string name_of_folder(std::size_t number) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {kDigits[number / 16], kDigits[number % 16]};
}

struct LooseObject {
  git_oid id;
  std::string path;
};

std::vector<LooseObject> loose_objects(const std::string& objects) {
  std::vector<LooseObject> found;
  for (std::size_t number = 0; number < kFolders; ++number) {
    const std::string start = name_of_folder(number);
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(fs::path(objects) / start, failed)) {
      const std::string name = entry.path().filename().string();
      LooseObject object{.id = {}, .path = entry.path().string()};
      if (name.size() == kNameSize && git_oid_fromstr(&object.id, (start + name).c_str()) == 0) {
        found.push_back(std::move(object));
      }
    }
  }
  return found;
}

int must_stop(int /*stage*/, std::uint32_t /*current*/, std::uint32_t /*total*/, void* stop) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? -1 : 0;
}

int must_stop_writing(const git_indexer_progress* /*progress*/, void* stop) {
  return must_stop(0, 0, 0, stop);
}

}  // namespace

bool has_many_loose_objects(const std::string& path) {
  const auto repo = open_repository(path, false);
  if (!repo) return false;
  git::ConfigHandle config;
  std::int32_t most = kLooseMax;
  if (git_repository_config_snapshot(config.out(), *repo) != 0) return false;
  git_config_get_int32(&most, config, "gc.auto");
  if (most <= 0) return false;
  std::size_t count = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(objects_of(*repo) + "/17", failed)) {
    count += entry.path().filename().string().size() == kNameSize ? 1 : 0;
  }
  return count * kFolders > static_cast<std::size_t>(most);
}

Result<void> pack_loose_objects(const std::string& path, const std::atomic<bool>& stop) {
  const auto repo = open_repository(path, false);
  if (!repo) return repo.error();
  const std::string objects = objects_of(*repo);
  const auto loose = loose_objects(objects);
  auto* const stop_flag = const_cast<std::atomic<bool>*>(&stop);  // libgit2 takes no pointer to const
  git::PackBuilderHandle pack;
  if (git_packbuilder_new(pack.out(), *repo) != 0) return git::failure("make a pack");
  git_packbuilder_set_threads(pack, 1);
  if (git_packbuilder_set_callbacks(pack, must_stop, stop_flag) != 0) return git::failure("make a pack");
  for (const LooseObject& object : loose) {
    if (stop) return {};
    if (git_packbuilder_insert(pack, &object.id, nullptr) != 0) return git::failure("pack an object");
  }
  const std::string folder = objects + "/pack";
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (git_packbuilder_write(pack, folder.c_str(), 0, must_stop_writing, stop_flag) != 0) {
    return stop ? Result<void>() : git::failure("write a pack");
  }
  // The pack must be on disk before the objects are removed.
  const Descriptor disk(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!disk.open() || ::syncfs(disk.number()) != 0) return git::system_failure("sync a pack");
  for (const LooseObject& object : loose) ::unlink(object.path.c_str());
  return {};
}

}  // namespace eventq::notebook
