// postgres_cluster.cc: see postgres_cluster.h.
#include "support/postgres_cluster.h"
#include "support/loopback.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "base/assert.h"
#include "base/descriptor.h"
#include "store/postgres/connection.h"
#include "store/postgres/migrate.h"

namespace eventq {
namespace {

namespace fs = std::filesystem;
using postgres::PgConnection;

constexpr std::chrono::seconds kStartLimit{60};

[[noreturn]] void abort_with(const std::string& reason) {
  std::fprintf(stderr, "PostgreSQL for tests: %s\n", reason.c_str());
  std::abort();
}

template <typename T>
T value_or_abort(Result<T> result, const std::string& what) {
  if (!result) abort_with(what + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string program(const std::string& name) {
  const fs::path postgres = EVENTQ_POSTGRES;
  if (postgres.empty()) abort_with("the program `postgres` was not found; install the package postgresql");
  return postgres.parent_path() / name;
}

// The arguments that run `command` as a user that may run PostgreSQL, and kill it when this process dies.
std::vector<std::string> as_postgres_user(std::vector<std::string> command,
                                          const std::string& at_death = "KILL") {
  std::vector<std::string> full = {"/usr/bin/setpriv", "--pdeathsig=" + at_death};
  if (geteuid() == 0) full.insert(full.end(), {"--reuid=postgres", "--regid=postgres", "--init-groups"});
  full.insert(full.end(), command.begin(), command.end());
  return full;
}

void run_or_abort(const std::vector<std::string>& command) {
  const Finished finished = run({command, {"LC_ALL=C"}, "/"});
  if (finished.exit_code != 0) abort_with(command.back() + ": " + finished.out + finished.err);
}

// Makes the PostgreSQL user the owner of a folder.
void give_to_postgres_user(const std::string& folder) {
  if (geteuid() != 0) return;
  const passwd* user = getpwnam("postgres");
  if (user == nullptr || chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
    abort_with("the user `postgres` is missing; install the package postgresql");
  }
}

// A cluster without fsync is in memory when enough is free. A database is some hundred files, and on a disk
// most of a test's time would be spent to create and remove them.
fs::path parent_folder(const std::vector<std::string>& settings) {
  if (std::ranges::count(settings, "fsync=off") == 0) return fs::temp_directory_path();
  const fs::path memory = "/dev/shm";
  constexpr std::uintmax_t kBytesNeeded = std::uintmax_t{4} << 30;
  std::error_code missing;
  const fs::space_info space = fs::space(memory, missing);
  return !missing && space.available >= kBytesNeeded ? memory : fs::temp_directory_path();
}

std::string create_folder(std::string folder) {
  fs::create_directory(folder);
  fs::permissions(folder, fs::perms::owner_all);
  give_to_postgres_user(folder);
  return folder;
}

void make_cluster(const std::string& folder) {
  run_or_abort(as_postgres_user({program("initdb"), "--username=postgres", "--auth=trust", "--encoding=UTF8",
                                 "--locale=C", "--wal-segsize=1", "--no-sync", "--no-instructions",
                                 "--pgdata=" + folder}));
}

// Binds a socket to a free port. The kernel then gives the port to no other program, not even for an outgoing
// connection. PostgreSQL can still listen on it, because it sets SO_REUSEADDR too.
Descriptor reserve_port() {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address = loopback_address(0);
  const bool bound = setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                     bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  EVENTQ_ASSERT(bound);
  return socket;
}

int port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const bool bound = getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) == 0;
  EVENTQ_ASSERT(bound);
  return ntohs(address.sin_port);
}

// `root` and all processes below it.
std::vector<pid_t> process_tree(pid_t root) {
  std::set<pid_t> found = {root};
  // A child's number may be lower than its parent's, so the scan repeats until it finds no new process.
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      std::ifstream file(entry.path() / "stat");
      std::string line;
      if (!std::getline(file, line)) continue;
      std::istringstream rest(line.substr(line.rfind(')') + 1));
      std::string state;
      pid_t parent = 0;
      rest >> state >> parent;
      if (found.contains(parent)) found.insert(std::atoi(line.c_str()));
    }
  }
  return {found.begin(), found.end()};
}

