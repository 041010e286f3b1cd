// postgres_cluster.h: PostgreSQL for tests: throw-away clusters and databases.
//
// Root may not run PostgreSQL; its clusters are then those of the user `postgres`.
//
// Threads: each object one at a time; create clusters on the test's main thread, they end with it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq {

// A cluster of its own that a test may stop, kill and take over, on a free port of 127.0.0.1. Gone with the
// object.
class OwnCluster {
 public:
  enum class Stop { fast, immediate };

  // Starts it, durable as PostgreSQL is by default. `settings`: "name=value" of postgresql.conf.
  explicit OwnCluster(std::vector<std::string> settings = {});
  ~OwnCluster();
  OwnCluster(const OwnCluster&) = delete;
  OwnCluster& operator=(const OwnCluster&) = delete;

  void start();             // again, on the same port
  void stop(Stop mode);     // and waits for the end
  void kill();              // -9, all its processes at once
  void pause(bool paused);  // SIGSTOP or SIGCONT to all its processes

  // A copy that follows this one, and for which this one's commits wait from now on.
  std::unique_ptr<OwnCluster> make_standby();
  void promote();  // of a standby: now it may be written to

  // Creates an empty database; returns its URL.
  std::string add_database(const std::string& name) const;
  [[nodiscard]] std::string url(const std::string& database) const;
  // Of both: whoever may be written to.
  static std::string url(const OwnCluster& one, const OwnCluster& other, const std::string& database);

  void run(const std::string& database, const std::string& sql) const;
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return server_->pid(); }  // the parent of all its processes
  [[nodiscard]] std::string socket_folder() const { return directory_.file("socket"); }
  [[nodiscard]] std::string log() const { return server_ == nullptr ? "" : server_->err(); }

 private:
  struct AsStandby {};
  OwnCluster(AsStandby, const OwnCluster& primary);

  [[nodiscard]] std::string data_folder() const { return directory_.file("data"); }
  void signal_all(int number) const;

  const TemporaryDirectory directory_;
  const std::vector<std::string> settings_;
  const Descriptor reserved_;  // its port
  const int port_;
  std::unique_ptr<Process> server_;
};

// The folder of a cluster that nobody has started yet, to be copied: quicker than making each anew.
std::string pristine_cluster();

// Settings under which nothing survives a power cut, and tests are quick.
std::vector<std::string> quick_settings();

// The cluster that tests share: the one whose socket is in the folder EVENTQ_TEST_POSTGRES (see
// with_postgres.cc); else one of this process.
class PostgresCluster {
 public:
  static PostgresCluster& shared();

  [[nodiscard]] std::string url(const std::string& database) const;
  // Name of a database with our schema, to be copied.
  const std::string& migrated();

 private:
  PostgresCluster();

  std::unique_ptr<OwnCluster> own_;
  std::string query_;  // of its URLs
  std::string migrated_;
};

// A fresh database in the shared cluster, with our schema; dropped at the end.
class TestDatabase {
 public:
  struct Empty {};

  TestDatabase();
  explicit TestDatabase(Empty);  // without our schema
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  [[nodiscard]] std::string url() const;

 private:
  const std::string name_;
};

}  // namespace eventq
