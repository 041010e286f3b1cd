// stored_file.h: what a killed server left on disk, looked at before the next one starts.
#pragma once

#include <string>

namespace eventq {

// What is wrong with the store, in words; empty when it is sound. Works on a copy of the file and its
// log, so that the next server finds both as they were left.
std::string find_damage(const std::string& path);

}  // namespace eventq
