// stored_file.h: what a killed server left on disk, looked at before the next one starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace eventq {

struct StoredFile {
  std::string damage;                        // in words; empty when the store is sound
  std::map<std::string, std::int64_t> live;  // events of each queue
};

// Works on a copy of the file and its log, so that the next server finds both as they were left.
StoredFile look_into(const std::string& path);

}  // namespace eventq
