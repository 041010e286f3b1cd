// probes.h: the measurements of `eventq doctor` on this machine, each with its diagnosis and a fix.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eventq::cli {

enum class DiagnosisState : std::uint8_t { ok, warn, fail };

struct Diagnosis {
  DiagnosisState state = DiagnosisState::ok;
  std::string what;  // "fsync"
  std::string text;
  std::string fix = {};  // what would fix it; empty when the state is ok
};

// Probes of the folder that contains the store.
Diagnosis probe_fsync(const std::string& folder, int samples = 200);
Diagnosis probe_file_system(const std::string& folder);
Diagnosis probe_disk(const std::string& folder);

Diagnosis probe_open_files();

// The diagnoses without the measurements, for tests.
Diagnosis judge_fsync(std::vector<std::chrono::microseconds> samples);
Diagnosis judge_file_system(std::uint64_t type);  // statfs(2)'s f_type
Diagnosis judge_disk(std::uint64_t free_bytes, std::uint64_t all_bytes);
Diagnosis judge_open_files(std::uint64_t limit);
Diagnosis judge_sqlite(std::string_view version);
Diagnosis judge_clock(std::chrono::seconds behind);  // how far the server's clock is behind this one

}  // namespace eventq::cli
