// stored_file.h: reads the file that a killed server left on disk, before the next server starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace eventq {

struct StoredFile {
  std::string damage;                        // a description; empty when the store is sound
  std::map<std::string, std::int64_t> live;  // number of live events by queue
};

// Reads a copy of the file and its log, so that the next server finds both unchanged.
StoredFile read_stored_file(const std::string& path);

}  // namespace eventq