std::unique_ptr<PgConnection> connect(const std::string& url) {
  return value_or_abort(PgConnection::open(url), url);
}

void run_script(const std::string& url, const std::string& sql) {
  value_or_abort(connect(url)->script(sql), sql);
}

std::string fresh_name() {
  static std::atomic<int> last = 0;
  return "test_" + std::to_string(getpid()) + "_" + std::to_string(++last);
}

}  // namespace

std::string pristine_cluster() {
  const char* shared = std::getenv("EVENTQ_TEST_POSTGRES");
  if (shared != nullptr && fs::exists(fs::path(shared) / "pristine")) return fs::path(shared) / "pristine";
  static const TemporaryDirectory directory;
  static const std::string folder = [] {
    give_to_postgres_user(directory.file(""));
    make_cluster(directory.file("pristine"));
    return directory.file("pristine");
  }();
  return folder;
}

OwnCluster::OwnCluster(std::vector<std::string> settings)
    : directory_(parent_folder(settings)),
      settings_(std::move(settings)),
      reserved_(reserve_port()),
      port_(port_of(reserved_)) {
  give_to_postgres_user(directory_.file(""));
  create_folder(socket_folder());
  run_or_abort(as_postgres_user({"/bin/cp", "-a", pristine_cluster() + "/.", data_folder()}));
  start();
}

OwnCluster::OwnCluster(AsStandby, const OwnCluster& primary)
    : directory_(parent_folder(primary.settings_)),
      settings_(primary.settings_),
      reserved_(reserve_port()),
      port_(port_of(reserved_)) {
  give_to_postgres_user(directory_.file(""));
  create_folder(socket_folder());
  run_or_abort(as_postgres_user({program("pg_basebackup"), "--host=127.0.0.1",
                                 "--port=" + std::to_string(primary.port()), "--username=postgres",
                                 "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
                                 "--pgdata=" + data_folder()}));
  start();
}

OwnCluster::~OwnCluster() {
  if (server_ != nullptr) kill();
}

void OwnCluster::start() {
  EVENTQ_ASSERT(server_ == nullptr);
  std::vector<std::string> command = {program("postgres"), "-D", data_folder(),        "-k",
                                      socket_folder(),     "-p", std::to_string(port_)};
  // Without this setting, a start after a kill opens and syncs each file.
  std::vector<std::string> settings = {"recovery_init_sync_method=syncfs"};
  settings.insert(settings.end(), settings_.begin(), settings_.end());
  for (const std::string& setting : settings) {
    command.emplace_back("-c");
    command.push_back(setting);
  }
  // QUIT: an immediate shutdown.
  server_ = std::make_unique<Process>(ProcessSetup{as_postgres_user(command, "QUIT"), {"LC_ALL=C"}, "/"});
  if (!server_->wait_for_line("database system is ready to accept", kStartLimit)) {
    abort_with("it did not start: " + server_->err());
  }
}

void OwnCluster::stop(Stop mode) {
  server_->signal(mode == Stop::fast ? SIGINT : SIGQUIT);
  if (!server_->wait(kStartLimit)) abort_with("it did not stop: " + server_->err());
  server_.reset();
}

void OwnCluster::kill() {
  signal_all(SIGKILL);
  // All its processes hold the pipe that this waits for, so none is left at the next start.
  if (!server_->wait(kStartLimit)) abort_with("it did not end after SIGKILL");
  server_.reset();
}

void OwnCluster::pause(bool paused) { signal_all(paused ? SIGSTOP : SIGCONT); }

void OwnCluster::signal_all(int number) const {
  // Stops the parent first, so that it starts no more children and its present ones are not reparented.
  server_->signal(SIGSTOP);
  for (const pid_t pid : process_tree(server_->pid())) ::kill(pid, number);
}

std::unique_ptr<OwnCluster> OwnCluster::make_standby() {
  std::unique_ptr<OwnCluster> standby(new OwnCluster(AsStandby(), *this));
  const auto connection = connect(url("postgres"));
  value_or_abort(connection->script("ALTER SYSTEM SET synchronous_standby_names = '*'"), "ALTER SYSTEM");
  value_or_abort(connection->script("SELECT pg_reload_conf()"), "pg_reload_conf");
  const std::string in_sync = "SELECT count(*)::bigint FROM pg_stat_replication WHERE sync_state = 'sync'";
  while (value_or_abort(connection->run_one(in_sync), in_sync).number(0, 0) == 0) {
    value_or_abort(connection->script("SELECT pg_sleep(0.01)"), "pg_sleep");
  }
  return standby;
}

