// store_audit.h: checks the SQLite file of a store on a separate connection, while the store is closed or
// between two transactions.
#pragma once

#include <string>
#include <vector>

namespace eventq {

// Runs one statement on a separate connection, which may write. Returns the first column of each row.
std::vector<std::string> query(const std::string& path, const std::string& sql);

// The faults in the file, one line each; empty when there are none. Runs SQLite's own check, and checks that
// bodies, states, the ready index, lines, keys, the counters and the ids agree.
std::string audit(const std::string& path);

// The same for a file that a queue wrote, with all the rules of `eventq verify`. A file of a store test does
// not keep them all.
std::string audit_queues(const std::string& path);

}  // namespace eventq
