// deployment.h: servers of one queue, their databases and the network between them, to be broken piece by
// piece.
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

// A database and the way to it.
struct RemoteDatabase {
  RemoteDatabase();

  // As a server is told, through the proxy.
  [[nodiscard]] std::string url() const;

  // The first column of the first row, a text; empty when there is none.
  [[nodiscard]] std::string ask(const std::string& sql) const;
  // Ends all connections of servers.
  void end_connections() const;
  // Kills a process that serves a connection, which makes the database start again.
  void kill_backend() const;

  OwnCluster cluster;
  TcpProxy proxy;
};

class Deployment {
 public:
  static constexpr Terms kTerms{.lease = std::chrono::milliseconds(500), .max_retries = 3, .max_attempts = 5};

  // As many shards as URLs; see arguments_for().
  Deployment(const std::vector<std::string>& urls, std::size_t servers);

  // Of a server on these databases, in this order, with the terms above.
  static std::vector<std::string> arguments_for(const std::vector<std::string>& urls);

  [[nodiscard]] std::size_t size() const { return servers_.size(); }
  ServerProcess& server(std::size_t number) { return *servers_.at(number); }
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  // Of those that run.
  [[nodiscard]] std::string logs() const;

  // Lets time pass, in which no server may end by itself.
  void watch(std::chrono::milliseconds time);
  // Waits until every server reaches every shard.
  bool is_whole_within(std::chrono::milliseconds limit);

  // Ends the load, works off what is left, and says what is wrong with all that was seen: nothing, it
  // is hoped. What the clients saw goes to `summary`.
  std::string verdict(Load& load, History& history);

 private:
  std::vector<std::unique_ptr<ServerProcess>> servers_;
};

}  // namespace eventq
