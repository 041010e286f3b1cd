// digests.cc: see digests.h.
#include "notebook/files/digests.h"

#include <algorithm>
#include <utility>

namespace eventq::notebook {
namespace {

constexpr std::size_t kReadyMax = 1000;  // digests that no caller has asked for yet
constexpr std::size_t kSample = 3;

PathSample sample_of(const std::set<std::string>& paths) {
  PathSample sample{.count = paths.size()};
  for (auto at = paths.begin(); at != paths.end() && sample.paths.size() < kSample; ++at) {
    sample.paths.push_back(*at);
  }
  return sample;
}

void erase_within(std::set<std::string>& paths, const std::string& folder) {
  if (folder.empty()) return paths.clear();
  paths.erase(folder);
  const std::string start = folder + "/";
  for (auto at = paths.lower_bound(start); at != paths.end() && at->starts_with(start);) at = paths.erase(at);
}

}  // namespace

void Digests::start(OnHashed on_hashed, OnReady on_ready) {
  thread_ = std::thread([this, on_hashed = std::move(on_hashed), on_ready = std::move(on_ready)] {
    loop(on_hashed, on_ready);
  });
}

void Digests::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Digests::loop(const OnHashed& on_hashed, const OnReady& on_ready) {
  for (;;) {
    std::string path;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !wanted_.empty(); });
      if (stopping_) return;
      path = *wanted_.begin();
    }
    auto digest = folder_.digest(path, {.max_bytes = max_bytes_, .stop = &stopping_});
    if (stopping_) return;
    note(path, digest);
    if (digest && !digest->hash.empty()) on_hashed(path, *digest);
    {
      const std::scoped_lock lock(mutex_);
      wanted_.erase(path);
      restless_.erase(path);
      if (!digest && digest.error().code == ErrorCode::conflict) restless_.insert(path);
      // The file is gone, unreadable or being written: the watcher reports the next change of it.
      if (!digest) continue;
      if (ready_.size() >= kReadyMax) ready_.erase(ready_.begin());
      ready_.insert_or_assign(path, std::move(*digest));
    }
    on_ready(path);
  }
}

Result<std::optional<Digest>> Digests::of(const std::string& path) {
  const auto state = folder_.file_state(path);
  return of(path, state ? *state : FileState{});
}

Result<std::optional<Digest>> Digests::of(const std::string& path, const FileState& state) {
  if (state.size > kLargeBytes && !is_too_large(state.size)) return of_large(path, state);
  auto digest = folder_.digest(path, {.max_bytes = max_bytes_});
  note(path, digest);
  if (!digest) return digest.error();
  return std::optional(std::move(*digest));
}

// A digest stays after it was returned, because change detection and the worker both ask for it.
Result<std::optional<Digest>> Digests::of_large(const std::string& path, const FileState& state) {
  const std::scoped_lock lock(mutex_);
  if (const auto ready = ready_.find(path); ready != ready_.end()) {
    if (ready->second.state == state) return std::optional(ready->second);
    ready_.erase(ready);
  }
  wanted_.insert(path);
  changed_.notify_all();
  if (restless_.contains(path)) return Error{ErrorCode::conflict, path + " is being written."};
  return std::optional<Digest>();
}

void Digests::note(const std::string& path, const Result<Digest>& digest) {
  const bool is_large = digest && digest->hash.empty();
  const bool is_unreadable = !digest && digest.error().code == ErrorCode::unavailable;
  const std::scoped_lock lock(mutex_);
  if (is_large) too_large_.insert(path);
  if (!is_large && !too_large_.empty()) too_large_.erase(path);
  if (is_unreadable) unreadable_.insert(path);
  if (!is_unreadable && !unreadable_.empty()) unreadable_.erase(path);
}

void Digests::note_too_large(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  too_large_.insert(path);
}

void Digests::note_unreadable(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  unreadable_.insert(path);
}

void Digests::forget_troubles(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  erase_within(too_large_, path);
  erase_within(unreadable_, path);
}

FileTroubles Digests::troubles() const {
  const std::scoped_lock lock(mutex_);
  return {sample_of(too_large_), sample_of(unreadable_)};
}

}  // namespace eventq::notebook
