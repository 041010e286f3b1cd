// store_audit.h: looks into the SQLite file of a store, from outside, while it is closed or
// between two transactions.
#pragma once

#include <string>
#include <vector>

namespace eventq {

// Runs one statement on a connection of its own, which may write, and gives the first
// column of each row.
std::vector<std::string> query(const std::string& path, const std::string& sql);

// What is wrong with the file, one line per fault; empty when nothing is: SQLite's own
// check, and that bodies, states, the ready index, lines, keys, the counters and the ids agree.
std::string audit(const std::string& path);

// The same of a file that a queue wrote, and not a test of the store alone: all that `eventq verify` proves.
std::string audit_queues(const std::string& path);

}  // namespace eventq
