// deployment.h: servers of one queue, their databases, and the network between them, all of which tests can
// break.
//
// Threads: belongs to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "crash/load.h"
#include "support/history.h"
#include "support/postgres_cluster.h"
#include "support/server_process.h"
#include "support/tcp_proxy.h"

namespace eventq {

// A database and the network path to it.
struct RemoteDatabase {
  RemoteDatabase();

  // The URL for servers, through the proxy.
  [[nodiscard]] std::string url() const;

  // The first column of the first row as text; empty when there is no row.
  [[nodiscard]] std::string query_text(const std::string& sql) const;
  // Terminates all connections of servers.
  void end_connections() const;
  // Kills a backend process, which makes PostgreSQL restart.
  void kill_backend() const;

  OwnCluster cluster;
  TcpProxy proxy;
};

class Deployment {
 public:
  static constexpr CheckSettings kSettings{
      .lease = std::chrono::milliseconds(500), .max_retries = 3, .max_attempts = 5};

  // One shard per URL; see arguments_for().
  Deployment(const std::vector<std::string>& urls, std::size_t servers);

  // The arguments of a server on these databases, in this order, with kSettings.
  static std::vector<std::string> arguments_for(const std::vector<std::string>& urls);

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  ServerProcess& server(std::size_t number) { return *servers_.at(number); }
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  // The logs of the running servers.
  [[nodiscard]] std::string logs() const;

  // Waits this long; fails the test when server 0 exits meanwhile.
  void wait_while_running(std::chrono::milliseconds time);
  // Waits until every server reaches every shard.
  bool reaches_all_shards_within(std::chrono::milliseconds limit);

  // Ends the load, completes the remaining events, and returns the violations found in all calls; empty when
  // there are none. Sets `history` to all calls.
  std::string finish_and_check(Load& load, History& history);

 private:
  std::vector<std::unique_ptr<ServerProcess>> servers_;
};

}  // namespace eventq
