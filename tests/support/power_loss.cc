// power_loss.cc: see power_loss.h.
#include "support/power_loss.h"

#include <algorithm>
#include <fstream>

#include "base/assert.h"

namespace eventq {
namespace {

using Kind = FileOperation::Kind;

constexpr std::size_t kSector = 512;

void put(std::string& file, std::size_t offset, std::string_view bytes) {
  file.resize(std::max(file.size(), offset + bytes.size()));
  file.replace(offset, bytes.size(), bytes);
}

void perform(std::string& file, const FileOperation& operation) {
  const auto offset = static_cast<std::size_t>(operation.offset);
  if (operation.kind == Kind::write) put(file, offset, operation.bytes);
  if (operation.kind == Kind::truncate) file.resize(offset);
}

// Writes some sectors correctly, leaves some unchanged and fills some with garbage.
void perform_torn(std::string& file, const FileOperation& write, std::mt19937_64& random) {
  const auto start = static_cast<std::size_t>(write.offset);
  const std::size_t end = start + write.bytes.size();
  for (std::size_t from = start; from < end;) {
    const std::size_t to = std::min(end, (from / kSector + 1) * kSector);
    std::string bytes = write.bytes.substr(from - start, to - from);
    const auto choice = random() % 5;
    if (choice == 0) std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    if (choice < 3) put(file, from, bytes);
    from = to;
  }
}

}  // namespace

Disk::File& Disk::newest(const std::string& name) {
  Versions& versions = names_[name];
  EVENTQ_ASSERT(!versions.empty() && versions.back().has_value());
  return *versions.back();
}

void Disk::apply(const FileOperation& operation) {
  Versions& versions = names_[operation.file];
  switch (operation.kind) {
    case Kind::create:
      if (versions.empty()) versions.emplace_back();
      versions.emplace_back(File());
      return;
    case Kind::remove: versions.emplace_back(); return;
    case Kind::write:
    case Kind::truncate: newest(operation.file).pending.push_back(operation); return;
    case Kind::sync: break;
  }
  File& file = newest(operation.file);
  for (const FileOperation& pending : file.pending) perform(file.durable, pending);
  file.pending.clear();
  if (versions.size() == 1) return;
  for (auto& [name, all] : names_) all.erase(all.begin(), all.end() - 1);
}

void Disk::write_after_power_loss(const std::string& folder, std::mt19937_64& random) const {
  for (const auto& [name, versions] : names_) {
    const std::optional<File>& file = versions[random() % versions.size()];
    if (!file) continue;
    std::string content = file->durable;
    for (const FileOperation& operation : file->pending) {
      const auto choice = random() % 3;
      if (choice == 0) perform(content, operation);
      if (choice == 1 && operation.kind == Kind::write) perform_torn(content, operation, random);
    }
    std::ofstream(folder + name, std::ios::binary) << content;
  }
}

}  // namespace eventq
