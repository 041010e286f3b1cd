// power_loss.h: computes the files that a power failure leaves.
//
// A write is durable after the next sync of its file. Until then each of its sectors may be written,
// unchanged or garbage, independently of other writes. The creation or removal of a file is durable after the
// next sync of a new file, because SQLite then syncs the folder.
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

  // Writes the files into `folder`, which ends in '/', as a power failure could leave them. `random` chooses
  // one of the possible results.
  void write_after_power_loss(const std::string& folder, std::mt19937_64& random) const;

 private:
  struct File {
    std::string durable;
    std::vector<FileOperation> pending;  // since its last sync
  };
  // The files that a name may stand for after a power failure, oldest first; nothing: no file.
  using Versions = std::vector<std::optional<File>>;

  File& newest(const std::string& name);

  std::map<std::string, Versions> names_;
};

}  // namespace eventq
