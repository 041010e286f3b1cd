// deployment.cc: see deployment.h.
#include "faults/deployment.h"

#include <gtest/gtest.h>

#include <csignal>
#include <iostream>
#include <utility>

#include "base/numbers.h"
#include "base/steady.h"
#include "crash/client.h"
#include "store/postgres/connection.h"
#include "support/http_client.h"

namespace eventq {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// True when a list covers all shards. Other tests check other failures.
bool lists_everything(std::uint16_t port) {
  HttpClient client(port);
  const auto page = client.get("/events?limit=1");
  return page && page->status == 200 && page->body.find("\"partial\":true") == std::string::npos;
}

}  // namespace

RemoteDatabase::RemoteDatabase() : proxy(static_cast<std::uint16_t>(cluster.port())) {}

std::string RemoteDatabase::query_text(const std::string& sql) const {
  const auto connection = postgres::PgConnection::open(cluster.url("postgres"));
  if (!connection) return "";
  const auto rows = (*connection)->run_one(sql);
  return rows && !rows->empty() ? std::string(rows->text(0, 0)) : "";
}

void RemoteDatabase::end_connections() const {
  static const std::string sql =
      "SELECT count(pg_terminate_backend(pid))::text FROM pg_stat_activity "
      "WHERE application_name LIKE 'eventq%' AND pid <> pg_backend_pid()";
  EXPECT_NE(query_text(sql), "0");
}

void RemoteDatabase::kill_backend() const {
  static const std::string sql =
      "SELECT pid::text FROM pg_stat_activity "
      "WHERE application_name LIKE 'eventq%' AND pid <> pg_backend_pid() LIMIT 1";
  const auto pid = parse_whole<pid_t>(query_text(sql));
  if (pid) ::kill(*pid, SIGKILL);
}

std::string RemoteDatabase::url() const {
  return "postgres://postgres@127.0.0.1:" + std::to_string(proxy.port()) + "/postgres";
}

std::vector<std::string> Deployment::arguments_for(const std::vector<std::string>& urls) {
  std::vector<std::string> arguments{
      "--lease", "500ms", "--retry-delay", "100ms", "--max-retries", "3", "--max-attempts", "5", "--migrate"};
  for (const std::string& url : urls) arguments.insert(arguments.end(), {"--store", url});
  return arguments;
}

Deployment::Deployment(const std::vector<std::string>& urls, std::size_t servers) {
  for (std::size_t i = 0; i < servers; ++i) {
    servers_.push_back(std::make_unique<ServerProcess>(arguments_for(urls)));
    EXPECT_TRUE(servers_.back()->start()) << servers_.back()->log();
  }
}

std::vector<std::uint16_t> Deployment::ports() const {
  std::vector<std::uint16_t> ports;
  for (const auto& server : servers_) ports.push_back(server->port());
  return ports;
}

std::string Deployment::logs() const {
  std::string logs;
  for (const auto& server : servers_) logs += server->log() + "\n";
  return logs;
}

void Deployment::wait_while_running(std::chrono::milliseconds time) {
  EXPECT_EQ(server(0).wait(time), std::nullopt) << server(0).log();
}

bool Deployment::reaches_all_shards_within(std::chrono::milliseconds limit) {
  const SteadyTime deadline = steady_now() + limit;
  for (const std::uint16_t port : ports()) {
    while (!lists_everything(port)) {
      if (steady_now() > deadline) return false;
      wait_while_running(20ms);  // the server reconnects without a signal to wait for
    }
  }
  return true;
}

std::string Deployment::finish_and_check(Load& load, History& history) {
  if (!reaches_all_shards_within(60s)) return "not every server reaches every shard\n" + logs();
  history = load.finish();
  const std::uint16_t port = server(0).port();
  if (!drain(port, history)) return "some events did not end\n" + logs();
  auto finals = read_everything(port);
  if (!finals) return "the events cannot be read\n" + logs();
  history.finals = *std::move(finals);
  const std::vector<Finding> findings = check(history, kSettings);
  std::cout << summary_of(history, findings) << std::endl;
  return describe(findings);
}

}  // namespace eventq