void OwnCluster::promote() { run("postgres", "SELECT pg_promote()"); }

std::string OwnCluster::add_database(const std::string& name) const {
  run("postgres", "CREATE DATABASE " + name);
  return url(name);
}

std::string OwnCluster::url(const std::string& database) const {
  return "postgres://postgres@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

std::string OwnCluster::url(const OwnCluster& one, const OwnCluster& other, const std::string& database) {
  return "postgres://postgres@127.0.0.1:" + std::to_string(one.port_) +
         ",127.0.0.1:" + std::to_string(other.port_) + "/" + database + "?target_session_attrs=read-write";
}

void OwnCluster::run(const std::string& database, const std::string& sql) const {
  run_script(url(database), sql);
}

std::vector<std::string> quick_settings() {
  return {"fsync=off",
          "full_page_writes=off",
          "autovacuum=off",
          "max_connections=200",
          "max_wal_size=1GB",
          "checkpoint_timeout=1h",
          "dynamic_shared_memory_type=mmap"};  // in the folder, so a kill leaves nothing behind
}

PostgresCluster& PostgresCluster::shared() {
  static PostgresCluster cluster;
  return cluster;
}

PostgresCluster::PostgresCluster() {
  std::string folder;
  if (const char* shared = std::getenv("EVENTQ_TEST_POSTGRES")) {
    folder = shared;
  } else {
    own_ = std::make_unique<OwnCluster>(quick_settings());
    folder = own_->socket_folder();
  }
  // The name of the socket ends with the port.
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (entry.is_socket()) query_ = "?host=" + folder + "&port=" + name.substr(name.rfind('.') + 1);
  }
  if (query_.empty()) abort_with("no socket in " + folder);
}

std::string PostgresCluster::url(const std::string& database) const {
  return "postgres://postgres@/" + database + query_;
}

const std::string& PostgresCluster::migrated() {
  if (!migrated_.empty()) return migrated_;
  // Named by a hash of the migrations, because programs of several builds may share the cluster.
  std::string all;
  for (const postgres::Migration& migration : postgres::migrations()) all += migration.sql;
  const std::string name = "template_" + std::to_string(std::hash<std::string>()(all));

  const auto connection = connect(url("postgres"));
  value_or_abort(connection->script("SELECT pg_advisory_lock(1)"), "lock");
  postgres::Params params;
  const auto found =
      value_or_abort(connection->run_one("SELECT 1 FROM pg_database WHERE datname = $1", params.add(name)),
                     "find the template");
  if (found.empty()) {
    // Renamed only when it is complete.
    value_or_abort(connection->script("DROP DATABASE IF EXISTS unfinished"), "drop");
    value_or_abort(connection->script("CREATE DATABASE unfinished"), "create");
    const std::string unfinished = url("unfinished");
    value_or_abort(postgres::migrate({&unfinished, 1}), "migrate");
    value_or_abort(connection->script("ALTER DATABASE unfinished RENAME TO " + name), "rename");
  }
  migrated_ = name;
  return migrated_;
}

TestDatabase::TestDatabase() : name_(fresh_name()) {
  PostgresCluster& cluster = PostgresCluster::shared();
  run_script(cluster.url("postgres"),
             "CREATE DATABASE " + name_ + " TEMPLATE " + cluster.migrated() + " STRATEGY file_copy");
}

TestDatabase::TestDatabase(Empty) : name_(fresh_name()) {
  run_script(PostgresCluster::shared().url("postgres"), "CREATE DATABASE " + name_);
}

TestDatabase::~TestDatabase() {
  run_script(PostgresCluster::shared().url("postgres"), "DROP DATABASE " + name_ + " WITH (FORCE)");
}

std::string TestDatabase::url() const { return PostgresCluster::shared().url(name_); }

}  // namespace eventq
