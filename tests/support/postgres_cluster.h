// postgres_cluster.h: temporary PostgreSQL clusters and databases for tests.
//
// PostgreSQL refuses to run as root, so root's clusters run as the user `postgres`.
//
// Threads: one thread at a time per object. Create clusters on the test's main thread, because they end with
// it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace eventq {

// A cluster on a free port of 127.0.0.1 that a test may stop, kill and promote. Removed with the object.
class OwnCluster {
 public:
  enum class Stop { fast, immediate };

  // Starts it with PostgreSQL's default durability. `settings`: "name=value" of postgresql.conf.
  explicit OwnCluster(std::vector<std::string> settings = {});
  ~OwnCluster();
  OwnCluster(const OwnCluster&) = delete;
  OwnCluster& operator=(const OwnCluster&) = delete;

  void start();             // again, on the same port
  void stop(Stop mode);     // and waits until it has stopped
  void kill();              // -9, all its processes at once
  void pause(bool paused);  // SIGSTOP or SIGCONT to all its processes

  // A streaming copy of this cluster. From now on this cluster's commits wait for it.
  std::unique_ptr<OwnCluster> make_standby();
  void promote();  // makes a standby writable

  // Creates an empty database; returns its URL.
  std::string add_database(const std::string& name) const;
  [[nodiscard]] std::string url(const std::string& database) const;
  // A URL of both clusters that connects to the writable one.
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

// The folder of a cluster that was never started. A copy of it is made faster than a new cluster.
std::string pristine_cluster();

// Settings for speed, with which nothing survives a power cut.
std::vector<std::string> quick_settings();

// The cluster that tests share: its socket is in the folder EVENTQ_TEST_POSTGRES (see with_postgres.cc).
// Without that variable, each process has its own.
class PostgresCluster {
 public:
  static PostgresCluster& shared();

  [[nodiscard]] std::string url(const std::string& database) const;
  // The name of a template database with our schema.
  const std::string& migrated();

 private:
  PostgresCluster();

  std::unique_ptr<OwnCluster> own_;
  std::string query_;  // of its URLs
  std::string migrated_;
};

// A new database in the shared cluster, with our schema; dropped at the end.
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
