// git_blobs.cc: see git_blobs.h.
#include "notebook/git/git_blobs.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "notebook/git/git_attributes.h"
#include "notebook/git/git_open.h"
#include "notebook/git/git_support.h"

namespace eventq::notebook {
namespace {

constexpr std::size_t kStreamPiece = 128U << 10U;

bool is_stored(git_repository* repo, const std::string& id) {
  git_oid blob;
  git::OdbHandle objects;
  return git_oid_fromstr(&blob, id.c_str()) == 0 && git_repository_odb(objects.out(), repo) == 0 &&
         git_odb_exists(objects, &blob) != 0;
}

Result<bool> is_stored_as_it_is(git_repository* repo, const Folder& folder, const std::string& path) {
  git::ConfigHandle config;
  git::IndexHandle index;
  if (git_repository_config_snapshot(config.out(), repo) != 0 ||
      git_repository_index(index.out(), repo) != 0) {
    return git::failure("read its configuration and index");
  }
  const auto how = GitAttributes(repo, config, index, folder).of(path);
  if (!how) return how.error();
  return how->filters.empty() && how->conversion == git::Conversion();
}

}  // namespace

Result<void> store_blob(const std::string& repository, const Folder& folder, const std::string& path,
                        const std::string& id, const std::atomic<bool>& stop) {
  const auto repo = open_repository(repository, false);
  if (!repo) return repo.error();
  int ignored = 0;
  git_ignore_path_is_ignored(&ignored, *repo, path.c_str());
  if (ignored != 0 || is_stored(*repo, id)) return {};
  const auto as_it_is = is_stored_as_it_is(*repo, folder, path);
  if (!as_it_is) return as_it_is.error();
  if (!*as_it_is) return {};
  const auto file = folder.open_file(path);
  if (!file) return file.error();
  git_writestream* stream = nullptr;
  if (git_blob_create_from_stream(&stream, *repo, nullptr) != 0) return git::failure("store " + path);
  std::vector<char> piece(kStreamPiece);
  for (;;) {
    const ssize_t size = ::read(file->number(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size == 0 && !stop) break;
    if (size >= 0 && !stop && stream->write(stream, piece.data(), static_cast<std::size_t>(size)) == 0)
      continue;
    Error error = size < 0 ? git::system_failure("read " + path) : git::failure("store " + path);
    stream->free(stream);
    return stop ? Result<void>() : error;
  }
  git_oid stored;
  if (git_blob_create_from_stream_commit(&stored, stream) != 0) return git::failure("store " + path);
  return {};
}

}  // namespace eventq::notebook
