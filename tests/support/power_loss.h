// power_loss.h: what is left of some files when the power fails.
//
// A write lasts from the next sync of its file on. Until then each of its sectors may have
// reached the disk, or not, or be garbage, whatever became of the writes before and behind
// it. A file made or removed is known to have been from the next sync of a new file on,
// with which SQLite syncs the folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/faulty_vfs.h"

namespace eventq {

class Disk {
 public:
  void apply(const FileOperation& operation);

  // Writes the files as one of the many possible failures of power would leave them, into
  // `folder`, which ends in '/'.
  void write_after_power_loss(const std::string& folder, std::mt19937_64& random) const;

 private:
  struct File {
    std::string durable;
    std::vector<FileOperation> pending;  // since its last sync
  };
  // What a name may stand for after a power failure, oldest first: one of these files, or none.
  using Versions = std::vector<std::optional<File>>;

  File& newest(const std::string& name);

  std::map<std::string, Versions> names_;
};

}  // namespace eventq
